/*
 * replay_blocks: walks the blocks of one segment's file. It may be anything: nothing is read past
 * its known size, and no block is handed out before its checksum held.
 */
#ifndef PYTOP_RECORD_REPLAY_BLOCKS_H
#define PYTOP_RECORD_REPLAY_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "record/segment.h"
#include "record/spool_format.h"

#define REPLAY_WINDOW (16u << 10)

struct replay_blocks {
	int fd;                        /* borrowed */
	uint64_t size;                 /* bytes of the file that count */
	uint64_t at;                   /* of the next block's header */
	uint8_t window[REPLAY_WINDOW]; /* what was read ahead, from window_at on */
	uint64_t window_at;
	size_t window_size;
	uint8_t header[sizeof(struct spool_block)]; /* of the block that replay_blocks_next gave */
	struct buffer payload;
};

void replay_blocks_open(struct replay_blocks *b);
void replay_blocks_close(struct replay_blocks *b);

/*
 * Begin with a file: reads the segment's header (freed by the caller). ST_SPOOL_FORMAT: no log of
 * this format; ST_BAD_DATA: damaged; ST_NO_MEMORY.
 */
enum status replay_blocks_begin(struct replay_blocks *b, int fd, uint64_t size,
				struct segment *segment) MUST_CHECK;

/*
 * The header of the next block; at is moved behind its payload. ST_ENDED: no more; ST_BAD_DATA:
 * what follows is no block, or not all of one.
 */
enum status replay_blocks_next(struct replay_blocks *b, struct spool_block *block) MUST_CHECK;

/* The payload of that block, good until the next one is read. ST_BAD_DATA, ST_NO_MEMORY. */
enum status replay_blocks_payload(struct replay_blocks *b, struct bytes *payload) MUST_CHECK;

#endif
