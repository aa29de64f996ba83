/*
 * index: an open-addressed table from a hash to a small number, probed linearly.
 *
 * Invariant: at least half of the slots are free, so every probe ends. Since a slot keeps the
 * whole hash, growing never looks at the things themselves. Nothing is ever taken out but all at
 * once.
 */
#include "record/index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"

#define FIRST_SLOTS 64

uint32_t index_hash_bytes(const void *data, size_t size, uint64_t seed)
{
	const uint8_t *at = data;
	uint64_t h = seed ^ (size * 0x9e3779b97f4a7c15u);
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		h = (h ^ word) * 0xbf58476d1ce4e5b9u;
		h ^= h >> 31;
	}
	word = 0;
	memcpy(&word, at, size);
	return index_hash(h, word, seed);
}

uint64_t index_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uint64_t)(uintptr_t)&seed * 0x9e3779b97f4a7c15u;
	return seed;
}

static void place(struct index *ix, uint64_t slot)
{
	size_t at = index_start(ix, (uint32_t)(slot >> 32));

	while (ix->slots[at])
		at = index_next(ix, at);
	ix->slots[at] = slot;
}

static enum status grow(struct index *ix)
{
	size_t count = ix->slots ? (ix->mask + 1) * 2 : FIRST_SLOTS;
	struct index bigger = { alloc_zero(count, sizeof(*ix->slots)), count - 1, ix->used };

	if (!bigger.slots)
		return ST_NO_MEMORY;
	for (size_t i = 0; ix->slots && i <= ix->mask; i++) {
		if (ix->slots[i])
			place(&bigger, ix->slots[i]);
	}
	free(ix->slots);
	*ix = bigger;
	return ST_OK;
}

enum status index_add(struct index *ix, uint32_t hash, uint32_t id)
{
	if (!ix->slots || ix->used >= (ix->mask + 1) / 2) {
		enum status st = grow(ix);

		if (st != ST_OK)
			return st;
	}
	place(ix, (uint64_t)hash << 32 | id);
	ix->used++;
	return ST_OK;
}

void index_clear(struct index *ix)
{
	free(ix->slots);
	*ix = (struct index){ 0 };
}
