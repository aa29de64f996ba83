/*
 * spool_define: the definitions of a segment: which of names' ids have which number in it, and the
 * columns of STRINGS, FUNCTIONS, FRAMES and STACKS that were not written yet. For spool.c alone.
 */
#ifndef PYTOP_RECORD_SPOOL_DEFINE_H
#define PYTOP_RECORD_SPOOL_DEFINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "record/names.h"
#include "record/spool_format.h"

/* By id of names: its number in the segment, 0: not defined there. */
struct spool_numbers {
	uint32_t *number;
	size_t count;  /* in memory */
	uint32_t last; /* number given */
	uint32_t rows; /* given since the last spool_define_write */
};

struct spool_define {
	const struct names *names;
	struct spool_numbers strings, functions, frames, stacks;
	struct buffer columns[SPOOL_STACKS_FRAME +
			      1]; /* by enum spool_column; the definitions come first */
	uint32_t *path;           /* scratch: stacks from a leaf to one that is defined */
	size_t path_size;
};

void spool_define_open(struct spool_define *d, const struct names *names);
void spool_define_close(struct spool_define *d);
/* A new segment: nothing is defined, what was not written is dropped. */
void spool_define_clear(struct spool_define *d);

/* The number of a string or a stack in this segment, defined when it must. ST_NO_MEMORY. */
enum status spool_define_string(struct spool_define *d, string_id id, uint32_t *number) MUST_CHECK;
enum status spool_define_stack(struct spool_define *d, stack_id id, uint32_t *number) MUST_CHECK;

/* Bytes that wait to be written. */
size_t spool_define_bytes(const struct spool_define *d);
/* Append the blocks of what waits to out. */
void spool_define_write(struct spool_define *d, struct buffer *out, nanoseconds first,
			nanoseconds last);

#endif
