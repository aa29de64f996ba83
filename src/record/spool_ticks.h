/*
 * spool_ticks: the columns of TICKS that were not written yet, and what their ticks add up to
 * (SECOND). For spool.c alone.
 */
#ifndef PYTOP_RECORD_SPOOL_TICKS_H
#define PYTOP_RECORD_SPOOL_TICKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "record/sample.h"
#include "record/spool_format.h"

#define SPOOL_TICK_COLUMNS (SPOOL_TICKS_OTHERS - SPOOL_TICKS_HEAD + 1)
#define SPOOL_SECOND_COLUMNS (SPOOL_SECOND_GC - SPOOL_SECOND_START + 1)

struct spool_sums {
	uint64_t missed, torn, samples;
	nanoseconds gap, cpu, held, waited, gc;
};

struct spool_ticks {
	struct buffer columns[SPOOL_TICK_COLUMNS];
	uint32_t count;                       /* of ticks in the block */
	nanoseconds first, last;              /* of the block, whole microseconds */
	nanoseconds before;                   /* time of the tick before, in ns */
	nanoseconds cpu_rest;                 /* CPU time below 1 us that was not written yet */
	nanoseconds native_rest, others_rest; /* likewise */
	uint64_t rss_bytes;                   /* as written last */
	uint32_t interpreter_count;
	struct tick_interpreter interpreters[TICK_INTERPRETERS_MAX];
	struct spool_sums sums;
	size_t biggest; /* bytes of the biggest column */
};

void spool_ticks_open(struct spool_ticks *t);
void spool_ticks_close(struct spool_ticks *t);
/* A new segment; what was not written is dropped. */
void spool_ticks_clear(struct spool_ticks *t);

/* lost: time of ticks before this one that were left out of the log: it is part of its gap. */
void spool_ticks_add(struct spool_ticks *t, const struct tick *tick, nanoseconds lost);
/* Add a tick's thread-samples to the sums. */
void spool_ticks_sum(struct spool_ticks *t, const struct tick *tick, const struct sample *samples,
		     size_t count);

/* Append TICKS; and, when the ROWS are written (rows of them), SECOND. The next block begins. */
void spool_ticks_write(struct spool_ticks *t, struct buffer *out);
void spool_ticks_write_second(struct spool_ticks *t, uint32_t rows, struct buffer *out);

#endif
