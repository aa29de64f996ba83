/*
 * collapsed: the call tree, one line for each node that has time of its own.
 *
 * The labels of the frames on the way to the current node stand in one buffer, cut back and
 * extended as the tree is walked (depth first, by the links, without recursion), so a line costs
 * the depth only once.
 *
 * Called through the table of formats.
 */
#include "export/collapsed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/text.h"
#include "export/sink.h"
#include "profile/tree.h"

#define LINE_MAX_BYTES (16u << 20)
#define LABEL_MAX 4096
#define SHARE_OF_TREE 0.9 /* of the progress */

struct walk {
	const struct tree *tree;
	struct export_sink *sink;
	struct buffer line; /* of the frames so far, each with ';' before it */
	size_t *starts;     /* where the label of each depth begins */
	size_t depth, capacity;
	enum kind kind;
	double unit_s;
	uint64_t lines;
};

static void add_text(struct buffer *b, const char *text, size_t size)
{
	char safe[LABEL_MAX];

	text_escape(safe, sizeof(safe), text, size, false);
	for (char *at = safe; *at; at++)
		if (*at == ';')
			*at = ',';
	buffer_add(b, safe, strlen(safe));
}

static void add_number(struct buffer *b, const char *before, int64_t n, const char *after)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%lld%s", before, (long long)n, after);
	buffer_add(b, text, strlen(text));
}

static void add_thread(struct walk *w, thread_id id)
{
	const struct name_thread *thread = names_thread_at(w->tree->names, id);
	size_t size;
	const char *name = names_text(w->tree->names, thread->name, &size);

	if (size)
		add_text(&w->line, name, size);
	else
		add_text(&w->line, "thread", 6);
	add_number(&w->line, " (", thread->tid, "");
	if (thread->interpreter)
		add_number(&w->line, "/interp", thread->interpreter, "");
	buffer_add(&w->line, ")", 1);
}

static void add_function(struct walk *w, func_id id)
{
	const struct name_function *function = names_function_at(w->tree->names, id);
	size_t name_size, file_size;
	const char *name = names_text(w->tree->names, function->name, &name_size);
	const char *file = names_text(w->tree->names, function->file, &file_size);
	const char *slash = memrchr(file, '/', file_size);

	add_text(&w->line, name, name_size);
	if (!file_size)
		return;
	if (slash && slash[1]) {
		file_size -= (size_t)(slash + 1 - file);
		file = slash + 1;
	}
	buffer_add(&w->line, " (", 2);
	add_text(&w->line, file, file_size);
	add_number(&w->line, ":", function->line, ")");
}

static enum status enter(struct walk *w, const struct tree_node *node)
{
	void *starts = w->starts;
	enum status status =
		alloc_grow(&starts, &w->capacity, w->depth + 1, TREE_NODES_MAX, sizeof(*w->starts));

	w->starts = starts;
	if (status != ST_OK)
		return status;
	w->starts[w->depth++] = w->line.size;
	if (w->line.size)
		buffer_add(&w->line, ";", 1);
	if (node->thread)
		add_thread(w, node->thread);
	else
		add_function(w, node->function);
	return w->line.failed ? ST_NO_MEMORY : ST_OK;
}

static enum status tell(struct walk *w, const struct tree_node *node)
{
	double count = round(node->self_s[w->kind] / w->unit_s);
	char text[64];
	enum status status;

	if (count < 1 || !w->line.size)
		return ST_OK;
	snprintf(text, sizeof(text), " %.0f\n", count);
	status = sink_write(w->sink, w->line.data, w->line.size);
	if (status == ST_OK)
		status = sink_write(w->sink, text, strlen(text));
	w->lines++;
	return status;
}

/* Every node below the root, a parent before its children. */
static enum status walk(struct walk *w)
{
	const struct tree_node *nodes = w->tree->nodes;
	uint32_t at = nodes[0].first_child;
	enum status status = ST_OK;

	while (at && status == ST_OK) {
		status = enter(w, &nodes[at]);
		if (status == ST_OK)
			status = tell(w, &nodes[at]);
		if (nodes[at].first_child) {
			at = nodes[at].first_child;
			continue;
		}
		while (at && !nodes[at].next_sibling) {
			at = nodes[at].parent;
			if (at)
				w->line.size = w->starts[--w->depth];
		}
		if (at) {
			w->line.size = w->starts[--w->depth];
			at = nodes[at].next_sibling;
		}
	}
	return status;
}

/* The asked interval; flat out, the mean one. */
static double unit_seconds(const struct replay_info *info, const struct tree *tree)
{
	if (info->about.rate_hz > 0)
		return 1 / info->about.rate_hz;
	return tree->ticks && tree->seconds > 0 ? tree->seconds / (double)tree->ticks : 1e-3;
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

static enum status collapsed_write(struct export_sink *sink, struct replay *replay,
				   const struct export_options *options,
				   struct export_result *result, export_progress progress,
				   void *context)
{
	struct shared_progress part = { progress, context };
	struct tree_options by = { .from = options->from,
				   .to = options->to,
				   .threads_apart = true };
	struct walk w = { .sink = sink, .kind = options->kind };
	struct tree tree;
	enum status status = tree_build(&tree, replay, &by, tree_part, &part);

	if (status != ST_OK)
		return status;
	w.tree = &tree;
	w.unit_s = unit_seconds(replay_info(replay), &tree);
	buffer_init(&w.line, LINE_MAX_BYTES);
	status = walk(&w);
	result->samples = tree.samples;
	result->rows = w.lines;
	result->from = options->from ? options->from : replay_info(replay)->first;
	result->to = options->to ? options->to : replay_info(replay)->last;
	buffer_free(&w.line);
	free(w.starts);
	tree_free(&tree);
	return status;
}

const struct export_format collapsed_format = {
	.name = "collapsed",
	.suffix = ".txt",
	.suffixes = ".txt .folded .collapsed .txt.gz .folded.gz",
	.opens_in = "open it with flamegraph.pl or at speedscope.app",
	.write = collapsed_write,
};
