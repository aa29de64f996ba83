/*
 * flamegraph: the call tree as data in the page that draws it.
 *
 * The page (flamegraph.html, .css, .js) is part of the program; here its lines are copied out and
 * the data put in their place. Data is columns: labels (what a node can be: a function, a state,
 * a thread), and nodes by label and distance to their parent, with microseconds of each kind that
 * are theirs alone; the page adds up. The JSON writer sees to it that no name can end the
 * <script> it stands in.
 *
 * Called through the table of formats.
 */
#include "export/flamegraph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "export/flamegraph_page.h"
#include "export/sink.h"
#include "profile/tree.h"

#define NODES_MAX 200000  /* what a page can still draw at ease */
#define SHARE_OF_TREE 0.9 /* of the progress */

enum label_type { LABEL_PYTHON, LABEL_SPECIAL, LABEL_STATE, LABEL_THREAD };

/* Labels by index: functions (id - 1), states, threads. */
struct page {
	const struct tree *tree;
	const struct replay_info *info;
	const struct export_options *options;
	size_t functions, threads;
	uint32_t *files; /* by string id: its row, 0: none */
};

static const char *const state_labels[STATE_COUNT] = {
	[STATE_UNKNOWN] = "(unknown)",
	[STATE_GIL] = "(has the GIL)",
	[STATE_RUNNING] = "(native code)",
	[STATE_GIL_WAIT] = "(waiting for the GIL)",
	[STATE_SUSPENDED] = "(suspended)",
	[STATE_LOCK] = "(lock)",
	[STATE_SLEEP] = "(sleep)",
	[STATE_POLL] = "(poll)",
	[STATE_IO] = "(I/O)",
	[STATE_DISK] = "(disk)",
	[STATE_STOPPED] = "(stopped)",
};

static const struct name_function *function_of(const struct page *p, size_t index)
{
	return names_function_at(p->tree->names, (func_id)(index + 1));
}

static void name_string(const struct page *p, struct json *j, string_id id)
{
	size_t size;
	const char *text = names_text(p->tree->names, id, &size);

	json_string_n(j, text, size);
}

static void thread_string(const struct page *p, struct json *j, thread_id id)
{
	const struct name_thread *thread = names_thread_at(p->tree->names, id);
	const char *name = names_text(p->tree->names, thread->name, NULL);
	char text[512];

	if (thread->interpreter)
		snprintf(text, sizeof(text), "%.400s (%ld/interp%lld)", *name ? name : "thread",
			 (long)thread->tid, (long long)thread->interpreter);
	else
		snprintf(text, sizeof(text), "%.400s (%ld)", *name ? name : "thread",
			 (long)thread->tid);
	json_string(j, text);
}

static void write_names(const struct page *p, struct json *j)
{
	json_key(j, "name");
	json_array(j);
	for (size_t i = 0; i < p->functions; i++)
		name_string(p, j, function_of(p, i)->name);
	for (int i = 0; i < STATE_COUNT; i++) {
		bool no_gil = i == STATE_RUNNING && p->info->about.free_threaded;

		json_string(j, no_gil ? "(running)" : state_labels[i]);
	}
	for (thread_id id = 1; id <= p->threads; id++)
		thread_string(p, j, id);
	json_array_end(j);
}

static size_t label_count(const struct page *p)
{
	return p->functions + STATE_COUNT + p->threads;
}

static uint64_t type_of(const struct page *p, size_t index)
{
	if (index < p->functions)
		return function_of(p, index)->file ? LABEL_PYTHON : LABEL_SPECIAL;
	return index < p->functions + STATE_COUNT ? LABEL_STATE : LABEL_THREAD;
}

static uint64_t file_of(const struct page *p, size_t index)
{
	return index < p->functions ? p->files[function_of(p, index)->file] : 0;
}

static uint64_t line_of(const struct page *p, size_t index)
{
	int32_t line = index < p->functions ? function_of(p, index)->line : 0;

	return line > 0 ? (uint64_t)line : 0;
}

static void label_column(const struct page *p, struct json *j, const char *key,
			 uint64_t (*value)(const struct page *p, size_t index))
{
	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < label_count(p); i++)
		json_uint(j, value(p, i));
	json_array_end(j);
}

/* The distinct files, the empty one first; fills p->files. */
static void write_files(struct page *p, struct json *j)
{
	uint32_t count = 1;

	json_key(j, "files");
	json_array(j);
	json_string(j, "");
	for (size_t i = 0; i < p->functions; i++) {
		string_id file = function_of(p, i)->file;

		if (!file || p->files[file])
			continue;
		p->files[file] = count++;
		name_string(p, j, file);
	}
	json_array_end(j);
}

static uint64_t node_label(const struct page *p, const struct tree_node *node)
{
	if (node->function)
		return node->function - 1;
	if (node->state)
		return p->functions + node->state - 1u;
	return node->thread ? p->functions + STATE_COUNT + node->thread - 1 : 0;
}

