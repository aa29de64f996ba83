/*
 * tree_nodes: the growing array of a call tree's nodes.
 *
 * Invariant: a parent stands before its children, so one pass backwards sums totals and no walk
 * needs a stack; the index holds every node but the root. Pruning keeps a node only with its
 * parent (its total is never more than its parent's), so the invariant holds through it.
 *
 * Called by tree.c.
 */
#include "profile/tree_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define GONE UINT32_MAX
#define SIZES 512 /* classes of a node's total: four to each doubling from 2^-64 s on */

static uint32_t hash_of(const struct tree_nodes *t, const struct tree_node *n)
{
	return index_hash((uint64_t)n->parent << 32 | n->function,
			  (uint64_t)(n->thread ^ (uint32_t)n->state << 24) << 32 |
				  (uint32_t)n->line,
			  t->seed);
}

static bool same(const struct tree_node *a, const struct tree_node *b)
{
	return a->parent == b->parent && a->function == b->function && a->line == b->line &&
	       a->thread == b->thread && a->state == b->state;
}

enum status tree_nodes_open(struct tree_nodes *t, size_t max, func_id forgotten)
{
	void *nodes = NULL;
	enum status status;

	memset(t, 0, sizeof(*t));
	t->max = max;
	t->seed = index_seed();
	t->forgotten = forgotten;
	status = alloc_grow(&nodes, &t->capacity, 1, max, sizeof(*t->nodes));
	t->nodes = nodes;
	t->count = status == ST_OK;
	return status;
}

void tree_nodes_close(struct tree_nodes *t)
{
	free(t->nodes);
	index_clear(&t->index);
	t->nodes = NULL;
	t->count = t->capacity = 0;
}

static enum status add(struct tree_nodes *t, const struct tree_node *want, uint32_t hash,
		       uint32_t *node)
{
	void *nodes = t->nodes;
	enum status status =
		alloc_grow(&nodes, &t->capacity, t->count + 1, t->max, sizeof(*t->nodes));

	t->nodes = nodes;
	if (status == ST_OK)
		status = index_add(&t->index, hash, (uint32_t)t->count);
	if (status != ST_OK)
		return status;
	t->nodes[t->count] = *want;
	*node = (uint32_t)t->count++;
	return ST_OK;
}

enum status tree_nodes_child(struct tree_nodes *t, const struct tree_node *want, uint32_t *node)
{
	uint32_t hash = hash_of(t, want), id;

	for (size_t at = index_start(&t->index, hash); (id = index_id(&t->index, at));
	     at = index_next(&t->index, at)) {
		if (index_is(&t->index, at, hash) && same(&t->nodes[id], want)) {
			*node = id;
			return ST_OK;
		}
	}
	return add(t, want, hash, node);
}

static void add_values(double to[KIND_COUNT], const double from[KIND_COUNT])
{
	for (int k = 0; k < KIND_COUNT; k++)
		to[k] += from[k];
}

void tree_nodes_total(struct tree_nodes *t)
{
	for (size_t i = 0; i < t->count; i++)
		memcpy(t->nodes[i].total_s, t->nodes[i].self_s, sizeof(t->nodes[i].total_s));
	for (size_t i = t->count; i-- > 1;)
		add_values(t->nodes[t->nodes[i].parent].total_s, t->nodes[i].total_s);
}

void tree_nodes_link(struct tree_nodes *t)
{
	for (size_t i = t->count; i-- > 1;) {
		struct tree_node *node = &t->nodes[i], *parent = &t->nodes[node->parent];

		node->next_sibling = parent->first_child;
		parent->first_child = (uint32_t)i;
	}
}

static unsigned size_class(double seconds)
{
	int exponent;
	double fraction = frexp(seconds, &exponent); /* 0.5 to 1 */
	int class = (exponent + 64) * 4 + (int)((fraction - 0.5) * 8);

	if (seconds <= 0 || class < 1)
		return 1;
	return class < SIZES ? (unsigned)class : SIZES - 1;
}

/* The smallest class of which, and of all above, no more than most nodes there are. */
static unsigned threshold(const struct tree_nodes *t, size_t most)
{
	size_t in_class[SIZES] = { 0 }, kept = 0;
	unsigned class = SIZES;

	for (size_t i = 1; i < t->count; i++)
		in_class[size_class(t->nodes[i].total_s[KIND_WALL])]++;
	while (class > 1 && kept + in_class[class - 1] <= most)
		kept += in_class[--class];
	return class;
}

/*
 * Node i goes: what it and all below it amount to is added to its parent's child NAMES_FORGOTTEN,
 * which takes the first such place. forgotten: that child, by parent, 0 for none yet.
 */
static void give_up(struct tree_nodes *t, size_t i, uint32_t parent, uint32_t *forgotten)
{
	struct tree_node node = { .parent = parent, .function = t->forgotten };

	memcpy(node.self_s, t->nodes[i].total_s, sizeof(node.self_s));
	if (forgotten[parent]) {
		add_values(t->nodes[forgotten[parent]].self_s, node.self_s);
		return;
	}
	forgotten[parent] = (uint32_t)t->count;
	t->nodes[t->count++] = node;
}

/* Move what stays to the front; moved: the new index by the old one. */
static void compact(struct tree_nodes *t, unsigned class, uint32_t *moved, uint32_t *forgotten)
{
	size_t count = t->count;

	t->count = 1;
	moved[0] = 0;
	for (size_t i = 1; i < count; i++) {
		struct tree_node node = t->nodes[i];
		uint32_t parent = moved[node.parent];

		moved[i] = GONE;
		if (parent == GONE)
			continue;
		if (node.function == t->forgotten || size_class(node.total_s[KIND_WALL]) < class) {
			give_up(t, i, parent, forgotten);
			continue;
		}
		node.parent = parent;
		moved[i] = (uint32_t)t->count;
		t->nodes[t->count++] = node;
	}
}

static enum status index_again(struct tree_nodes *t)
{
	index_clear(&t->index);
	for (size_t i = 1; i < t->count; i++) {
		enum status status = index_add(&t->index, hash_of(t, &t->nodes[i]), (uint32_t)i);

		if (status != ST_OK)
			return status;
	}
	return ST_OK;
}

enum status tree_nodes_prune(struct tree_nodes *t)
{
	uint32_t *moved = alloc_zero(t->count, sizeof(*moved));
	uint32_t *forgotten = alloc_zero(t->count, sizeof(*forgotten));
	enum status status = ST_NO_MEMORY;

	if (moved && forgotten) {
		tree_nodes_total(t);
		compact(t, threshold(t, t->count / 4), moved, forgotten);
		status = index_again(t);
	}
	free(moved);
	free(forgotten);
	return status;
}
