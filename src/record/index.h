/*
 * index: finds the small number of a thing by its content: an open-addressed table of (hash, id),
 * which grows from nothing. The things themselves stand in an array of the owner, who compares.
 *
 *	for (size_t at = index_start(ix, hash); (id = index_id(ix, at)); at = index_next(ix, at))
 *		if (index_is(ix, at, hash) && things[id] is equal)
 *			found;
 */
#ifndef PYTOP_RECORD_INDEX_H
#define PYTOP_RECORD_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct index {
	uint64_t *slots; /* hash in the upper half, id in the lower; 0: free */
	size_t mask;     /* slots - 1, or 0 with no slots */
	size_t used;
};

static inline size_t index_start(const struct index *ix, uint32_t hash)
{
	return hash & ix->mask;
}

static inline uint32_t index_id(const struct index *ix, size_t at)
{
	return ix->slots ? (uint32_t)ix->slots[at] : 0;
}

static inline bool index_is(const struct index *ix, size_t at, uint32_t hash)
{
	return (uint32_t)(ix->slots[at] >> 32) == hash;
}

static inline size_t index_next(const struct index *ix, size_t at)
{
	return (at + 1) & ix->mask;
}

/* Mix two words and a seed into a hash. The seed keeps a target from choosing what collides. */
static inline uint32_t index_hash(uint64_t a, uint64_t b, uint64_t seed)
{
	uint64_t h = (a ^ seed) * 0x9e3779b97f4a7c15u;

	h = (h ^ (h >> 29) ^ b) * 0xbf58476d1ce4e5b9u;
	h = (h ^ (h >> 32)) * 0x94d049bb133111ebu;
	return (uint32_t)(h >> 32);
}

uint32_t index_hash_bytes(const void *data, size_t size, uint64_t seed);

/* A seed nobody can guess. */
uint64_t index_seed(void);

/* id is not 0 and stands in the index at most once. */
enum status index_add(struct index *ix, uint32_t hash, uint32_t id) MUST_CHECK;

/* Empty again, with no memory. */
void index_clear(struct index *ix);

#endif
