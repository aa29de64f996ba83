/*
 * replay_blocks: one segment's file, block by block.
 *
 * Headers are read through a window, so that walking over a log of small blocks costs few system
 * calls, and walking over big ones reads little. Files are read by position only: several replays
 * may share one descriptor. A read that fails is damage like any other.
 */
#include "record/replay_blocks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "record/block.h"

void replay_blocks_open(struct replay_blocks *b)
{
	memset(b, 0, sizeof(*b));
	b->fd = -1;
	buffer_init(&b->payload, SPOOL_BLOCK_MAX);
}

void replay_blocks_close(struct replay_blocks *b)
{
	buffer_free(&b->payload);
}

/* Read up to size bytes at a position; returns how many there were. */
static size_t read_at(int fd, uint64_t at, uint8_t *into, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, into + done, size - done, (off_t)(at + done));

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			break;
	}
	return done;
}

/* size bytes (at most a window) at a position, or NULL when they are not all there. */
static const uint8_t *look(struct replay_blocks *b, uint64_t at, size_t size)
{
	if (at > b->size || size > b->size - at)
		return NULL;
	if (at < b->window_at || at + size > b->window_at + b->window_size) {
		uint64_t left = b->size - at;

		b->window_at = at;
		b->window_size = read_at(b->fd, at, b->window,
					 left < REPLAY_WINDOW ? (size_t)left : REPLAY_WINDOW);
		if (size > b->window_size)
			return NULL;
	}
	return b->window + (at - b->window_at);
}

/* Fill the payload buffer with size bytes of the file. */
static enum status load(struct replay_blocks *b, uint64_t at, size_t size)
{
	static const uint8_t nothing[4096];
	const uint8_t *near = size <= REPLAY_WINDOW ? look(b, at, size) : NULL;

	buffer_clear(&b->payload);
	if (near) {
		buffer_add(&b->payload, near, size);
		return b->payload.failed ? ST_NO_MEMORY : ST_OK;
	}
	if (at > b->size || size > b->size - at)
		return ST_BAD_DATA;
	while (b->payload.size < size && !b->payload.failed) {
		size_t left = size - b->payload.size;

		buffer_add(&b->payload, nothing, left < sizeof(nothing) ? left : sizeof(nothing));
	}
	if (b->payload.failed)
		return ST_NO_MEMORY;
	return read_at(b->fd, at, b->payload.data, size) == size ? ST_OK : ST_BAD_DATA;
}

enum status replay_blocks_begin(struct replay_blocks *b, int fd, uint64_t size,
				struct segment *segment)
{
	const uint8_t *start;
	uint32_t header_size;
	enum status st;

	b->fd = fd;
	b->size = size;
	b->at = 0;
	b->window_size = 0;
	start = look(b, 0, sizeof(struct spool_header));
	if (!start)
		return ST_BAD_DATA;
	st = segment_size((struct bytes){ start, sizeof(struct spool_header) }, &header_size);
	if (st == ST_OK)
		st = load(b, 0, header_size);
	if (st == ST_OK)
		st = segment_read((struct bytes){ b->payload.data, b->payload.size }, segment);
	if (st == ST_OK)
		b->at = header_size;
	return st;
}

enum status replay_blocks_next(struct replay_blocks *b, struct spool_block *block)
{
	const uint8_t *header;
	enum status st;

	if (b->at == b->size)
		return ST_ENDED;
	header = look(b, b->at, sizeof(b->header));
	if (!header)
		return ST_BAD_DATA;
	memcpy(b->header, header, sizeof(b->header));
	st = block_parse((struct bytes){ b->header, sizeof(b->header) }, block);
	if (st != ST_OK)
		return st;
	if (block->bytes > b->size - b->at - sizeof(b->header))
		return ST_BAD_DATA;
	b->at += sizeof(b->header) + block->bytes;
	return ST_OK;
}

enum status replay_blocks_payload(struct replay_blocks *b, struct bytes *payload)
{
	const struct bytes header = { b->header, sizeof(b->header) };
	struct spool_block block;
	enum status st = block_parse(header, &block);

	if (st != ST_OK)
		return st;
	if (block.codec != SPOOL_PLAIN || block.plain != block.bytes)
		return ST_BAD_DATA;
	st = load(b, b->at - block.bytes, block.bytes);
	if (st != ST_OK)
		return st;
	*payload = (struct bytes){ b->payload.data, b->payload.size };
	return block_is_whole(header, *payload) ? ST_OK : ST_BAD_DATA;
}
