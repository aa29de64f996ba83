/*
 * copies: finding the bytes of an address among what a reading has brought.
 *
 * The few stretches that are not sorted (thread state, stack chunks) are looked through one by one, the sorted
 * rest (frames that lie elsewhere: up to a thousand) by halving. Frames of one stack mostly follow each other
 * in one stretch, so the last hit is tried first.
 *
 * Filled by stack.c, searched by frames.c and exceptions.c.
 */
#include "python/copies.h"

#include <stdlib.h>

#include "base/alloc.h"

void copies_free(struct copies *copies)
{
	free(copies->items);
	*copies = (struct copies){ 0 };
}

void copies_clear(struct copies *copies)
{
	copies->count = 0;
	copies->sorted = 0;
	copies->hit = 0;
}

struct stretch *copies_add(struct copies *copies, remote_addr start, uint64_t size)
{
	if (copies->count == copies->capacity) {
		void *items = copies->items;

		if (alloc_grow(&items, &copies->capacity, copies->count + 1, COPIES_LIMIT,
			       sizeof(*copies->items)) != ST_OK)
			return NULL;
		copies->items = items;
	}
	copies->items[copies->count] = (struct stretch){ .start = start, .size = size };
	return &copies->items[copies->count++];
}

/* Among the sorted: the last that starts at or before address, or count. */
static size_t halve(const struct copies *copies, remote_addr address)
{
	size_t low = copies->sorted;
	size_t high = copies->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (copies->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > copies->sorted ? low - 1 : copies->count;
}

struct stretch *copies_search(struct copies *copies, remote_addr address, uint32_t size)
{
	size_t at = 0;

	while (at < copies->sorted && !stretch_holds(&copies->items[at], address, size))
		at++;
	if (at == copies->sorted)
		at = halve(copies, address);
	if (at >= copies->count || !stretch_holds(&copies->items[at], address, size))
		return NULL;
	copies->hit = at;
	return &copies->items[at];
}
