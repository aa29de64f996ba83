/*
 * spool_rows: the open row of every thread and the columns of ROWS that were not written yet. For
 * spool.c alone.
 */
#ifndef PYTOP_RECORD_SPOOL_ROWS_H
#define PYTOP_RECORD_SPOOL_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "record/names.h"
#include "record/pages.h"
#include "record/sample.h"
#include "record/spool_define.h"
#include "record/spool_format.h"

#define SPOOL_ROW_COLUMNS (SPOOL_ROWS_SYSCALL - SPOOL_ROWS_STEP + 1)
#define SPOOL_THREAD_COLUMNS (SPOOL_THREADS_FLAGS - SPOOL_THREADS_ID + 1)

struct spool_thread;

struct spool_rows {
	const struct names *names;
	struct spool_define *define;
	struct spool_thread
		*threads; /* dense; a place is reused once its thread is dead and written */
	size_t thread_count, thread_capacity;
	uint32_t free_place; /* first of the free places + 1; 0: none */
	struct pages places; /* uint32_t by thread id: place + 1 */
	struct buffer about[SPOOL_THREAD_COLUMNS];
	uint32_t about_rows;
	uint32_t tick;    /* ticks begun in this block: the number of the one that runs, from 1 */
	uint32_t present; /* threads whose open row says that they are seen */
	uint32_t seen;    /* of them, in the tick that runs */
	uint64_t stamp;   /* of the tick that runs; never repeats */
	uint32_t rows;    /* in the block */
	size_t bytes, biggest; /* of all columns in the block; of the biggest */
};

void spool_rows_open(struct spool_rows *r, const struct names *names, struct spool_define *define);
void spool_rows_close(struct spool_rows *r);
/* A new segment: no row is open, no thread defined, what was not written is dropped. */
void spool_rows_clear(struct spool_rows *r);

/*
 * A tick: begin, each thread-sample, end (which closes the rows of threads not seen).
 * ST_NO_MEMORY.
 */
void spool_rows_begin(struct spool_rows *r);
enum status spool_rows_add(struct spool_rows *r, const struct sample *s) MUST_CHECK;
void spool_rows_end(struct spool_rows *r);

/*
 * Notice who was renamed or died since. To be called before the definitions are written, since it
 * may define strings. ST_NO_MEMORY.
 */
enum status spool_rows_look(struct spool_rows *r) MUST_CHECK;

/* Append THREADS (when there is any) and, after the TICKS, ROWS; the next block begins. */
void spool_rows_write_threads(struct spool_rows *r, struct buffer *out, nanoseconds first,
			      nanoseconds last);
void spool_rows_write(struct spool_rows *r, struct buffer *out, nanoseconds first, nanoseconds last,
		      size_t keep_bytes);

#endif
