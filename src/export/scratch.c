/*
 * scratch: streams of records, spilled to an unnamed file when their buffers are full.
 *
 * Invariant: a stream is a chain of chunks in the file followed by what its buffer holds. A chunk
 * begins with the offset of the next one (0: the last), patched in when that is written, so a
 * stream costs two offsets of memory however long it grows. A record lies in one chunk. Buffers
 * grow by doubling up to a chunk; when all together pass the limit, all are spilled and freed.
 *
 * Called by the gecko exporter.
 */
#include "export/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

#define CHUNK_SIZE 4096
#define HEADER_SIZE 16 /* u64 next chunk, u32 size of the records, u32 unused */
#define BUFFER_FIRST 128
#define MEMORY_DEFAULT (8u << 20)
#define STREAMS_MAX (1u << 24)

struct stream {
	uint64_t first, last; /* chunks; 0: none */
	uint8_t *buffer;      /* HEADER_SIZE bytes of room, then records; NULL when empty */
	uint32_t size, capacity;
};

struct scratch {
	int fd;
	uint64_t end; /* of the file; starts at HEADER_SIZE so that no chunk is at 0 */
	struct stream *streams;
	size_t count, capacity;
	size_t memory, limit; /* of all buffers */
	struct {
		const struct stream *stream;
		uint64_t next;
		bool buffered; /* the buffer is still to come */
		uint8_t chunk[CHUNK_SIZE];
	} reader;
};

static int open_unnamed(const char *folder)
{
	char *name;
	int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	name = alloc_format("%s/pytop-XXXXXX", folder); /* a file system without O_TMPFILE */
	fd = name ? mkostemp(name, O_CLOEXEC) : -1;
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

enum status scratch_open(struct scratch **scratch, size_t memory)
{
	const char *const folders[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	struct scratch *s = calloc(1, sizeof(*s));

	if (!s)
		return ST_NO_MEMORY;
	s->fd = -1;
	s->end = HEADER_SIZE;
	s->limit = memory ? memory : MEMORY_DEFAULT;
	for (size_t i = 0; s->fd < 0 && i < sizeof(folders) / sizeof(folders[0]); i++)
		if (folders[i] && *folders[i])
			s->fd = open_unnamed(folders[i]);
	if (s->fd < 0) {
		free(s);
		return ST_CANNOT_WRITE;
	}
	*scratch = s;
	return ST_OK;
}

void scratch_close(struct scratch *s)
{
	int kept = errno;

	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->streams[i].buffer);
	free(s->streams);
	close(s->fd);
	free(s);
	errno = kept;
}

enum status scratch_stream(struct scratch *s, uint32_t *stream)
{
	void *streams = s->streams;
	enum status status =
		alloc_grow(&streams, &s->capacity, s->count + 1, STREAMS_MAX, sizeof(*s->streams));

	if (status != ST_OK)
		return status;
	s->streams = streams;
	*stream = (uint32_t)s->count++;
	return ST_OK;
}

static enum status write_at(struct scratch *s, uint64_t offset, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t n = pwrite(s->fd, data, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n < 0 ? errno : EIO;
			return ST_CANNOT_WRITE;
		}
		data += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return ST_OK;
}

/* Exactly size bytes; a file that is shorter than what was written to it is an error. */
static enum status read_at(struct scratch *s, uint64_t offset, uint8_t *data, size_t size)
{
	while (size) {
		ssize_t n = pread(s->fd, data, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n < 0 ? errno : EIO;
			return ST_CANNOT_WRITE;
		}
		data += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return ST_OK;
}

/* The buffer becomes the last chunk of the chain. */
static enum status spill(struct scratch *s, struct stream *t)
{
	uint32_t size = t->size;
	enum status status;

	if (!size)
		return ST_OK;
	memset(t->buffer, 0, HEADER_SIZE);
	memcpy(t->buffer + sizeof(uint64_t), &size, sizeof(size));
	status = write_at(s, s->end, t->buffer, HEADER_SIZE + size);
	if (status == ST_OK && t->last)
		status = write_at(s, t->last, (const uint8_t *)&s->end, sizeof(s->end));
	if (status != ST_OK)
		return status;
	if (!t->first)
		t->first = s->end;
	t->last = s->end;
	s->end += HEADER_SIZE + size;
	t->size = 0;
	return ST_OK;
}

static enum status spill_all(struct scratch *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct stream *t = &s->streams[i];
		enum status status = spill(s, t);

		if (status != ST_OK)
			return status;
		free(t->buffer);
		t->buffer = NULL;
		t->capacity = 0;
	}
	s->memory = 0;
	return ST_OK;
}

/* Make room for size more bytes in the buffer, which is not as long as a chunk yet. */
static enum status widen(struct scratch *s, struct stream *t, size_t size)
{
	uint32_t capacity = t->capacity ? t->capacity : BUFFER_FIRST;
	enum status status = ST_OK;
	uint8_t *buffer;

	while (capacity < HEADER_SIZE + t->size + size)
		capacity *= 2;
	if (s->memory + capacity - t->capacity > s->limit) {
		status = spill_all(s);
		capacity = BUFFER_FIRST;
		while (capacity < HEADER_SIZE + size)
			capacity *= 2;
	}
	if (status != ST_OK)
		return status;
	buffer = realloc(t->buffer, capacity);
	if (!buffer)
		return ST_NO_MEMORY;
	s->memory += capacity - t->capacity;
	t->buffer = buffer;
	t->capacity = capacity;
	return ST_OK;
}

enum status scratch_add(struct scratch *s, uint32_t stream, const void *record, size_t size)
{
	struct stream *t = &s->streams[stream];
	enum status status = ST_OK;

	if (size > SCRATCH_RECORD_MAX)
		return ST_TOO_BIG;
	if (HEADER_SIZE + t->size + size > CHUNK_SIZE)
		status = spill(s, t);
	if (status == ST_OK && HEADER_SIZE + t->size + size > t->capacity)
		status = widen(s, t, size);
	if (status != ST_OK)
		return status;
	memcpy(t->buffer + HEADER_SIZE + t->size, record, size);
	t->size += (uint32_t)size;
	return ST_OK;
}

enum status scratch_rewind(struct scratch *s, uint32_t stream)
{
	if (stream >= s->count)
		return ST_BAD_DATA;
	s->reader.stream = &s->streams[stream];
	s->reader.next = s->reader.stream->first;
	s->reader.buffered = s->reader.stream->size > 0;
	return ST_OK;
}

static enum status read_chunk(struct scratch *s, struct bytes *piece)
{
	uint8_t *chunk = s->reader.chunk;
	enum status status = read_at(s, s->reader.next, chunk, HEADER_SIZE);
	uint64_t next;
	uint32_t size;

	if (status != ST_OK)
		return status;
	memcpy(&next, chunk, sizeof(next));
	memcpy(&size, chunk + sizeof(next), sizeof(size));
	if (size > CHUNK_SIZE - HEADER_SIZE)
		return ST_BAD_DATA;
	status = read_at(s, s->reader.next + HEADER_SIZE, chunk, size);
	if (status != ST_OK)
		return status;
	s->reader.next = next;
	*piece = (struct bytes){ chunk, size };
	return ST_OK;
}

enum status scratch_read(struct scratch *s, struct bytes *piece)
{
	if (s->reader.next)
		return read_chunk(s, piece);
	*piece = (struct bytes){ NULL, 0 };
	if (s->reader.buffered) {
		s->reader.buffered = false;
		*piece = (struct bytes){ s->reader.stream->buffer + HEADER_SIZE,
					 s->reader.stream->size };
	}
	return ST_OK;
}
