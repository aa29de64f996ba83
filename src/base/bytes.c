/*
 * bytes: reading slices that are not ours, and building our own.
 *
 * Invariant: no read leaves its slice, whatever the offset; a cursor that ran over stays at its end
 * and gives zeros; a buffer never passes its limit, and one that failed is never written again
 * until it is cleared. The appends are called for every row of every sample: each checks the room
 * once and leaves the growing to a cold function.
 *
 * Called by every parser (target, python, replay) and by the spool.
 */
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

#define VARINT_MAX 10 /* bytes of the longest varint of 64 bits */
#define FIRST_CAPACITY 64

static uint16_t load_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t load_u32(const uint8_t *p)
{
	return load_u16(p) | (uint32_t)load_u16(p + 2) << 16;
}

static uint64_t load_u64(const uint8_t *p)
{
	return load_u32(p) | (uint64_t)load_u32(p + 4) << 32;
}

static bool inside(struct bytes b, size_t offset, size_t size)
{
	return offset <= b.size && size <= b.size - offset;
}

struct bytes bytes_part(struct bytes b, size_t offset, size_t size)
{
	if (!size || !inside(b, offset, size))
		return (struct bytes){ NULL, 0 };
	return (struct bytes){ b.data + offset, size };
}

bool bytes_u8(struct bytes b, size_t offset, uint8_t *v)
{
	if (!inside(b, offset, sizeof(*v)))
		return false;
	*v = b.data[offset];
	return true;
}

bool bytes_u16(struct bytes b, size_t offset, uint16_t *v)
{
	if (!inside(b, offset, sizeof(*v)))
		return false;
	*v = load_u16(b.data + offset);
	return true;
}

bool bytes_u32(struct bytes b, size_t offset, uint32_t *v)
{
	if (!inside(b, offset, sizeof(*v)))
		return false;
	*v = load_u32(b.data + offset);
	return true;
}

bool bytes_u64(struct bytes b, size_t offset, uint64_t *v)
{
	if (!inside(b, offset, sizeof(*v)))
		return false;
	*v = load_u64(b.data + offset);
	return true;
}

struct cursor cursor_over(struct bytes b)
{
	return (struct cursor){ .bytes = b };
}

size_t cursor_left(const struct cursor *c)
{
	return c->bytes.size - c->at;
}

/* The next size bytes, or NULL and overrun. */
static const uint8_t *advance(struct cursor *c, size_t size)
{
	const uint8_t *p;

	if (c->overrun || size > cursor_left(c)) {
		c->overrun = true;
		c->at = c->bytes.size;
		return NULL;
	}
	p = c->bytes.data + c->at;
	c->at += size;
	return p;
}

uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = advance(c, 1);

	return p ? *p : 0;
}

uint16_t cursor_u16(struct cursor *c)
{
	const uint8_t *p = advance(c, 2);

	return p ? load_u16(p) : 0;
}

uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = advance(c, 4);

	return p ? load_u32(p) : 0;
}

uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = advance(c, 8);

	return p ? load_u64(p) : 0;
}

uint64_t cursor_varint(struct cursor *c)
{
	size_t left = cursor_left(c);
	uint64_t v = 0;

	for (size_t i = 0; i < VARINT_MAX && i < left; i++) {
		uint8_t byte = c->bytes.data[c->at + i];

		if (i == VARINT_MAX - 1 && byte > 1)
			break; /* more than 64 bits */
		v |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			c->at += i + 1;
			return v;
		}
	}
	c->overrun = true;
	c->at = c->bytes.size;
	return 0;
}

int64_t cursor_svarint(struct cursor *c)
{
	uint64_t v = cursor_varint(c);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

struct bytes cursor_take(struct cursor *c, size_t size)
{
	const uint8_t *p = size ? advance(c, size) : NULL;

	return (struct bytes){ p, p ? size : 0 };
}

void buffer_init(struct buffer *b, size_t limit)
{
	*b = (struct buffer){ .limit = limit };
}

void buffer_free(struct buffer *b)
{
	free(b->data);
	buffer_init(b, b->limit);
}

void buffer_clear(struct buffer *b)
{
	b->size = 0;
	b->failed = false;
}

/* Make room for size more bytes, half again at least. */
static __attribute__((noinline, cold)) bool grow(struct buffer *b, size_t size)
{
	size_t next = b->capacity + b->capacity / 2;
	uint8_t *moved;

	if (b->failed)
		return false;
	b->failed = true;
	if (size > b->limit - b->size)
		return false;
	if (next < FIRST_CAPACITY)
		next = FIRST_CAPACITY;
	if (next < b->size + size)
		next = b->size + size;
	if (next > b->limit)
		next = b->limit;
	moved = realloc(b->data, next);
	if (!moved)
		return false;
	b->data = moved;
	b->capacity = next;
	b->failed = false;
	return true;
}

/* Where size more bytes go, counted in already; NULL when they cannot. */
static inline uint8_t *extend(struct buffer *b, size_t size)
{
	uint8_t *p;

	if (__builtin_expect(b->failed || size > b->capacity - b->size, 0) && !grow(b, size))
		return NULL;
	p = b->data + b->size;
	b->size += size;
	return p;
}

void buffer_add(struct buffer *b, const void *data, size_t size)
{
	uint8_t *p = size ? extend(b, size) : NULL;

	if (p)
		memcpy(p, data, size);
}

void buffer_u8(struct buffer *b, uint8_t v)
{
	uint8_t *p = extend(b, 1);

	if (p)
		*p = v;
}

static inline void store(struct buffer *b, uint64_t v, size_t size)
{
	uint8_t *p = extend(b, size);

	if (!p)
		return;
	for (size_t i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

void buffer_u16(struct buffer *b, uint16_t v)
{
	store(b, v, sizeof(v));
}

void buffer_u32(struct buffer *b, uint32_t v)
{
	store(b, v, sizeof(v));
}

void buffer_u64(struct buffer *b, uint64_t v)
{
	store(b, v, sizeof(v));
}

void buffer_varint(struct buffer *b, uint64_t v)
{
	size_t size = 1;
	uint8_t *p;

	for (uint64_t rest = v >> 7; rest; rest >>= 7)
		size++;
	p = extend(b, size);
	if (!p)
		return;
	for (; v > 0x7f; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p = (uint8_t)v;
}

void buffer_svarint(struct buffer *b, int64_t v)
{
	buffer_varint(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}
