/*
 * batch: pieces of the target's memory gathered first and then read together, in order, into one arena.
 */
#ifndef PYTOP_PYTHON_BATCH_H
#define PYTOP_PYTHON_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "target/memory.h"

#define BATCH_PIECES_LIMIT (1u << 20)
#define BATCH_BYTES_LIMIT ((size_t)256 << 20)
#define BATCH_FAULTS_MAX \
	1024 /* unreadable pieces a run; what stands behind the last one is not read */
#define BATCH_NO_PIECE UINT32_MAX

struct batch {
	struct memory_piece
		*pieces; /* local: where the bytes lie after batch_read(); NULL: not read */
	size_t count, capacity;
	uint8_t *bytes;
	size_t used, size;
	bool failed; /* a piece could not be added (no memory, limit) */
	bool interrupted; /* the last reading took much longer than readings do: its pieces are of two times */
	double usual_ns; /* what readings take for each piece and 4 KiB; 0: not known yet */
};

void batch_free(struct batch *batch);
void batch_clear(struct batch *batch); /* keeps its memory */

/* The piece's number; BATCH_NO_PIECE when it could not be added, which batch_read() then reports. */
uint32_t batch_add(struct batch *batch, remote_addr remote, size_t size);

/*
 * Read all pieces, in one system call for up to MEMORY_PIECES_MAX of them; a piece that cannot be read costs one
 * more and none of its neighbours. ST_ENDED, ST_DENIED, ST_NO_MEMORY, ST_TOO_BIG.
 */
enum status batch_read(struct batch *batch, struct memory *memory) MUST_CHECK;

/* The bytes of a piece, valid until the next batch_read(), 8-aligned; NULL when it could not be read. */
static inline const uint8_t *batch_bytes(const struct batch *batch, uint32_t piece)
{
	return piece < batch->count ? batch->pieces[piece].local : NULL;
}

#endif
