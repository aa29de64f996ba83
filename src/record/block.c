/*
 * block: the frame around every piece of a log: a header that says what it is, how long, and
 * whether it is whole.
 *
 * Writing never fails by itself: a buffer that could not grow says so at the end. Reading trusts
 * nothing: whatever a header says is checked against what may be before it is used. Called by the
 * spool and the replay.
 */
#include "record/block.h"

#include <string.h>
#include <zlib.h>

static const struct {
	uint8_t kind, type;
	const char *name;
} columns_known[SPOOL_COLUMN_COUNT] = {
#define X(kind, column, name, type) { SPOOL_##kind, type, name },
	SPOOL_COLUMN_TABLE(X)
#undef X
};

struct block_columns block_columns_of(enum spool_kind kind)
{
	struct block_columns columns = { 0, 0 };

	for (unsigned int c = 0; c < SPOOL_COLUMN_COUNT; c++) {
		if (columns_known[c].kind == kind && !columns.count++)
			columns.first = (enum spool_column)c;
	}
	return columns;
}

enum spool_kind block_column_kind(enum spool_column column)
{
	return (enum spool_kind)columns_known[column].kind;
}

const char *block_column_name(enum spool_column column)
{
	return columns_known[column].name;
}

enum spool_type block_column_type(enum spool_column column)
{
	return (enum spool_type)columns_known[column].type;
}

/* ---- writing */

static void store_u32(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

size_t block_begin(struct buffer *out, enum spool_kind kind, uint32_t rows, nanoseconds first,
		   nanoseconds last)
{
	size_t begun = out->size;

	buffer_u32(out, SPOOL_BLOCK_MAGIC);
	buffer_u8(out, (uint8_t)kind);
	buffer_u8(out, SPOOL_PLAIN);
	buffer_u16(out, 0);
	buffer_u32(out, rows);
	buffer_u32(out, 0);
	buffer_u32(out, 0);
	buffer_u32(out, 0);
	buffer_u64(out, (uint64_t)first);
	buffer_u64(out, (uint64_t)last);
	return begun;
}

/* Of the payload, continued over the header, in which the place of the sum itself is 0. */
static uint32_t checksum(const uint8_t *header, const uint8_t *payload, size_t size)
{
	uint8_t copy[sizeof(struct spool_block)];
	uLong crc = crc32(0, NULL, 0);

	memcpy(copy, header, sizeof(copy));
	store_u32(copy + offsetof(struct spool_block, crc32), 0);
	if (size)
		crc = crc32(crc, payload, (uInt)size);
	return (uint32_t)crc32(crc, copy, sizeof(copy));
}

void block_end(struct buffer *out, size_t begun)
{
	size_t size;
	uint8_t *header;

	if (out->failed)
		return;
	header = out->data + begun;
	size = out->size - begun - sizeof(struct spool_block);
	if (size > SPOOL_BLOCK_MAX) {
		out->failed = true;
		return;
	}
	store_u32(header + offsetof(struct spool_block, bytes), (uint32_t)size);
	store_u32(header + offsetof(struct spool_block, plain), (uint32_t)size);
	store_u32(header + offsetof(struct spool_block, crc32),
		  checksum(header, header + sizeof(struct spool_block), size));
}

void block_write(struct buffer *out, enum spool_kind kind, uint32_t rows, nanoseconds first,
		 nanoseconds last, struct buffer *columns)
{
	unsigned int count = block_columns_of(kind).count;
	size_t begun = block_begin(out, kind, rows, first, last);

	for (unsigned int i = 0; i < count; i++)
		buffer_varint(out, columns[i].size);
	for (unsigned int i = 0; i < count; i++) {
		buffer_add(out, columns[i].data, columns[i].size);
		out->failed |= columns[i].failed;
		buffer_clear(&columns[i]);
	}
	block_end(out, begun);
}

/* ---- reading */

/* The column of this kind, type and name that this pytop knows, or SPOOL_COLUMN_COUNT. */
static uint8_t known_column(uint8_t kind, uint8_t type, struct bytes name)
{
	uint8_t c = 0;

	for (; c < SPOOL_COLUMN_COUNT; c++) {
		if (columns_known[c].kind == kind && columns_known[c].type == type &&
		    strlen(columns_known[c].name) == name.size &&
		    !memcmp(columns_known[c].name, name.data, name.size))
			break;
	}
	return c;
}

bool block_layout_add(struct block_layout *layout, uint8_t kind, uint8_t type, struct bytes name)
{
	uint8_t column;

	if (!kind || kind >= SPOOL_KIND_COUNT)
		return true;
	if (layout->count[kind] == BLOCK_COLUMNS_MAX)
		return false;
	column = name.size ? known_column(kind, type, name) : SPOOL_COLUMN_COUNT;
	layout->column[kind][layout->count[kind]++] = column;
	return true;
}

enum status block_parse(struct bytes header, struct spool_block *block)
{
	struct cursor c = cursor_over(header);
	struct spool_block b;

	b.magic = cursor_u32(&c);
	b.kind = cursor_u8(&c);
	b.codec = cursor_u8(&c);
	b.reserved = cursor_u16(&c);
	b.rows = cursor_u32(&c);
	b.bytes = cursor_u32(&c);
	b.plain = cursor_u32(&c);
	b.crc32 = cursor_u32(&c);
	b.first = (int64_t)cursor_u64(&c);
	b.last = (int64_t)cursor_u64(&c);
	if (c.overrun || b.magic != SPOOL_BLOCK_MAGIC || !b.kind || b.bytes > SPOOL_BLOCK_MAX ||
	    b.plain > SPOOL_BLOCK_MAX || b.first < 0 || b.last < b.first)
		return ST_BAD_DATA;
	*block = b;
	return ST_OK;
}

bool block_is_whole(struct bytes header, struct bytes payload)
{
	uint32_t bytes, crc;

	return header.size == sizeof(struct spool_block) &&
	       bytes_u32(header, offsetof(struct spool_block, bytes), &bytes) &&
	       bytes_u32(header, offsetof(struct spool_block, crc32), &crc) &&
	       bytes == payload.size && checksum(header.data, payload.data, payload.size) == crc;
}

bool block_sizes(struct cursor *c, const struct block_layout *layout, enum spool_kind kind,
		 uint32_t sizes[BLOCK_COLUMNS_MAX])
{
	for (unsigned int i = 0; i < layout->count[kind]; i++) {
		uint64_t size = cursor_varint(c);

		if (size > SPOOL_BLOCK_MAX)
			return false;
		sizes[i] = (uint32_t)size;
	}
	return !c->overrun;
}

bool block_split(struct cursor *c, const struct block_layout *layout, enum spool_kind kind,
		 const uint32_t sizes[BLOCK_COLUMNS_MAX], struct cursor *columns)
{
	struct block_columns known = block_columns_of(kind);

	for (unsigned int i = 0; i < known.count; i++)
		columns[i] = cursor_over((struct bytes){ NULL, 0 });
	for (unsigned int i = 0; i < layout->count[kind]; i++) {
		struct bytes data = cursor_take(c, sizes[i]);

		if (c->overrun)
			return false;
		if (layout->column[kind][i] != SPOOL_COLUMN_COUNT)
			columns[layout->column[kind][i] - known.first] = cursor_over(data);
	}
	return true;
}
