/*
 * block: one block of a log (spool_format.h): built at the end of a buffer, and taken apart from
 * bytes that may be anything.
 */
#ifndef PYTOP_RECORD_BLOCK_H
#define PYTOP_RECORD_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"
#include "record/spool_format.h"

/* What the columns of a kind are. They are SPOOL_COLUMN's from first to first + count - 1. */
struct block_columns {
	enum spool_column first;
	unsigned int count;
};
struct block_columns block_columns_of(enum spool_kind kind);
enum spool_kind block_column_kind(enum spool_column column);
const char *block_column_name(enum spool_column column);
enum spool_type block_column_type(enum spool_column column);

/* ---- writing */

/* Begin a block: what is added to out until block_end is its payload. */
size_t block_begin(struct buffer *out, enum spool_kind kind, uint32_t rows, nanoseconds first,
		   nanoseconds last);
void block_end(struct buffer *out, size_t begun);

/* A whole block of one set of columns, which are cleared. */
void block_write(struct buffer *out, enum spool_kind kind, uint32_t rows, nanoseconds first,
		 nanoseconds last, struct buffer *columns);

/* ---- reading */

/* Where each column that a segment has stands in the blocks of that segment. */
#define BLOCK_COLUMNS_MAX 64 /* of one kind, unknown ones included */
struct block_layout {
	uint8_t count[SPOOL_KIND_COUNT];
	uint8_t column[SPOOL_KIND_COUNT][BLOCK_COLUMNS_MAX]; /* SPOOL_COLUMN_COUNT: not known */
};

/* Add one column of the segment's list. false: more than there may be. */
bool block_layout_add(struct block_layout *layout, uint8_t kind, uint8_t type, struct bytes name);

/* Decode a header. ST_BAD_DATA: it is none, or claims more than may be. */
enum status block_parse(struct bytes header, struct spool_block *block) MUST_CHECK;
/* Is this the payload that the header was made for? */
bool block_is_whole(struct bytes header, struct bytes payload);

/*
 * Split a set of columns of this kind, at the cursor, into cursors: columns[c - first] for column c
 * of the kind; one that the segment does not have is empty. First the sizes, then the data.
 * false: it does not hold together.
 */
bool block_sizes(struct cursor *c, const struct block_layout *layout, enum spool_kind kind,
		 uint32_t sizes[BLOCK_COLUMNS_MAX]);
bool block_split(struct cursor *c, const struct block_layout *layout, enum spool_kind kind,
		 const uint32_t sizes[BLOCK_COLUMNS_MAX], struct cursor *columns);

#endif
