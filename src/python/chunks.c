/*
 * chunks: the data stack as a set of chunks, linked by what their headers said when they were last read.
 *
 * Of the newest chunk the part up to the end of the newest frame is read, and a little more: a stack
 * breathes. That length shrinks slowly, so that a stack that goes up and down is not read twice each time. Older
 * chunks are read while frames of the leaf part are found in them. Source: Include/cpython/pystate.h
 * (_PyStackChunk), Python/pystate.c (push_chunk), 3.11 to 3.15.
 *
 * Called by stack.c.
 */
#include "python/chunks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SLACK 512     /* bytes read beyond the newest frame */
#define HEADERS_MAX 8 /* headers read to find one frame */
#define KEEP_READ 8   /* looks without a frame until a chunk is not read any more */
#define KEEP 64       /* ... until it is forgotten */
#define HEADER_SIZE 24

void chunks_free(struct chunks *chunks)
{
	free(chunks->items);
	*chunks = (struct chunks){ 0 };
}

static struct chunk *find(const struct chunks *chunks, remote_addr address)
{
	for (size_t i = 0; i < chunks->count; i++) {
		if (chunks->items[i].address == address)
			return &chunks->items[i];
	}
	return NULL;
}

static struct chunk *add(struct chunks *chunks, remote_addr address, uint32_t look)
{
	struct chunk *oldest = chunks->items;

	if (chunks->count < CHUNKS_MAX) {
		void *items = chunks->items;

		if (alloc_grow(&items, &chunks->capacity, chunks->count + 1, CHUNKS_MAX,
			       sizeof(*chunks->items)) != ST_OK)
			return NULL;
		chunks->items = items;
		oldest = &chunks->items[chunks->count++];
	} else {
		for (size_t i = 1; i < chunks->count; i++) {
			if (look - chunks->items[i].seen > look - oldest->seen)
				oldest = &chunks->items[i];
		}
	}
	*oldest = (struct chunk){ .address = address, .seen = look };
	return oldest;
}

static bool chunk_fits(remote_addr address, uint64_t size)
{
	return address >= 4096 && !(address & 7) && address < (UINT64_C(1) << 56) &&
	       size > HEADER_SIZE && size <= CHUNK_SIZE_MAX;
}

static void set_used(struct chunk *chunk, uint64_t used)
{
	if (used > chunk->size)
		used = chunk->size;
	chunk->used = used < CHUNK_READ_MAX ? (uint32_t)used : CHUNK_READ_MAX;
}

void chunks_note_top(struct chunks *chunks, remote_addr newest, remote_addr top, remote_addr limit,
		     uint32_t look)
{
	uint64_t used = top - newest + SLACK;
	struct chunk *chunk;

	if (top < newest || top > limit || !chunk_fits(newest, limit - newest))
		return;
	chunk = find(chunks, newest);
	if (!chunk)
		chunk = add(chunks, newest, look);
	if (!chunk)
		return;
	chunks->newest = newest;
	chunk->size = (uint32_t)(limit - newest);
	chunk->seen = look;
	if (used < chunk->used)
		used = chunk->used - (chunk->used - used + 63) / 64;
	set_used(chunk, used);
}

static void note_previous(struct chunk *chunk, const struct py_layout *layout, struct bytes raw)
{
	uint64_t previous;

	if (!bytes_u64(raw, layout->stack_chunk.chunk_previous, &previous))
		return;
	chunk->previous = chunk_fits(previous, CHUNK_SIZE_MAX) ? previous : 0;
}

void chunks_note_frames(struct chunks *chunks, const struct py_layout *layout, remote_addr address,
			struct bytes raw, uint32_t look)
{
	struct chunk *chunk = find(chunks, address);

	if (!chunk)
		return;
	chunk->seen = look;
	note_previous(chunk, layout, raw);
}

bool chunk_is_read(const struct chunks *chunks, const struct chunk *chunk, uint32_t look)
{
	return chunk->used && (chunk->address == chunks->newest || look - chunk->seen <= KEEP_READ);
}

/* An older chunk, known or learnt from its header; NULL: there is none there. */
static struct chunk *learn(struct chunks *chunks, const struct py_layout *layout,
			   struct memory *memory, remote_addr address, uint32_t look)
{
	uint8_t raw[HEADER_SIZE];
	struct bytes header = { raw, sizeof(raw) };
	uint64_t size, top;
	struct chunk *chunk;

	if (memory_read(memory, address, raw, sizeof(raw)) != ST_OK)
		return NULL;
	if (!bytes_u64(header, layout->stack_chunk.chunk_size, &size) ||
	    !bytes_u64(header, layout->stack_chunk.chunk_top, &top) || !chunk_fits(address, size))
		return NULL;
	chunk = add(chunks, address, look);
	if (!chunk)
		return NULL;
	chunk->size = (uint32_t)size;
	note_previous(chunk, layout, header);
	chunk->seen = look - KEEP_READ - 1; /* known, and not read until a frame is wanted of it */
	return chunk;
}

static bool holds(const struct chunk *chunk, remote_addr address, uint32_t size)
{
	return address - chunk->address < chunk->size &&
	       size <= chunk->size - (address - chunk->address);
}

/* That frame is wanted of this chunk; older ones are full, so they are read whole. */
static void widen(const struct chunks *chunks, struct chunk *chunk, remote_addr address,
		  uint32_t size, uint32_t look)
{
	uint64_t used = address - chunk->address + size + SLACK;

	if (chunk->address != chunks->newest && !chunk->used)
		used = chunk->size;
	if (used > chunk->used)
		set_used(chunk, used);
	chunk->seen = look;
}

bool chunks_want(struct chunks *chunks, const struct py_layout *layout, struct memory *memory,
		 remote_addr address, uint32_t size, uint32_t look)
{
	remote_addr at = chunks->newest;
	unsigned learnt = 0;

	for (size_t i = 0; i < chunks->count; i++) {
		if (holds(&chunks->items[i], address, size)) {
			widen(chunks, &chunks->items[i], address, size, look);
			return true;
		}
	}
	for (unsigned steps = 0; at && steps < CHUNKS_MAX; steps++) {
		struct chunk *chunk = find(chunks, at);

		if (!chunk && learnt++ < HEADERS_MAX)
			chunk = learn(chunks, layout, memory, at, look);
		if (!chunk)
			return false;
		if (holds(chunk, address, size)) {
			widen(chunks, chunk, address, size, look);
			return true;
		}
		at = chunk->previous;
	}
	return false;
}

void chunks_drop(struct chunks *chunks, remote_addr address)
{
	struct chunk *chunk = find(chunks, address);

	if (!chunk)
		return;
	*chunk = chunks->items[--chunks->count];
	if (chunks->newest == address)
		chunks->newest = 0;
}

void chunks_age(struct chunks *chunks, uint32_t look)
{
	for (size_t i = chunks->count; i-- > 0;) {
		const struct chunk *chunk = &chunks->items[i];

		if (chunk->address != chunks->newest && look - chunk->seen > KEEP)
			chunks_drop(chunks, chunk->address);
	}
}
