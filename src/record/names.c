/*
 * names: what strings, functions, frames and stacks are called by everything that counts them:
 * small numbers.
 *
 * Four tables of one kind, each an array of rows and an index from content to row; the texts of
 * the strings stand in chunks that never move, so a text is good for as long as its generation.
 * Invariant: row 0 is all zero, a row never changes (threads' names and deaths do), and every id
 * inside a row is smaller than the count of its table. The sampler asks for a frame and a stack at
 * every frame of every tick, so those two are one probe each.
 */
#include "record/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/index.h"
#include "record/pages.h"

#define CHUNK_BYTES (64u << 10)

struct chunk {
	struct chunk *next;
	size_t used, capacity;
	char text[];
};

struct string {
	const char *text;
	uint32_t size;
};

struct table {
	void *rows;
	size_t count;    /* of rows, row 0 included */
	size_t capacity; /* of rows, in memory */
	struct index index;
};

struct names {
	struct table strings, functions, frames, stacks;
	struct chunk *chunks; /* the first is the one being filled */
	size_t text_bytes;
	struct pages threads;
	size_t thread_count; /* the highest id + 1 */
	size_t thread_rows;  /* alive, or died in this generation */
	uint64_t seed;
	uint32_t generation;
};

/* ---- tables */

static void table_clear(struct table *t)
{
	free(t->rows);
	index_clear(&t->index);
	*t = (struct table){ .count = 1 };
}

/* Append a copy of row (size bytes), at most max of them. */
static enum status table_add(struct table *t, const void *row, size_t size, size_t max,
			     uint32_t hash, uint32_t *id)
{
	enum status st = alloc_grow(&t->rows, &t->capacity, t->count + 1, max + 1, size);

	if (st == ST_OK)
		st = index_add(&t->index, hash, (uint32_t)t->count);
	if (st != ST_OK)
		return st;
	memcpy((char *)t->rows + t->count * size, row, size);
	*id = (uint32_t)t->count++;
	return ST_OK;
}

/* ---- strings */

/*
 * The longest beginning of at most NAMES_STRING_MAX bytes that does not end inside a UTF-8
 * character.
 */
static size_t cut_size(const char *s, size_t size)
{
	if (size <= NAMES_STRING_MAX)
		return size;
	size = NAMES_STRING_MAX;
	for (int i = 0; i < 3 && ((unsigned char)s[size] & 0xc0) == 0x80; i++)
		size--;
	return size;
}

static enum status keep_text(struct names *n, const char *s, size_t size, const char **text)
{
	struct chunk *chunk = n->chunks;

	if (!chunk || chunk->capacity - chunk->used < size + 1) {
		chunk = malloc(sizeof(*chunk) + CHUNK_BYTES);
		if (!chunk)
			return ST_NO_MEMORY;
		*chunk = (struct chunk){ .next = n->chunks, .capacity = CHUNK_BYTES };
		n->chunks = chunk;
		n->text_bytes += CHUNK_BYTES;
	}
	*text = memcpy(chunk->text + chunk->used, s, size);
	chunk->text[chunk->used + size] = '\0';
	chunk->used += size + 1;
	return ST_OK;
}

static enum status add_string(struct names *n, const char *s, size_t size, uint32_t hash,
			      string_id *id)
{
	struct string row = { .size = (uint32_t)size };
	enum status st;

	if (n->text_bytes > NAMES_STRING_BYTES_MAX || n->strings.count > NAMES_STRINGS_MAX)
		return ST_TOO_BIG;
	st = keep_text(n, s, size, &row.text);
	if (st != ST_OK)
		return st;
	return table_add(&n->strings, &row, sizeof(row), NAMES_STRINGS_MAX, hash, id);
}

enum status names_string(struct names *n, const char *s, size_t size, string_id *id)
{
	const struct string *rows = n->strings.rows;
	uint32_t hash, found;

	if (!size) {
		*id = 0;
		return ST_OK;
	}
	size = cut_size(s, size);
	hash = index_hash_bytes(s, size, n->seed);
	for (size_t at = index_start(&n->strings.index, hash);
	     (found = index_id(&n->strings.index, at)); at = index_next(&n->strings.index, at)) {
		if (index_is(&n->strings.index, at, hash) && rows[found].size == size &&
		    !memcmp(rows[found].text, s, size)) {
			*id = found;
			return ST_OK;
		}
	}
	return add_string(n, s, size, hash, id);
}