static void write_nodes(const struct page *p, struct json *j)
{
	const struct tree_node *nodes = p->tree->nodes;

	json_key(j, "nodes");
	json_object(j);
	json_key(j, "parent");
	json_array(j);
	for (size_t i = 0; i < p->tree->count; i++)
		json_uint(j, i - nodes[i].parent);
	json_array_end(j);
	json_key(j, "label");
	json_array(j);
	for (size_t i = 0; i < p->tree->count; i++)
		json_uint(j, node_label(p, &nodes[i]));
	json_array_end(j);
	for (int k = 0; k < KIND_COUNT; k++) {
		json_key(j, kind_name((enum kind)k));
		json_array(j);
		for (size_t i = 0; i < p->tree->count; i++)
			json_double(j, nodes[i].self_s[k] * 1e6, 0);
		json_array_end(j);
	}
	json_object_end(j);
}

static void write_facts(const struct page *p, struct json *j)
{
	const struct spool_about *about = &p->info->about;
	nanoseconds from = p->options->from > p->info->first ? p->options->from : p->info->first;

	json_key(j, "product");
	json_string(j, about->name && *about->name ? about->name : "python");
	if (p->options->with_arguments) {
		json_key(j, "command");
		json_string(j, about->command ? about->command : "");
	}
	json_key(j, "python");
	json_string(j, about->version);
	json_key(j, "pytop");
	json_string(j, PACKAGE_VERSION);
	json_key(j, "pid");
	json_int(j, about->pid);
	json_key(j, "start_ms");
	json_double(j, (double)((about->wall + from - about->monotonic) / 1000000), 0);
	json_key(j, "seconds");
	json_double(j, p->tree->seconds, 6);
	json_key(j, "samples");
	json_uint(j, p->tree->samples);
	json_key(j, "rate_hz");
	json_double(j, about->rate_hz, 6);
	json_key(j, "kind");
	json_string(j, kind_name(p->options->kind));
	json_key(j, "kinds");
	json_array(j);
	for (int k = 0; k < KIND_COUNT; k++)
		json_string(j, kind_name((enum kind)k));
	json_array_end(j);
}

static enum status write_data(struct page *p, struct export_sink *sink)
{
	struct json j;

	p->functions = names_function_count(p->tree->names);
	p->threads = names_thread_count(p->tree->names);
	p->files = alloc_zero(names_string_count(p->tree->names) + 1, sizeof(*p->files));
	if (!p->files)
		return ST_NO_MEMORY;
	json_open(&j, sink_json, sink);
	json_object(&j);
	write_facts(p, &j);
	write_files(p, &j);
	json_key(&j, "labels");
	json_object(&j);
	write_names(p, &j);
	label_column(p, &j, "type", type_of);
	label_column(p, &j, "file", file_of);
	label_column(p, &j, "line", line_of);
	json_object_end(&j);
	write_nodes(p, &j);
	json_object_end(&j);
	free(p->files);
	return json_close(&j);
}

/* What stands for a line of the page that is only a name between '@'. */
static enum status write_part(struct page *p, struct export_sink *sink, const char *line,
			      size_t size)
{
	if (size == 5 && !memcmp(line, "@css@", size))
		return sink_write(sink, flamegraph_css, strlen(flamegraph_css));
	if (size == 4 && !memcmp(line, "@js@", size))
		return sink_write(sink, flamegraph_js, strlen(flamegraph_js));
	if (size == 6 && !memcmp(line, "@data@", size))
		return write_data(p, sink);
	return sink_write(sink, line, size);
}

static enum status write_page(struct page *p, struct export_sink *sink)
{
	enum status status = ST_OK;

	for (const char *at = flamegraph_html; *at && status == ST_OK;) {
		size_t size = strcspn(at, "\n");

		status = write_part(p, sink, at, size);
		at += size;
		if (*at && status == ST_OK)
			status = sink_write(sink, at++, 1);
	}
	return status;
}

struct shared_progress {
	export_progress progress;
	void *context;
};

static bool tree_part(void *context, double done)
{
	struct shared_progress *p = context;

	return !p->progress || p->progress(p->context, done * SHARE_OF_TREE);
}

static enum status flamegraph_write(struct export_sink *sink, struct replay *replay,
				    const struct export_options *options,
				    struct export_result *result, export_progress progress,
				    void *context)
{
	struct shared_progress part = { progress, context };
	struct tree_options by = {
		.from = options->from,
		.to = options->to,
		.threads_apart = true,
		.states = true,
		.nodes_max = NODES_MAX,
	};
	struct tree tree;
	struct page page = { .info = replay_info(replay), .options = options };
	enum status status = tree_build(&tree, replay, &by, tree_part, &part);

	if (status != ST_OK)
		return status;
	page.tree = &tree;
	status = write_page(&page, sink);
	result->samples = tree.samples;
	result->rows = tree.count;
	result->from = options->from ? options->from : page.info->first;
	result->to = options->to ? options->to : page.info->last;
	tree_free(&tree);
	return status;
}

const struct export_format flamegraph_format = {
	.name = "flamegraph",
	.suffix = ".html",
	.suffixes = ".html .htm .html.gz",
	.opens_in = "open it in a browser",
	.write = flamegraph_write,
};
