/*
 * batch: the pieces of one reading, and the arena that takes their bytes.
 *
 * The pieces lie in the arena one after another, so that they are one local piece for the kernel. Sizes are rounded
 * up to 8 bytes, so that words can be loaded from where they lie. Once the arena is as large as the largest
 * reading was, nothing is allocated.
 *
 * How long a reading takes is part of what it proves. Two copies tell motion between them, unless the target had the time
 * to come back to where it was; that takes a reading which was interrupted (pytop lost its CPU, the machine did), and such
 * a one is longer than others by far.
 *
 * Called by interp.c for the reading of a tick, and by stack.c for what has to be read again.
 */
#include "python/batch.h"

#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"

#define UNIT_BYTES 4096
#define LONG_FACTOR 2        /* as many times the usual, ... */
#define LONG_AT_LEAST 5000.0 /* ... and so many ns more: interrupted */
#define USUAL_AT_FIRST 500.0 /* ns for each unit */
#define USUAL_SHARE_UP 16    /* how much a longer reading moves the usual: 1/16 */
#define USUAL_SHARE_DOWN 4

void batch_free(struct batch *batch)
{
	free(batch->pieces);
	free(batch->bytes);
	*batch = (struct batch){ 0 };
}

void batch_clear(struct batch *batch)
{
	batch->count = 0;
	batch->used = 0;
	batch->failed = false;
}

uint32_t batch_add(struct batch *batch, remote_addr remote, size_t size)
{
	if (batch->count == batch->capacity) {
		void *pieces = batch->pieces;

		if (alloc_grow(&pieces, &batch->capacity, batch->count + 1, BATCH_PIECES_LIMIT,
			       sizeof(*batch->pieces)) != ST_OK) {
			batch->failed = true;
			return BATCH_NO_PIECE;
		}
		batch->pieces = pieces;
	}
	size = (size + 7) & ~(size_t)7;
	if (size > BATCH_BYTES_LIMIT - batch->used) {
		batch->failed = true;
		return BATCH_NO_PIECE;
	}
	batch->pieces[batch->count] = (struct memory_piece){ .remote = remote, .size = size };
	batch->used += size;
	return (uint32_t)batch->count++;
}

static enum status make_room(struct batch *batch)
{
	void *bytes = batch->bytes;
	enum status status;

	if (batch->failed)
		return ST_NO_MEMORY;
	status = alloc_grow(&bytes, &batch->size, batch->used, BATCH_BYTES_LIMIT, 1);
	batch->bytes = bytes;
	return status;
}

/* From a piece that could not be read on to the next: true when the run goes on. */
static bool skip_fault(struct batch *batch, size_t at, unsigned *faults)
{
	batch->pieces[at].local = NULL;
	if (++*faults < BATCH_FAULTS_MAX)
		return true;
	for (size_t i = at; i < batch->count; i++)
		batch->pieces[i].local = NULL;
	return false;
}

static double clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/*
 * Was that reading one of the long ones? They move the usual too, lest it stay wrong when the machine gets slower; short
 * ones move it faster, so that a slow beginning is soon forgotten.
 */
static void note_time(struct batch *batch, double took_ns)
{
	double units = (double)batch->count + (double)batch->used / UNIT_BYTES;
	double usual = batch->usual_ns * units;

	if (!batch->count)
		return;
	if (usual <= 0)
		usual = USUAL_AT_FIRST * units;
	batch->interrupted = took_ns > LONG_FACTOR * usual + LONG_AT_LEAST;
	if (took_ns > LONG_FACTOR * usual)
		took_ns = LONG_FACTOR * usual;
	double share = took_ns < usual ? USUAL_SHARE_DOWN : USUAL_SHARE_UP;
	batch->usual_ns = (usual + (took_ns - usual) / share) / units;
}

enum status batch_read(struct batch *batch, struct memory *memory)
{
	enum status status = make_room(batch);
	uint8_t *to = batch->bytes;
	unsigned faults = 0;
	bool timed = memory->pid != 0; /* a recorded image does not move */
	double start = timed ? clock_ns() : 0;

	if (status != ST_OK)
		return status;
	for (size_t i = 0; i < batch->count; i++) {
		batch->pieces[i].local = to;
		to += batch->pieces[i].size;
	}
	for (size_t at = 0; at < batch->count; at++) {
		size_t done = 0;

		status = memory_read_batch(memory, batch->pieces + at, batch->count - at, &done);
		if (status != ST_OK)
			return status;
		at += done;
		if (at < batch->count && !skip_fault(batch, at, &faults))
			break;
	}
	if (timed)
		note_time(batch, clock_ns() - start);
	return ST_OK;
}