const char *names_text(const struct names *n, string_id id, size_t *size)
{
	const struct string *row = (const struct string *)n->strings.rows + id;
	bool known = id && id < n->strings.count;

	if (size)
		*size = known ? row->size : 0;
	return known ? row->text : "";
}

/* ---- functions, frames, stacks */

static uint32_t function_hash(const struct names *n, const struct name_function *f)
{
	uint64_t where = (uint64_t)f->interpreter << 32 ^ (uint32_t)f->line;

	return index_hash((uint64_t)f->name << 32 | f->file, where, n->seed);
}

static bool function_equal(const struct name_function *a, const struct name_function *b)
{
	return a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->interpreter == b->interpreter;
}

enum status names_function(struct names *n, const struct name_function *f, func_id *id)
{
	const struct name_function *rows = n->functions.rows;
	uint32_t hash = function_hash(n, f), found;

	for (size_t at = index_start(&n->functions.index, hash);
	     (found = index_id(&n->functions.index, at));
	     at = index_next(&n->functions.index, at)) {
		if (index_is(&n->functions.index, at, hash) && function_equal(&rows[found], f)) {
			*id = found;
			return ST_OK;
		}
	}
	return table_add(&n->functions, f, sizeof(*f), NAMES_FUNCTIONS_MAX, hash, id);
}

enum status names_frame(struct names *n, func_id function, int32_t line, frame_id *id)
{
	const struct name_frame *rows = n->frames.rows;
	uint32_t hash = index_hash(function, (uint32_t)line, n->seed), found;

	for (size_t at = index_start(&n->frames.index, hash);
	     (found = index_id(&n->frames.index, at)); at = index_next(&n->frames.index, at)) {
		if (index_is(&n->frames.index, at, hash) && rows[found].function == function &&
		    rows[found].line == line) {
			*id = found;
			return ST_OK;
		}
	}

	const struct name_frame row = { function, line };

	return table_add(&n->frames, &row, sizeof(row), NAMES_FRAMES_MAX, hash, id);
}

enum status names_stack(struct names *n, stack_id parent, frame_id frame, stack_id *id)
{
	const struct name_stack *rows = n->stacks.rows;
	uint32_t hash = index_hash(parent, frame, n->seed), found;

	for (size_t at = index_start(&n->stacks.index, hash);
	     (found = index_id(&n->stacks.index, at)); at = index_next(&n->stacks.index, at)) {
		if (index_is(&n->stacks.index, at, hash) && rows[found].parent == parent &&
		    rows[found].frame == frame) {
			*id = found;
			return ST_OK;
		}
	}

	const struct name_stack row = { parent, frame };

	return table_add(&n->stacks, &row, sizeof(row), NAMES_STACKS_MAX, hash, id);
}

static const struct name_function no_function;
static const struct name_frame no_frame;
static const struct name_stack no_stack;
static const struct name_thread no_thread;

const struct name_function *names_function_at(const struct names *n, func_id id)
{
	return id && id < n->functions.count ? (const struct name_function *)n->functions.rows + id
					     : &no_function;
}

const struct name_frame *names_frame_at(const struct names *n, frame_id id)
{
	return id && id < n->frames.count ? (const struct name_frame *)n->frames.rows + id
					  : &no_frame;
}

const struct name_stack *names_stack_at(const struct names *n, stack_id id)
{
	return id && id < n->stacks.count ? (const struct name_stack *)n->stacks.rows + id
					  : &no_stack;
}

/* ---- threads */

enum status names_thread(struct names *n, const struct name_thread *t, thread_id *id)
{
	struct name_thread *row;

	if (n->thread_rows >= NAMES_THREADS_MAX || n->thread_count >= UINT32_MAX)
		return ST_TOO_BIG;
	row = pages_make(&n->threads, (uint32_t)n->thread_count);
	if (!row)
		return ST_NO_MEMORY;
	*row = *t;
	*id = (thread_id)n->thread_count++;
	n->thread_rows++;
	return ST_OK;
}

