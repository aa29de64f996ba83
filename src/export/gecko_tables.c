/*
 * gecko_tables: what threads point to: strings, functions, frames, stacks.
 *
 * They are interned in names of their own, so an id is a row of the file: row = id - 1 (strings:
 * row = id, since the empty string is 0). Stacks come out with parents first because they were
 * made so. State leaves are frames of functions without a file, known by their id.
 *
 * Called by gecko_rows.c (stacks) and gecko.c (writing).
 */
#include "export/gecko_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Flags of frames and functions, version 75: a value whose bit is clear is 0. */
#define FRAME_HAS_CATEGORY 4
#define FRAME_HAS_LINE 16
#define FUNC_IS_PYTHON 1
#define FUNC_HAS_RESOURCE 4
#define FUNC_HAS_SOURCE 8
#define FUNC_HAS_LINE 16

#define RESOURCE_LIBRARY 1
#define NONE UINT32_MAX

static enum status add_string(struct gecko_tables *t, const char *text, string_id *id)
{
	return names_string(t->names, text, strlen(text), id);
}

static enum status add_leaf(struct gecko_tables *t, const char *name, frame_id *frame)
{
	struct name_function function = { 0 };
	func_id id;
	enum status status = add_string(t, name, &function.name);

	if (status == ST_OK)
		status = names_function(t->names, &function, &id);
	if (status == ST_OK)
		status = names_frame(t->names, id, 0, frame);
	return status;
}

static enum status add_leaves(struct gecko_tables *t)
{
	enum status status = add_leaf(t, gecko_leaf_gc().name, &t->gc_leaf);

	for (int i = 0; status == ST_OK && i < STATE_COUNT; i++) {
		struct gecko_leaf leaf = gecko_leaf_of((enum thread_state)i, t->free_threaded);

		if (leaf.name)
			status = add_leaf(t, leaf.name, &t->leaves[i]);
	}
	for (int i = 0; status == ST_OK && i < GECKO_MARK_COUNT; i++)
		status = add_string(t, gecko_marker_look((enum gecko_marker)i)->name,
				    &t->marker_names[i]);
	if (status == ST_OK)
		status = add_string(t, NAMES_GC, &t->gc_name);
	return status;
}

enum status gecko_tables_open(struct gecko_tables *t, const struct names *from, bool free_threaded)
{
	enum status status;

	*t = (struct gecko_tables){ .from = from, .free_threaded = free_threaded };
	status = names_open(&t->names);
	if (status == ST_OK)
		status = carry_open(&t->carry, from, t->names);
	if (status == ST_OK)
		status = add_leaves(t);
	if (status != ST_OK)
		gecko_tables_close(t);
	return status;
}

void gecko_tables_close(struct gecko_tables *t)
{
	carry_close(t->carry);
	if (t->names)
		names_close(t->names);
	t->carry = NULL;
	t->names = NULL;
}

static string_id leaf_name(const struct gecko_tables *t, stack_id stack)
{
	const struct name_stack *row = names_stack_at(t->names, stack);
	func_id function = names_frame_at(t->names, row->frame)->function;

	return names_function_at(t->names, function)->name;
}

enum status gecko_tables_stack(struct gecko_tables *t, const struct sample *s, stack_id *stack)
{
	frame_id leaf = s->state < STATE_COUNT ? t->leaves[s->state] : t->leaves[STATE_UNKNOWN];
	stack_id plain, with_leaf;
	enum status status = carry_stack(t->carry, s->stack, &plain);

	if (status != ST_OK)
		return status;
	if (s->flags & SAMPLE_GC && (s->state == STATE_GIL || s->state == STATE_RUNNING))
		leaf = leaf_name(t, plain) == t->gc_name ? 0 : t->gc_leaf;
	if (!leaf) {
		*stack = plain;
		return ST_OK;
	}
	status = names_stack(t->names, plain, leaf, &with_leaf);
	if (status == ST_OK)
		*stack = with_leaf;
	else if (status == ST_TOO_BIG)
		*stack = plain;
	return status == ST_TOO_BIG ? ST_OK : status;
}

