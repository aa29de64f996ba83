/*
 * chunks: where the chunks of one thread's data stack lie (3.11+), and how much of each is worth reading. Hints
 * only, like places.
 */
#ifndef PYTOP_PYTHON_CHUNKS_H
#define PYTOP_PYTHON_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "python/layout.h"
#include "target/memory.h"

#define CHUNKS_MAX 96                       /* remembered of one thread */
#define CHUNK_SIZE_MAX (UINT32_C(16) << 20) /* bytes of one chunk */
#define CHUNK_READ_MAX (UINT32_C(1) << 20)  /* bytes read of one chunk */

struct chunk {
	remote_addr address, previous;
	uint32_t size;
	uint32_t used; /* bytes from the start that are read */
	uint32_t seen; /* the look that last found a frame in it */
};

struct chunks {
	struct chunk *items;
	size_t count, capacity;
	remote_addr newest;
};

void chunks_free(struct chunks *chunks);

/* What the thread state says: the newest chunk, the end of the newest frame, the end of the chunk. */
void chunks_note_top(struct chunks *chunks, remote_addr newest, remote_addr top, remote_addr limit,
		     uint32_t look);

/* A chunk was read (raw: its header), and frames were found in it. */
void chunks_note_frames(struct chunks *chunks, const struct py_layout *layout, remote_addr address,
			struct bytes raw, uint32_t look);

/* Whether it is read this time. */
bool chunk_is_read(const struct chunks *chunks, const struct chunk *chunk, uint32_t look);

/*
 * A frame at address was not where it was looked for. If it lies in a chunk, that will be read next time, with enough of it;
 * for that headers of older chunks are read, a few at a time. False: it lies in none that is known.
 */
bool chunks_want(struct chunks *chunks, const struct py_layout *layout, struct memory *memory,
		 remote_addr address, uint32_t size, uint32_t look);

/* It could not be read: forget it. */
void chunks_drop(struct chunks *chunks, remote_addr address);
/* Forget those in which no frame was found for long. */
void chunks_age(struct chunks *chunks, uint32_t look);

#endif