/* A row that was given, or NULL. */
static struct name_thread *thread_row(const struct names *n, thread_id id)
{
	return id && id < n->thread_count ? pages_at(&n->threads, id) : NULL;
}

void names_thread_renamed(struct names *n, thread_id id, string_id name)
{
	struct name_thread *row = thread_row(n, id);

	if (row)
		row->name = name;
}

void names_thread_died(struct names *n, thread_id id, nanoseconds at)
{
	struct name_thread *row = thread_row(n, id);

	if (row)
		row->died = at;
}

const struct name_thread *names_thread_at(const struct names *n, thread_id id)
{
	const struct name_thread *row = thread_row(n, id);

	return row ? row : &no_thread;
}

/* ---- counts */

size_t names_string_count(const struct names *n)
{
	return n->strings.count - 1;
}

size_t names_function_count(const struct names *n)
{
	return n->functions.count - 1;
}

size_t names_frame_count(const struct names *n)
{
	return n->frames.count - 1;
}

size_t names_stack_count(const struct names *n)
{
	return n->stacks.count - 1;
}

size_t names_thread_count(const struct names *n)
{
	return n->thread_count - 1;
}

/* ---- generations */

static void free_chunks(struct chunk *chunk)
{
	while (chunk) {
		struct chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
}

/* Forget the rows of the dead; a page on which nobody lives is let go. */
static void bury_threads(struct names *n)
{
	n->thread_rows = 0;
	for (size_t page = 0; page < n->threads.count; page++) {
		struct name_thread *rows = n->threads.page[page];
		size_t alive = 0;

		for (size_t i = 0; rows && i < PAGE_ITEMS; i++) {
			if (rows[i].died || (!rows[i].tid && !rows[i].born))
				rows[i] = no_thread;
			else
				alive++;
		}
		if (!alive)
			pages_drop(&n->threads, page);
		n->thread_rows += alive;
	}
}

/* Take the names of the living over into the new strings; one that finds no room is lost. */
static void rename_threads(struct names *n, const struct string *old, size_t old_count)
{
	for (size_t page = 0; page < n->threads.count; page++) {
		struct name_thread *rows = n->threads.page[page];

		for (size_t i = 0; rows && i < PAGE_ITEMS; i++) {
			string_id name = rows[i].name;

			rows[i].name = 0;
			if (name && name < old_count &&
			    names_string(n, old[name].text, old[name].size, &rows[i].name) != ST_OK)
				rows[i].name = 0;
		}
	}
}

static bool nearly(size_t count, size_t max)
{
	return count >= max - max / 8;
}

void names_renew(struct names *n, bool *functions_kept)
{
	bool keep = !nearly(n->strings.count, NAMES_STRINGS_MAX) &&
		    !nearly(n->text_bytes, NAMES_STRING_BYTES_MAX) &&
		    !nearly(n->functions.count, NAMES_FUNCTIONS_MAX);

	bury_threads(n);
	table_clear(&n->stacks);
	table_clear(&n->frames);
	if (!keep) {
		struct chunk *chunks = n->chunks;
		struct table strings = n->strings;

		n->chunks = NULL;
		n->text_bytes = 0;
		n->strings = (struct table){ .count = 1 };
		table_clear(&n->functions);
		rename_threads(n, strings.rows, strings.count);
		table_clear(&strings);
		free_chunks(chunks);
	}
	n->generation++;
	if (functions_kept)
		*functions_kept = keep;
}

uint32_t names_generation(const struct names *n)
{
	return n->generation;
}

/* ---- open and close */

enum status names_open(struct names **names)
{
	struct names *n = alloc_zero(1, sizeof(*n));

	if (!n)
		return ST_NO_MEMORY;
	n->strings.count = n->functions.count = n->frames.count = n->stacks.count = 1;
	n->thread_count = 1;
	n->threads.item = sizeof(struct name_thread);
	n->seed = index_seed();
	*names = n;
	return ST_OK;
}

void names_close(struct names *n)
{
	if (!n)
		return;
	table_clear(&n->strings);
	table_clear(&n->functions);
	table_clear(&n->frames);
	table_clear(&n->stacks);
	free_chunks(n->chunks);
	pages_free(&n->threads);
	free(n);
}
