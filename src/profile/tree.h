/*
 * tree: the call tree of a range of a replay: time of each kind by path of frames, threads apart
 * or merged. Design part 5 gives the values. Bounded: beyond nodes_max nodes the smallest go into
 * "<forgotten>" siblings.
 */
#ifndef PYTOP_PROFILE_TREE_H
#define PYTOP_PROFILE_TREE_H

#include <stddef.h>

#include "base/status.h"
#include "record/replay.h"

#define TREE_NODES_MAX 1048576

struct tree_node {
	uint32_t parent, first_child, next_sibling; /* indexes; 0: none (0 is the root of all) */
	func_id function;                           /* 0 for the root of all and for thread nodes */
	int32_t line;                               /* executing; 0 when the tree is by function */
	thread_id thread; /* thread nodes only: children of the root when threads are apart */
	uint8_t state;    /* leaf state nodes: enum thread_state + 1, else 0 */
	double self_s[KIND_COUNT], total_s[KIND_COUNT];
};

struct tree_options {
	nanoseconds from, to; /* CLOCK_MONOTONIC, to exclusive; 0, 0: everything */
	bool threads_apart;
	bool by_line;     /* nodes are (function, line) instead of function */
	bool states;      /* below a stack, a leaf for each state but gil (and unknown) */
	size_t nodes_max; /* 16 to TREE_NODES_MAX; 0: TREE_NODES_MAX */
};

struct tree {
	struct tree_node *nodes; /* a parent before its children; siblings as they were met */
	size_t count;            /* at least 1 */
	struct names *names;     /* of functions and threads here: the tree's own */
	double seconds;          /* of the range: sum of weights */
	uint64_t samples, ticks;
};

/* Progress: share done 0..1; return false to cancel. */
typedef bool (*tree_progress)(void *context, double done);

/* ST_CANCELLED, ST_NO_SAMPLES, and what replay_seek and replay_next give. */
enum status tree_build(struct tree *tree, struct replay *replay, const struct tree_options *options,
		       tree_progress progress, void *context) MUST_CHECK;
void tree_free(struct tree *tree);

#endif
