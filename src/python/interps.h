/*
 * interps: the list of interpreters, what each says of itself, and its GIL.
 */
#ifndef PYTOP_PYTHON_INTERPS_H
#define PYTOP_PYTHON_INTERPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "python/batch.h"
#include "python/interp.h"
#include "python/parts.h"
#include "python/runtime.h"
#include "target/memory.h"

/* What is remembered of one, beside its struct py_interp of the same index. */
struct interp_node {
	remote_addr address, next;
	remote_addr head;        /* its newest thread state, in this look */
	remote_addr gil_address; /* 0: not known (yet) */
	size_t first, count;     /* its threads in the order */
	uint32_t piece;          /* of the tick's batch */
	bool unlisted;           /* its thread list has to be walked */
};

struct interps {
	const struct py_runtime *runtime; /* borrowed */
	struct parts root_parts, parts;
	uint32_t root_piece;
	struct interp_node *nodes;
	struct py_interp *pubs;
	size_t count, node_capacity, pub_capacity;
	bool finalizing;
};

/* ST_BAD_DATA: the layout makes no sense. */
enum status interps_open(struct interps *interps, const struct py_runtime *runtime) MUST_CHECK;
void interps_free(struct interps *interps);

/* Ask for the roots when they are due, and for every interpreter known. */
void interps_plan(struct interps *interps, struct batch *batch, uint32_t look);

/*
 * What the batch says; follow is for readings that follow when the list has changed, *relisted then is true.
 * ST_FAULT: the roots cannot be read, or the list does not hold together; ST_ENDED, ST_DENIED, ST_NO_MEMORY.
 */
enum status interps_take(struct interps *interps, const struct batch *batch, struct batch *follow,
			 struct memory *memory, uint32_t look, bool *relisted) MUST_CHECK;

#endif
