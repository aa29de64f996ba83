/*
 * tree_nodes: the growing array of a call tree's nodes: found by what they are below their
 * parent, and pruned when there are too many.
 */
#ifndef PYTOP_PROFILE_TREE_NODES_H
#define PYTOP_PROFILE_TREE_NODES_H

#include "profile/tree.h"
#include "record/index.h"

struct tree_nodes {
	struct tree_node *nodes;
	size_t count, capacity, max;
	struct index index;
	uint64_t seed;
	func_id forgotten; /* NAMES_FORGOTTEN */
};

/* The tree is the root alone. ST_NO_MEMORY. */
enum status tree_nodes_open(struct tree_nodes *t, size_t max, func_id forgotten) MUST_CHECK;
void tree_nodes_close(struct tree_nodes *t);

/*
 * The child of want->parent that is like want (function, line, thread, state); made when there is
 * none. ST_TOO_BIG: it would be one too many: prune, which makes every index kept elsewhere void.
 * ST_NO_MEMORY.
 */
enum status tree_nodes_child(struct tree_nodes *t, const struct tree_node *want,
			     uint32_t *node) MUST_CHECK;

/*
 * Keep the biggest by wall time, at most half; the others' time goes to a child NAMES_FORGOTTEN
 * of what is kept.
 */
enum status tree_nodes_prune(struct tree_nodes *t) MUST_CHECK;

/* Fill total_s from self_s, and link children to parents. */
void tree_nodes_total(struct tree_nodes *t);
void tree_nodes_link(struct tree_nodes *t);

#endif
