/*
 * segment: the header of a segment of the log (spool_format.h), written and read.
 */
#ifndef PYTOP_RECORD_SEGMENT_H
#define PYTOP_RECORD_SEGMENT_H

#include "base/bytes.h"
#include "base/status.h"
#include "record/block.h"
#include "record/spool.h"
#include "record/spool_format.h"

/* Append a header. */
void segment_write(struct buffer *out, const struct spool_about *about, uint32_t number,
		   uint32_t generation);

/* What a header said. */
struct segment {
	struct spool_about about; /* its strings are owned: segment_free */
	uint32_t number, generation;
	uint32_t bytes; /* of the header */
	struct block_layout layout;
};

/*
 * The size of the header, told by the first sizeof(struct spool_header) bytes. ST_SPOOL_FORMAT: not
 * a log, or not of this format; ST_BAD_DATA: damaged.
 */
enum status segment_size(struct bytes start, uint32_t *size) MUST_CHECK;
/* Read a whole header. As above, and ST_NO_MEMORY. */
enum status segment_read(struct bytes header, struct segment *segment) MUST_CHECK;
void segment_free(struct segment *segment);

/* about with copies of its strings; freed with segment_about_free. */
enum status segment_about_copy(struct spool_about *to, const struct spool_about *from) MUST_CHECK;
void segment_about_free(struct spool_about *about);

#endif
