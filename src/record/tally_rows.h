/*
 * tally_rows: the part of a tally that belongs to functions and frames: sums of stacks that wait,
 * and the rows over which they are spread. For tally.c alone, which knows time and decay.
 */
#ifndef PYTOP_RECORD_TALLY_ROWS_H
#define PYTOP_RECORD_TALLY_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "record/names.h"
#include "record/pages.h"
#include "record/sample.h"
#include "record/tally.h"

struct tally_pending;

struct tally_rows {
	const struct names *names;
	struct pages functions, frames; /* struct tally_row by id */
	struct tally_pending *pending;  /* TALLY_PENDING of them: a ring, oldest first */
	size_t first, count;            /* of the ring */
	uint16_t *place; /* by stack: its place in the ring + 1; 0: it does not wait */
	size_t place_count;
	uint32_t *function_mark, *frame_mark; /* mark of the last stack on which it was counted */
	size_t function_mark_count, frame_mark_count;
	uint32_t mark;
	uint32_t settles;
	bool no_memory; /* something could not be counted for want of memory */
};

enum status tally_rows_open(struct tally_rows *r, const struct names *names) MUST_CHECK;
void tally_rows_close(struct tally_rows *r);

/*
 * Add one thread-sample (values in seconds; scale as in tally.c). ST_NO_MEMORY: something was
 * not counted.
 */
enum status tally_rows_add(struct tally_rows *r, const struct sample *s,
			   const struct tally_values *values, double scale) MUST_CHECK;

/* See tally_settle, tally_reset, tally_renew. */
size_t tally_rows_settle(struct tally_rows *r, size_t budget);
void tally_rows_reset(struct tally_rows *r);
enum status tally_rows_renew(struct tally_rows *r, struct names *names) MUST_CHECK;

/* Multiply every decayed sum. */
void tally_rows_scale(struct tally_rows *r, double factor);

#endif