/* ---- writing */

static void open_table(struct json *j, const char *key)
{
	json_key(j, key);
	json_object(j);
}

static void close_table(struct json *j, size_t length)
{
	json_key(j, "length");
	json_uint(j, length);
	json_object_end(j);
}

static void zeros(struct json *j, const char *key, size_t n)
{
	json_key(j, key);
	json_array(j);
	while (n--)
		json_uint(j, 0);
	json_array_end(j);
}

static void nulls(struct json *j, const char *key, size_t n)
{
	json_key(j, key);
	json_array(j);
	while (n--)
		json_null(j);
	json_array_end(j);
}

/* value(t, id) of each id 1 .. n */
static void column(struct json *j, const char *key, const struct gecko_tables *t, size_t n,
		   uint64_t (*value)(const struct gecko_tables *t, uint32_t id))
{
	json_key(j, key);
	json_array(j);
	for (uint32_t id = 1; id <= n; id++)
		json_uint(j, value(t, id));
	json_array_end(j);
}

static uint64_t stack_frame(const struct gecko_tables *t, uint32_t id)
{
	return names_stack_at(t->names, id)->frame - 1;
}

static uint64_t stack_prefix(const struct gecko_tables *t, uint32_t id)
{
	stack_id parent = names_stack_at(t->names, id)->parent;

	return parent ? id - parent : 0;
}

static void write_stacks(struct gecko_tables *t, struct json *j)
{
	size_t n = names_stack_count(t->names);

	open_table(j, "stackTable");
	column(j, "frame", t, n, stack_frame);
	column(j, "prefixOffset", t, n, stack_prefix);
	close_table(j, n);
}

/* Functions that are not Python's, by name; the leaves of states are asked first. */
static struct gecko_leaf label_of(const struct gecko_tables *t,
				  const struct name_function *function)
{
	const char *name = names_text(t->names, function->name, NULL);

	for (int i = 0; i < STATE_COUNT; i++) {
		struct gecko_leaf leaf = gecko_leaf_of((enum thread_state)i, t->free_threaded);

		if (leaf.name && !strcmp(name, leaf.name))
			return leaf;
	}
	if (!strcmp(name, NAMES_GC) || !strcmp(name, gecko_leaf_gc().name))
		return gecko_leaf_gc();
	if (!strcmp(name, NAMES_NATIVE))
		return (struct gecko_leaf){ NULL, GECKO_NATIVE, 0 };
	if (!strcmp(name, NAMES_NO_PYTHON))
		return (struct gecko_leaf){ NULL, GECKO_OTHER, 0 };
	return (struct gecko_leaf){ NULL, GECKO_PYTOP, 0 };
}

static struct gecko_leaf category_of(const struct gecko_tables *t, uint32_t frame)
{
	func_id id = names_frame_at(t->names, frame)->function;
	const struct name_function *function = names_function_at(t->names, id);

	if (function->file)
		return gecko_leaf_of(STATE_GIL, t->free_threaded);
	return label_of(t, function);
}

static uint64_t frame_category(const struct gecko_tables *t, uint32_t id)
{
	return category_of(t, id).category;
}

static uint64_t frame_subcategory(const struct gecko_tables *t, uint32_t id)
{
	return category_of(t, id).subcategory;
}

static uint64_t frame_func(const struct gecko_tables *t, uint32_t id)
{
	return names_frame_at(t->names, id)->function - 1;
}

static uint64_t frame_line(const struct gecko_tables *t, uint32_t id)
{
	int32_t line = names_frame_at(t->names, id)->line;

	return line > 0 ? (uint64_t)line : 0;
}

static uint64_t frame_flags(const struct gecko_tables *t, uint32_t id)
{
	return FRAME_HAS_CATEGORY | (frame_line(t, id) ? FRAME_HAS_LINE : 0);
}

