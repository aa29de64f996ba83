/*
 * gecko_rows: the samples and markers of a Gecko file, gathered by thread from ticks, and written
 * out as columns.
 */
#ifndef PYTOP_EXPORT_GECKO_ROWS_H
#define PYTOP_EXPORT_GECKO_ROWS_H

#include "base/json.h"
#include "export/gecko_tables.h"
#include "export/scratch.h"

enum gecko_column {
	GECKO_COLUMN_STACK,
	GECKO_COLUMN_TIME,   /* us since the row before */
	GECKO_COLUMN_CPU,    /* us */
	GECKO_COLUMN_WEIGHT, /* thread-samples */
	GECKO_COLUMN_MARKS,  /* of markers: kind, start and end in us */
	GECKO_COLUMN_COUNT
};

/*
 * One thread of the file. Times are us since the file's time 0. gaps counts rows without a stack,
 * which stand for no thread-sample; last has the replay's ids, and thread 0 when there is nothing
 * to compare with.
 */
struct gecko_thread {
	uint64_t rows, samples, gaps, markers;
	uint64_t cpu_ns, cpu_told_us;
	uint32_t streams[GECKO_COLUMN_COUNT];
	uint64_t tick;      /* number of the last tick it was in */
	int64_t seen, told; /* time of that tick, of the last row */
	struct sample last; /* of that tick */
	stack_id stack;     /* what its stack is in the file */
	bool weighted;      /* a row has a weight above 1 */
	struct {
		uint64_t count; /* thread-samples that wait to be one row */
		int64_t start;  /* of the first of them */
	} idle;
	uint32_t marks; /* open markers */
	int64_t mark_start[GECKO_MARK_COUNT];
};

struct gecko_rows {
	struct gecko_tables *tables;
	struct scratch *scratch;
	struct gecko_thread *threads; /* [id - 1] by ids of carry_thread */
	size_t count, capacity;
	bool merge;
	nanoseconds zero;     /* the file's time 0 */
	nanoseconds interval; /* how long a thread-sample is taken to hold when nothing follows */
	uint64_t ticks, samples, rows, torn, markers;
	/* Told now and then while writing, with the share that is done; false cancels. */
	bool (*going)(void *context, double done);
	void *context;
	uint64_t written, pieces; /* numbers that are written, and pieces of streams */
};

/* tables and scratch are borrowed. */
void gecko_rows_open(struct gecko_rows *r, struct gecko_tables *tables, struct scratch *scratch,
		     bool merge, nanoseconds zero, nanoseconds interval);
void gecko_rows_close(struct gecko_rows *r);

/* ST_CANNOT_WRITE (errno kept), ST_NO_MEMORY, ST_TOO_BIG, ST_BAD_DATA. */
enum status gecko_rows_tick(struct gecko_rows *r, const struct tick *tick,
			    const struct sample *samples, size_t count) MUST_CHECK;

/* The cut: idle runs and markers that are open end here. */
enum status gecko_rows_end(struct gecko_rows *r, nanoseconds end) MUST_CHECK;

/*
 * "samples" and "markers" of one thread: two members of an object that is open. ST_BAD_DATA: a
 * column does not have the rows that were counted.
 */
enum status gecko_rows_write(struct gecko_rows *r, const struct gecko_thread *t,
			     struct json *j) MUST_CHECK;

#endif
