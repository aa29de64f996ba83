/*
 * arena: a recorded image under construction. Objects of a made-up target are written at chosen
 * places and read back through struct memory as if they were in a process.
 */
#ifndef PYTOP_TESTS_ARENA_H
#define PYTOP_TESTS_ARENA_H

#include <stdint.h>
#include <string.h>

#include "target/memory.h"

#define ARENA_START 0x10000u
#define ARENA_SIZE 0x10000u

struct arena {
	uint8_t bytes[ARENA_SIZE];
	struct memory_region region;
	struct memory memory;
};

static inline void arena_open(struct arena *a)
{
	memset(a, 0, sizeof(*a));
	a->region = (struct memory_region){ ARENA_START, { a->bytes, sizeof(a->bytes) } };
	memory_open_image(&a->memory, &a->region, 1);
}

static inline void arena_put(struct arena *a, remote_addr at, const void *data, size_t size)
{
	memcpy(a->bytes + (at - ARENA_START), data, size);
}

static inline void arena_u64(struct arena *a, remote_addr at, uint64_t value)
{
	arena_put(a, at, &value, sizeof(value));
}

static inline void arena_u32(struct arena *a, remote_addr at, uint32_t value)
{
	arena_put(a, at, &value, sizeof(value));
}

#endif