static void write_frames(struct gecko_tables *t, struct json *j)
{
	size_t n = names_frame_count(t->names);

	open_table(j, "frameTable");
	column(j, "flags", t, n, frame_flags);
	zeros(j, "address", n);
	column(j, "category", t, n, frame_category);
	column(j, "subcategory", t, n, frame_subcategory);
	column(j, "func", t, n, frame_func);
	zeros(j, "lib", n);
	zeros(j, "nativeSymbol", n);
	zeros(j, "innerWindowID", n);
	column(j, "line", t, n, frame_line);
	zeros(j, "column", n);
	zeros(j, "originalLocation", n);
	close_table(j, n);
}

static uint64_t func_name(const struct gecko_tables *t, uint32_t id)
{
	return names_function_at(t->names, id)->name;
}

static uint64_t func_line(const struct gecko_tables *t, uint32_t id)
{
	int32_t line = names_function_at(t->names, id)->line;

	return line > 0 ? (uint64_t)line : 0;
}

static uint64_t func_flags(const struct gecko_tables *t, uint32_t id)
{
	if (!names_function_at(t->names, id)->file)
		return 0;
	return FUNC_IS_PYTHON | FUNC_HAS_RESOURCE | FUNC_HAS_SOURCE |
	       (func_line(t, id) ? FUNC_HAS_LINE : 0);
}

/*
 * A small table of distinct strings: files or resources; row: by string, NONE where it is not in
 * it.
 */
struct distinct {
	string_id *strings;
	uint32_t *rows, *of_function; /* by function id: its row, 0 for those that have none */
	size_t count;
};

static void free_distinct(struct distinct *d)
{
	free(d->strings);
	free(d->rows);
	free(d->of_function);
}

static enum status open_distinct(struct distinct *d, size_t functions, size_t strings)
{
	d->strings = alloc_zero(functions + 1, sizeof(*d->strings));
	d->of_function = alloc_zero(functions + 1, sizeof(*d->of_function));
	d->rows = alloc_zero(strings + 1, sizeof(*d->rows));
	if (!d->strings || !d->of_function || !d->rows)
		return ST_NO_MEMORY;
	memset(d->rows, 0xff, (strings + 1) * sizeof(*d->rows));
	return ST_OK;
}

static void put_distinct(struct distinct *d, func_id function, string_id string)
{
	if (d->rows[string] == NONE) {
		d->rows[string] = (uint32_t)d->count;
		d->strings[d->count++] = string;
	}
	d->of_function[function] = d->rows[string];
}

/* The part of path after the last "/NAME/", up to the next '/'; false: path has no such folder. */
static bool folder_after(const char *path, const char *name, const char **start, size_t *size)
{
	const char *found = NULL;

	for (const char *at = path; (at = strstr(at, name)); at++)
		found = at;
	if (!found)
		return false;
	*start = found + strlen(name);
	*size = strcspn(*start, "/");
	return *size > 0;
}

/*
 * What a function belongs to: a package of site-packages, the standard library, or the
 * application.
 */
static void resource_name(const char *path, const char **name, size_t *size)
{
	const char *library = strstr(path, "/lib/python");

	if (folder_after(path, "/site-packages/", name, size) ||
	    folder_after(path, "/dist-packages/", name, size)) {
		if (*size > 3 && !memcmp(*name + *size - 3, ".py", 3))
			*size -= 3;
		return;
	}
	*name = library || strstr(path, "/lib64/python") || !strncmp(path, "<frozen", 7) ? "stdlib"
											 : "app";
	*size = strlen(*name);
}

static enum status intern_resources(struct gecko_tables *t, string_id *resources, size_t n)
{
	for (func_id id = 1; id <= n; id++) {
		const struct name_function *function = names_function_at(t->names, id);
		const char *path = names_text(t->names, function->file, NULL), *name;
		size_t size;
		enum status status;

		if (!function->file)
			continue;
		resource_name(path, &name, &size);
		status = names_string(t->names, name, size, &resources[id]);
		if (status == ST_TOO_BIG)
			resources[id] = function->file;
		else if (status != ST_OK)
			return status;
	}
	return ST_OK;
}

