/*
 * tree: the call tree of a range of a replay, added up in one pass.
 *
 * A thread-sample is added to the node of its path. Which node that is for (thread, stack, state)
 * is remembered, so a path is walked once; what is remembered is dropped when the replay's ids
 * begin anew, when nodes were pruned, and when it has grown too long. Nothing recurses, however
 * deep the stacks.
 *
 * Called by the flame graph and by collapsed stacks.
 */
#include "profile/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/carry.h"
#include "profile/tree_nodes.h"

#define PLACES_MAX 262144
#define PROGRESS_SAMPLES 16384 /* between two calls of progress */
#define NODES_MIN 16

/* Where thread-samples like this one are added. */
struct place {
	thread_id thread;
	stack_id stack;
	uint32_t node;
	uint8_t state;
};

struct builder {
	struct tree_nodes nodes;
	struct tree_options options;
	const struct names *from;
	struct names *to;
	struct carry *carry;
	struct place *places;
	size_t place_count, place_capacity;
	struct index place_index;
	frame_id *path;
	size_t path_capacity;
	double seconds;
	uint64_t samples, ticks;
};

static void forget_places(struct builder *b)
{
	index_clear(&b->place_index);
	b->place_count = 1;
}

static enum status open_builder(struct builder *b, struct replay *replay,
				const struct tree_options *options)
{
	size_t max = options->nodes_max ? options->nodes_max : TREE_NODES_MAX;
	enum status status = names_open(&b->to);

	b->options = *options;
	b->from = replay_names(replay);
	if (max < NODES_MIN || max > TREE_NODES_MAX)
		return ST_TOO_BIG;
	if (status == ST_OK)
		status = carry_open(&b->carry, b->from, b->to);
	if (status == ST_OK)
		status = tree_nodes_open(&b->nodes, max, carry_forgotten(b->carry));
	forget_places(b);
	return status;
}

static void close_builder(struct builder *b)
{
	tree_nodes_close(&b->nodes);
	carry_close(b->carry);
	index_clear(&b->place_index);
	free(b->places);
	free(b->path);
	if (b->to)
		names_close(b->to);
}

/* The frames of a stack, leaf first. A parent's id is smaller, so this ends. */
static enum status read_path(struct builder *b, stack_id stack, size_t *depth)
{
	size_t n = 0;

	while (stack) {
		const struct name_stack *row = names_stack_at(b->from, stack);
		void *path = b->path;
		enum status status = alloc_grow(&path, &b->path_capacity, n + 1, NAMES_STACKS_MAX,
						sizeof(*b->path));

		if (status != ST_OK)
			return status;
		b->path = path;
		b->path[n++] = row->frame;
		stack = row->parent < stack ? row->parent : 0;
	}
	*depth = n;
	return ST_OK;
}

static enum status child(struct builder *b, struct tree_node want, uint32_t *node)
{
	want.parent = *node;
	return tree_nodes_child(&b->nodes, &want, node);
}

/* Whether the state stands as a leaf of its own. */
static bool has_leaf(const struct builder *b, const struct sample *s)
{
	return b->options.states && s->state != STATE_GIL && s->state != STATE_UNKNOWN &&
	       s->state < STATE_COUNT;
}

static enum status descend(struct builder *b, const struct sample *s, size_t depth, uint32_t *node)
{
	enum status status = ST_OK;

	*node = 0;
	if (b->options.threads_apart) {
		struct tree_node want = { 0 };

		status = carry_thread(b->carry, s->thread, &want.thread);
		if (status == ST_OK)
			status = child(b, want, node);
	}
	while (status == ST_OK && depth) {
		const struct name_frame *frame = names_frame_at(b->from, b->path[--depth]);
		struct tree_node want = { .line = b->options.by_line ? frame->line : 0 };

		status = carry_function(b->carry, frame->function, &want.function);
		if (status == ST_OK)
			status = child(b, want, node);
	}
	if (status == ST_OK && has_leaf(b, s))
		status = child(b, (struct tree_node){ .state = (uint8_t)(s->state + 1) }, node);
	return status;
}

/* The node of a thread-sample by its path. */
static enum status find_node(struct builder *b, const struct sample *s, uint32_t *node)
{
	size_t depth = 0;
	enum status status = read_path(b, s->stack, &depth);

	if (status == ST_OK)
		status = descend(b, s, depth, node);
	if (status != ST_TOO_BIG)
		return status;
	forget_places(b);
	status = tree_nodes_prune(&b->nodes);
	if (status == ST_OK)
		status = descend(b, s, depth, node);
	if (status == ST_TOO_BIG) { /* a path longer than the whole tree may be */
		*node = 0;
		status = ST_OK;
	}
	return status;
}

