/*
 * parts: which parts of a large object of the target are read: its wanted fields, neighbours in one piece.
 */
#ifndef PYTOP_PYTHON_PARTS_H
#define PYTOP_PYTHON_PARTS_H

#include <stdint.h>

#include "base/status.h"
#include "python/batch.h"
#include "python/layout.h"
#include "target/memory.h"

#define PARTS_MAX 4

struct parts {
	struct {
		uint32_t start, size; /* from the object's start; ascending */
	} items[PARTS_MAX];
	uint32_t count;
};

/* Add a field; LAYOUT_NONE adds nothing. ST_BAD_DATA when it makes too many parts or one that is too large. */
enum status parts_add(struct parts *parts, uint32_t offset, uint32_t size) MUST_CHECK;

/* Add the parts of an object to a batch; they are neighbours in it: the number of the first piece. */
uint32_t parts_plan(const struct parts *parts, struct batch *batch, remote_addr object);

/* The bytes of a field in a batch that was read; NULL: not read, or LAYOUT_NONE. */
const uint8_t *parts_find(const struct parts *parts, const struct batch *batch, uint32_t first,
			  uint32_t offset, uint32_t size);

/* The same as a number; 0 when it is not there. */
uint64_t parts_u64(const struct parts *parts, const struct batch *batch, uint32_t first,
		   uint32_t offset);
uint32_t parts_u32(const struct parts *parts, const struct batch *batch, uint32_t first,
		   uint32_t offset);

#endif
