/*
 * replay_threads: the threads of a log, by its number. For replay_rows.c and replay.c.
 */
#ifndef PYTOP_RECORD_REPLAY_THREADS_H
#define PYTOP_RECORD_REPLAY_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "record/block.h"
#include "record/index.h"
#include "record/names.h"
#include "record/replay_define.h"
#include "record/sample.h"

struct replay_thread {
	uint32_t log_id;
	thread_id id;    /* 0: no room in names: never seen */
	bool defined;    /* in this segment */
	bool seen;       /* its open row says so */
	uint32_t place;  /* in samples + 1; 0: not seen */
	uint32_t number; /* of its stack in the segment */
	struct sample open;
};

struct replay_threads {
	struct names *names;
	const struct replay_define *define;
	struct replay_thread *row;
	size_t count, capacity;
	struct index by_id; /* place in row + 1 by log_id */
	uint64_t seed;
	uint64_t left_out; /* threads that found no room in names */
};

void replay_threads_open(struct replay_threads *r, struct names *names,
			 const struct replay_define *define);
void replay_threads_close(struct replay_threads *r);
/* A new segment: no thread is defined, none is seen. */
void replay_threads_clear(struct replay_threads *r);

/* Take a block of THREADS. ST_BAD_DATA, ST_NO_MEMORY. */
enum status replay_threads_block(struct replay_threads *r, const struct block_layout *layout,
				 const struct spool_block *block, struct bytes payload) MUST_CHECK;

/* NULL: no segment so far has defined it. Good until the next block. */
struct replay_thread *replay_threads_find(const struct replay_threads *r, uint32_t log_id);

/* The thread is not seen: its next row says everything. */
void replay_threads_close_row(struct replay_thread *t);

#endif
