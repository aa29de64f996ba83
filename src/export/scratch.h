/*
 * scratch: many streams of small records in one unnamed file: what an export has gathered by
 * thread before it writes it out thread after thread. Memory is bounded whatever the number and
 * length of the streams; nothing is left on the disk however pytop ends.
 */
#ifndef PYTOP_EXPORT_SCRATCH_H
#define PYTOP_EXPORT_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define SCRATCH_RECORD_MAX 256

struct scratch;

/*
 * memory: bytes that all buffers together may take; 0: the default (8 MiB). ST_CANNOT_WRITE
 * (errno kept), ST_NO_MEMORY.
 */
enum status scratch_open(struct scratch **scratch, size_t memory) MUST_CHECK;
void scratch_close(struct scratch *s); /* NULL is fine */

/* A new, empty stream. */
enum status scratch_stream(struct scratch *s, uint32_t *stream) MUST_CHECK;

/*
 * Append one record, at most SCRATCH_RECORD_MAX bytes. ST_CANNOT_WRITE (errno kept),
 * ST_NO_MEMORY.
 */
enum status scratch_add(struct scratch *s, uint32_t stream, const void *record,
			size_t size) MUST_CHECK;

/*
 * Read a stream from its start, whole records at a time. scratch_read gives the next piece, valid
 * until the next call of any scratch function; an empty piece is the end. Nothing may be added in
 * between.
 */
enum status scratch_rewind(struct scratch *s, uint32_t stream) MUST_CHECK;
enum status scratch_read(struct scratch *s, struct bytes *piece) MUST_CHECK;

#endif
