/*
 * parts: an object as a few stretches.
 *
 * The interpreter is some 200 KiB and what is wanted of it lies within two or three KiB; a stretch of 4 KiB costs what
 * eight bytes cost, another piece costs a third of a call. So fields less than a page apart make one part.
 *
 * Called by interp.c, once for the runtime and once for interpreters.
 */
#include "python/parts.h"

#include <string.h>

#define GAP_MAX 3072
#define PART_SIZE_MAX 8192

/* Join parts that have come close to each other. */
static void merge(struct parts *parts)
{
	uint32_t kept = 0;

	for (uint32_t i = 1; i < parts->count; i++) {
		uint32_t end = parts->items[kept].start + parts->items[kept].size;
		uint32_t i_end = parts->items[i].start + parts->items[i].size;

		if (parts->items[i].start > end + GAP_MAX ||
		    i_end - parts->items[kept].start > PART_SIZE_MAX)
			parts->items[++kept] = parts->items[i];
		else if (i_end > end)
			parts->items[kept].size = i_end - parts->items[kept].start;
	}
	parts->count = kept + 1;
}

enum status parts_add(struct parts *parts, uint32_t offset, uint32_t size)
{
	struct parts more = *parts;
	uint32_t at = more.count;

	if (offset == LAYOUT_NONE)
		return ST_OK;
	if (at == PARTS_MAX || size > PART_SIZE_MAX || offset > (16u << 20))
		return ST_BAD_DATA;
	for (; at > 0 && more.items[at - 1].start > (offset & ~7u); at--)
		more.items[at] = more.items[at - 1];
	more.items[at].start = offset & ~7u;
	more.items[at].size = ((offset + size + 7) & ~7u) - (offset & ~7u);
	more.count++;
	merge(&more);
	*parts = more;
	return ST_OK;
}

uint32_t parts_plan(const struct parts *parts, struct batch *batch, remote_addr object)
{
	uint32_t first = BATCH_NO_PIECE;

	for (uint32_t i = 0; i < parts->count; i++) {
		uint32_t piece =
			batch_add(batch, object + parts->items[i].start, parts->items[i].size);

		if (i == 0)
			first = piece;
	}
	return first;
}

const uint8_t *parts_find(const struct parts *parts, const struct batch *batch, uint32_t first,
			  uint32_t offset, uint32_t size)
{
	if (offset == LAYOUT_NONE || first == BATCH_NO_PIECE)
		return NULL;
	for (uint32_t i = 0; i < parts->count; i++) {
		uint32_t into = offset - parts->items[i].start;
		const uint8_t *bytes;

		if (into >= parts->items[i].size || size > parts->items[i].size - into)
			continue;
		bytes = batch_bytes(batch, first + i);
		return bytes ? bytes + into : NULL;
	}
	return NULL;
}

uint64_t parts_u64(const struct parts *parts, const struct batch *batch, uint32_t first,
		   uint32_t offset)
{
	const uint8_t *at = parts_find(parts, batch, first, offset, 8);
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, sizeof(v));
	return v;
}

uint32_t parts_u32(const struct parts *parts, const struct batch *batch, uint32_t first,
		   uint32_t offset)
{
	const uint8_t *at = parts_find(parts, batch, first, offset, 4);
	uint32_t v = 0;

	if (at)
		memcpy(&v, at, sizeof(v));
	return v;
}
