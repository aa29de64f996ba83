/*
 * segment: the beginning of each file of a log: whose log it is, on which clocks, and which columns
 * the blocks have.
 *
 * Called by the spool (one header a segment) and by the replay, to which the bytes may be anything.
 */
#include "record/segment.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"

#define TEXT_MAX 65536 /* of version, name and command each */
#define COLUMNS_MAX 1024
#define RATE_MAX 1e12

/* ---- about */

static char *copy(const char *text)
{
	return alloc_string(text ? text : "", text ? strnlen(text, TEXT_MAX) : 0);
}

static void free_text(const char *text)
{
	free((void *)(uintptr_t)text);
}

void segment_about_free(struct spool_about *about)
{
	free_text(about->version);
	free_text(about->name);
	free_text(about->command);
	about->version = about->name = about->command = NULL;
}

enum status segment_about_copy(struct spool_about *to, const struct spool_about *from)
{
	struct spool_about about = *from;

	about.version = copy(from->version);
	about.name = copy(from->name);
	about.command = copy(from->command);
	if (!about.version || !about.name || !about.command) {
		segment_about_free(&about);
		return ST_NO_MEMORY;
	}
	*to = about;
	return ST_OK;
}

/* ---- writing */

static void put_text(struct buffer *out, const char *text)
{
	size_t size = text ? strnlen(text, TEXT_MAX) : 0;

	buffer_varint(out, size);
	buffer_add(out, text, size);
}

static void put_columns(struct buffer *out)
{
	for (unsigned int c = 0; c < SPOOL_COLUMN_COUNT; c++) {
		enum spool_column column = (enum spool_column)c;

		buffer_u8(out, (uint8_t)block_column_kind(column));
		buffer_u8(out, (uint8_t)block_column_type(column));
		put_text(out, block_column_name(column));
	}
}

/* What the checksum covers. */
static void put_body(struct buffer *out, const struct spool_about *about, uint32_t number,
		     uint32_t generation)
{
	buffer_u32(out, number);
	buffer_u32(out, generation);
	buffer_u32(out, about->life);
	buffer_u32(out, (uint32_t)about->pid);
	buffer_u64(out, (uint64_t)about->wall);
	buffer_u64(out, (uint64_t)about->monotonic);
	buffer_u64(out, (uint64_t)about->process_started);
	buffer_u64(out, (uint64_t)(about->rate_hz * 1000 + 0.5));
	buffer_u32(out, (uint32_t)(about->jitter_percent * 10 + 0.5));
	buffer_u32(out, about->free_threaded ? SPOOL_FREE_THREADED : 0);
	buffer_u32(out, SPOOL_COLUMN_COUNT);
	buffer_u32(out, 0);
	put_text(out, about->version);
	put_text(out, about->name);
	put_text(out, about->command);
	put_columns(out);
}

void segment_write(struct buffer *out, const struct spool_about *about, uint32_t number,
		   uint32_t generation)
{
	struct buffer body;
	const size_t before = offsetof(struct spool_header, segment);

	buffer_init(&body, SPOOL_HEADER_MAX - before);
	put_body(&body, about, number, generation);
	buffer_add(out, SPOOL_MAGIC, strlen(SPOOL_MAGIC));
	buffer_u32(out, SPOOL_FORMAT);
	buffer_u32(out, SPOOL_BYTE_ORDER);
	buffer_u32(out, (uint32_t)(before + body.size));
	buffer_u32(out, body.failed ? 0 : (uint32_t)crc32(0, body.data, (uInt)body.size));
	buffer_add(out, body.data, body.size);
	out->failed |= body.failed;
	buffer_free(&body);
}

/* ---- reading */

enum status segment_size(struct bytes start, uint32_t *size)
{
	uint32_t format, order, bytes;

	if (start.size < sizeof(struct spool_header) ||
	    memcmp(start.data, SPOOL_MAGIC, strlen(SPOOL_MAGIC)) != 0 ||
	    !bytes_u32(start, offsetof(struct spool_header, format), &format) ||
	    !bytes_u32(start, offsetof(struct spool_header, byte_order), &order) ||
	    !bytes_u32(start, offsetof(struct spool_header, bytes), &bytes) ||
	    format != SPOOL_FORMAT || order != SPOOL_BYTE_ORDER)
		return ST_SPOOL_FORMAT;
	if (bytes < sizeof(struct spool_header) || bytes > SPOOL_HEADER_MAX)
		return ST_BAD_DATA;
	*size = bytes;
	return ST_OK;
}

static struct bytes take_text(struct cursor *c)
{
	uint64_t size = cursor_varint(c);

	if (size > TEXT_MAX) {
		c->overrun = true;
		return (struct bytes){ NULL, 0 };
	}
	return cursor_take(c, (size_t)size);
}

static bool take_columns(struct cursor *c, uint32_t count, struct block_layout *layout)
{
	if (count > COLUMNS_MAX)
		return false;
	for (uint32_t i = 0; i < count && !c->overrun; i++) {
		uint8_t kind = cursor_u8(c);
		uint8_t type = cursor_u8(c);
		struct bytes name = take_text(c);

		if (c->overrun || !block_layout_add(layout, kind, type, name))
			return false;
	}
	return !c->overrun;
}

/* The numbers that follow the checksum; returns how many columns are listed. */
static uint32_t take_numbers(struct cursor *c, struct segment *segment)
{
	struct spool_about *about = &segment->about;
	uint32_t columns;

	segment->number = cursor_u32(c);
	segment->generation = cursor_u32(c);
	about->life = cursor_u32(c);
	about->pid = (pid_t)cursor_u32(c);
	about->wall = (nanoseconds)cursor_u64(c);
	about->monotonic = (nanoseconds)cursor_u64(c);
	about->process_started = (nanoseconds)cursor_u64(c);
	about->rate_hz = (double)cursor_u64(c) / 1000;
	about->jitter_percent = (double)cursor_u32(c) / 10;
	about->free_threaded = cursor_u32(c) & SPOOL_FREE_THREADED;
	columns = cursor_u32(c);
	cursor_u32(c);
	if (about->wall < 0 || about->monotonic < 0 || about->process_started < 0 ||
	    about->pid < 0 || about->rate_hz > RATE_MAX || about->jitter_percent > 100)
		c->overrun = true;
	return columns;
}

enum status segment_read(struct bytes header, struct segment *segment)
{
	const size_t before = offsetof(struct spool_header, segment);
	struct segment read = { .bytes = 0 };
	struct bytes body, version, name, command;
	struct cursor c;
	uint32_t crc, columns;
	enum status st = segment_size(header, &read.bytes);

	if (st != ST_OK)
		return st;
	body = bytes_part(header, before, read.bytes - before);
	if (!body.size || !bytes_u32(header, offsetof(struct spool_header, crc32), &crc) ||
	    crc32(0, body.data, (uInt)body.size) != crc)
		return ST_BAD_DATA;
	c = cursor_over(body);
	columns = take_numbers(&c, &read);
	version = take_text(&c);
	name = take_text(&c);
	command = take_text(&c);
	if (c.overrun || !take_columns(&c, columns, &read.layout))
		return ST_BAD_DATA;
	read.about.version = alloc_string((const char *)version.data, version.size);
	read.about.name = alloc_string((const char *)name.data, name.size);
	read.about.command = alloc_string((const char *)command.data, command.size);
	if (!read.about.version || !read.about.name || !read.about.command) {
		segment_free(&read);
		return ST_NO_MEMORY;
	}
	*segment = read;
	return ST_OK;
}

void segment_free(struct segment *segment)
{
	segment_about_free(&segment->about);
}
