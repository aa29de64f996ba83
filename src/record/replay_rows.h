/*
 * replay_rows: plays a block of TICKS with its ROWS: tick by tick, with all rows that hold. For
 * replay.c.
 */
#ifndef PYTOP_RECORD_REPLAY_ROWS_H
#define PYTOP_RECORD_REPLAY_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "record/block.h"
#include "record/names.h"
#include "record/replay_define.h"
#include "record/replay_threads.h"
#include "record/sample.h"

#define REPLAY_ROW_COLUMNS (SPOOL_ROWS_SYSCALL - SPOOL_ROWS_STEP + 1)
#define REPLAY_TICK_COLUMNS (SPOOL_TICKS_OTHERS - SPOOL_TICKS_HEAD + 1)

struct replay_run;

struct replay_rows {
	const struct replay_define *define;
	struct replay_threads threads;
	/* thread-samples of the tick, and of which thread each is */
	struct sample *samples;
	uint32_t *sample_thread;
	size_t sample_count, sample_capacity, sample_thread_capacity;
	/* the block that is played */
	struct buffer ticks, rows; /* payloads */
	struct cursor columns[REPLAY_TICK_COLUMNS];
	uint32_t tick_count, tick_at; /* ticks in it, and played */
	struct replay_run *runs;      /* of the threads that have rows in it */
	uint32_t *due;                /* of each: the tick of its next row, from 1; 0: none left */
	size_t run_count, run_capacity, due_capacity;
	struct tick tick;
};

void replay_rows_open(struct replay_rows *r, struct names *names,
		      const struct replay_define *define);
void replay_rows_close(struct replay_rows *r);
/* A new segment: no thread is defined, none is seen, nothing is left to play. */
void replay_rows_clear(struct replay_rows *r);

/*
 * Take TICKS (copied), then the ROWS of the same ticks; then they can be played. ST_BAD_DATA,
 * ST_NO_MEMORY; so below.
 */
enum status replay_rows_ticks(struct replay_rows *r, const struct block_layout *layout,
			      const struct spool_block *block, struct bytes payload) MUST_CHECK;
enum status replay_rows_rows(struct replay_rows *r, const struct block_layout *layout,
			     const struct spool_block *block, struct bytes payload) MUST_CHECK;

/* The next tick, in tick and samples. ST_ENDED: the block is played. */
enum status replay_rows_next(struct replay_rows *r) MUST_CHECK;

#endif