static enum status add_place(struct builder *b, struct place place, uint32_t hash)
{
	void *places = b->places;
	enum status status = alloc_grow(&places, &b->place_capacity, b->place_count + 1,
					PLACES_MAX + 1, sizeof(*b->places));

	b->places = places;
	if (status != ST_OK)
		return status;
	b->places[b->place_count] = place;
	return index_add(&b->place_index, hash, (uint32_t)b->place_count++);
}

static enum status place_of(struct builder *b, const struct sample *s, uint32_t *node)
{
	struct place want = {
		.thread = b->options.threads_apart ? s->thread : 0,
		.stack = s->stack,
		.state = has_leaf(b, s) ? s->state : STATE_UNKNOWN,
	};
	uint32_t hash =
		index_hash((uint64_t)want.thread << 32 | want.stack, want.state, b->nodes.seed);
	enum status status;
	uint32_t id;

	for (size_t at = index_start(&b->place_index, hash); (id = index_id(&b->place_index, at));
	     at = index_next(&b->place_index, at)) {
		const struct place *p = &b->places[id];

		if (index_is(&b->place_index, at, hash) && p->thread == want.thread &&
		    p->stack == want.stack && p->state == want.state) {
			*node = p->node;
			return ST_OK;
		}
	}
	if (b->place_count > PLACES_MAX)
		forget_places(b);
	status = find_node(b, s, &want.node);
	if (status == ST_OK)
		status = add_place(b, want, hash);
	if (status == ST_OK)
		*node = want.node;
	return status;
}

static enum status add_tick(struct builder *b, const struct tick *tick,
			    const struct sample *samples, size_t count)
{
	if (carry_tick(b->carry))
		forget_places(b);
	for (size_t i = 0; i < count; i++) {
		nanoseconds values[KIND_COUNT];
		uint32_t node;
		enum status status = place_of(b, &samples[i], &node);

		if (status != ST_OK)
			return status;
		sample_values(&samples[i], tick->weight, values);
		for (int k = 0; k < KIND_COUNT; k++)
			b->nodes.nodes[node].self_s[k] += (double)values[k] / 1e9;
	}
	b->seconds += (double)tick->weight / 1e9;
	b->samples += count;
	b->ticks++;
	return ST_OK;
}

static double share_done(const struct replay_info *info, const struct tree_options *o,
			 nanoseconds now)
{
	nanoseconds from = o->from > info->first ? o->from : info->first;
	nanoseconds to = o->to && o->to < info->last ? o->to : info->last;
	double done = to > from ? (double)(now - from) / (double)(to - from) : 0;

	return done < 0 ? 0 : done > 1 ? 1 : done;
}

static enum status add_range(struct builder *b, struct replay *replay, tree_progress progress,
			     void *context)
{
	const struct replay_info *info = replay_info(replay);
	enum status status = replay_seek(replay, b->options.from);
	uint64_t told = 0;

	while (status == ST_OK) {
		const struct tick *tick;
		const struct sample *samples;
		size_t count;

		status = replay_next(replay, &tick, &samples, &count);
		if (status == ST_ENDED ||
		    (status == ST_OK && b->options.to && tick->time >= b->options.to))
			return ST_OK;
		if (status == ST_OK)
			status = add_tick(b, tick, samples, count);
		if (status != ST_OK || b->samples - told < PROGRESS_SAMPLES)
			continue;
		told = b->samples;
		if (progress && !progress(context, share_done(info, &b->options, tick->time)))
			status = ST_CANCELLED;
	}
	return status;
}

enum status tree_build(struct tree *tree, struct replay *replay, const struct tree_options *options,
		       tree_progress progress, void *context)
{
	struct builder b = { 0 };
	enum status status = open_builder(&b, replay, options);

	if (status == ST_OK)
		status = add_range(&b, replay, progress, context);
	if (status == ST_OK && !b.samples)
		status = ST_NO_SAMPLES;
	if (status == ST_OK)
		status = carry_threads(b.carry);
	if (status == ST_OK) {
		tree_nodes_total(&b.nodes);
		tree_nodes_link(&b.nodes);
		*tree = (struct tree){
			.nodes = b.nodes.nodes,
			.count = b.nodes.count,
			.names = b.to,
			.seconds = b.seconds,
			.samples = b.samples,
			.ticks = b.ticks,
		};
		b.nodes.nodes = NULL;
		b.to = NULL;
	}
	close_builder(&b);
	return status;
}

void tree_free(struct tree *tree)
{
	free(tree->nodes);
	if (tree->names)
		names_close(tree->names);
	*tree = (struct tree){ 0 };
}