static void row_column(struct json *j, const char *key, const uint32_t *rows, size_t n)
{
	json_key(j, key);
	json_array(j);
	for (size_t i = 1; i <= n; i++)
		json_uint(j, rows[i]);
	json_array_end(j);
}

static void write_functions(struct gecko_tables *t, struct json *j, const struct distinct *sources,
			    const struct distinct *resources)
{
	size_t n = names_function_count(t->names);

	open_table(j, "funcTable");
	column(j, "flags", t, n, func_flags);
	column(j, "name", t, n, func_name);
	row_column(j, "resource", resources->of_function, n);
	row_column(j, "source", sources->of_function, n);
	column(j, "lineNumber", t, n, func_line);
	zeros(j, "columnNumber", n);
	zeros(j, "originalLocation", n);
	close_table(j, n);
}

static void distinct_column(struct json *j, const char *key, const struct distinct *d)
{
	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < d->count; i++)
		json_uint(j, d->strings[i]);
	json_array_end(j);
}

static void constant(struct json *j, const char *key, size_t n, uint64_t value)
{
	json_key(j, key);
	json_array(j);
	while (n--)
		json_uint(j, value);
	json_array_end(j);
}

static void write_small(struct json *j, const struct distinct *sources,
			const struct distinct *resources)
{
	open_table(j, "resourceTable");
	distinct_column(j, "name", resources);
	nulls(j, "host", resources->count);
	constant(j, "type", resources->count, RESOURCE_LIBRARY);
	close_table(j, resources->count);
	open_table(j, "nativeSymbols");
	zeros(j, "libIndex", 0);
	zeros(j, "address", 0);
	zeros(j, "name", 0);
	zeros(j, "functionSize", 0);
	close_table(j, 0);
	open_table(j, "sources");
	nulls(j, "id", sources->count);
	distinct_column(j, "filename", sources);
	constant(j, "startLine", sources->count, 1);
	constant(j, "startColumn", sources->count, 1);
	nulls(j, "sourceMapURL", sources->count);
	nulls(j, "content", sources->count);
	close_table(j, sources->count);
	open_table(j, "sourceLocationTable");
	zeros(j, "source", 0);
	zeros(j, "line", 0);
	zeros(j, "column", 0);
	close_table(j, 0);
}

static void write_strings(struct gecko_tables *t, struct json *j)
{
	size_t n = names_string_count(t->names);

	json_key(j, "stringArray");
	json_array(j);
	for (string_id id = 0; id <= n; id++) {
		size_t size;
		const char *text = names_text(t->names, id, &size);

		json_string_n(j, text, size);
	}
	json_array_end(j);
}

enum status gecko_tables_write(struct gecko_tables *t, struct json *j)
{
	size_t n = names_function_count(t->names);
	struct distinct sources = { 0 }, resources = { 0 };
	string_id *resource = alloc_zero(n + 1, sizeof(*resource));
	enum status status = resource ? intern_resources(t, resource, n) : ST_NO_MEMORY;

	if (status == ST_OK)
		status = open_distinct(&sources, n, names_string_count(t->names));
	if (status == ST_OK)
		status = open_distinct(&resources, n, names_string_count(t->names));
	for (func_id id = 1; status == ST_OK && id <= n; id++) {
		const struct name_function *function = names_function_at(t->names, id);

		if (!function->file)
			continue;
		put_distinct(&sources, id, function->file);
		put_distinct(&resources, id, resource[id]);
	}
	if (status == ST_OK) {
		json_object(j);
		write_stacks(t, j);
		write_frames(t, j);
		write_functions(t, j, &sources, &resources);
		write_small(j, &sources, &resources);
		write_strings(t, j);
		json_object_end(j);
	}
	free(resource);
	free_distinct(&sources);
	free_distinct(&resources);
	return status;
}
