/*
 * copies: stretches of the target's memory as one reading has them: before the thread state was read, and after.
 */
#ifndef PYTOP_PYTHON_COPIES_H
#define PYTOP_PYTHON_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "target/memory.h"

#define COPIES_LIMIT 16384

struct stretch {
	remote_addr start;
	uint64_t size;
	const uint8_t *first;  /* borrowed; NULL: could not be read */
	const uint8_t *second; /* NULL: copied only once */
	uint32_t piece, again; /* pieces of the batch that holds them */
	bool used;             /* a frame of the stack lay in it */
};

struct copies {
	struct stretch *items;
	size_t count, capacity;
	size_t sorted; /* items from here on ascend and are apart; those before are in no order */
	size_t hit;    /* where the last search ended */
	bool interrupted; /* in the middle of the reading much time passed: it proves nothing */
};

void copies_free(struct copies *copies);
void copies_clear(struct copies *copies);

/* A new last stretch, zeroed but for start and size; NULL when there is no room. */
struct stretch *copies_add(struct copies *copies, remote_addr start, uint64_t size);

/* The stretch that was read and holds [address, address + size), or NULL. */
struct stretch *copies_search(struct copies *copies, remote_addr address, uint32_t size);

/* A word of the target among bytes that were read. */
static inline uint64_t copies_word(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static inline bool stretch_holds(const struct stretch *stretch, remote_addr address, uint32_t size)
{
	uint64_t into = address - stretch->start;

	return into < stretch->size && size <= stretch->size - into && stretch->first;
}

static inline struct stretch *copies_find(struct copies *copies, remote_addr address, uint32_t size)
{
	if (copies->hit < copies->count &&
	    stretch_holds(&copies->items[copies->hit], address, size))
		return &copies->items[copies->hit];
	return copies_search(copies, address, size);
}

#endif
