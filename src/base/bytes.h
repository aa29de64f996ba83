/*
 * bytes: a slice of memory that is not ours, a cursor over it that cannot overrun, and a growing
 * buffer to build one. Integers are little-endian; varint is LEB128 (7 bits a byte, low first),
 * svarint the same after zigzag.
 */
#ifndef PYTOP_BASE_BYTES_H
#define PYTOP_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct bytes {
	const uint8_t *data;
	size_t size;
};

/* The part [offset, offset+size) of b, or an empty slice when it does not lie inside. */
struct bytes bytes_part(struct bytes b, size_t offset, size_t size);

/* Integers at an offset; false (and *v untouched) when they do not lie inside. */
bool bytes_u8(struct bytes b, size_t offset, uint8_t *v);
bool bytes_u16(struct bytes b, size_t offset, uint16_t *v);
bool bytes_u32(struct bytes b, size_t offset, uint32_t *v);
bool bytes_u64(struct bytes b, size_t offset, uint64_t *v);

/*
 * A cursor. A read past the end gives 0 and sets overrun for good, so a parser may check once at
 * the end of a record; loops are bounded by cursor_left().
 */
struct cursor {
	struct bytes bytes;
	size_t at;
	bool overrun;
};

struct cursor cursor_over(struct bytes b);
size_t cursor_left(const struct cursor *c);
uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
uint64_t cursor_varint(struct cursor *c);
int64_t cursor_svarint(struct cursor *c);
struct bytes cursor_take(struct cursor *c, size_t size);

/*
 * A growing buffer with a limit. Once an append failed (no memory, limit) failed stays set, further
 * appends do nothing, and what is inside must not be used.
 */
struct buffer {
	uint8_t *data;
	size_t size;
	size_t capacity;
	size_t limit;
	bool failed;
};

void buffer_init(struct buffer *b, size_t limit);
void buffer_free(struct buffer *b);
void buffer_clear(struct buffer *b); /* empty again; keeps its memory */
void buffer_add(struct buffer *b, const void *data, size_t size);
void buffer_u8(struct buffer *b, uint8_t v);
void buffer_u16(struct buffer *b, uint16_t v);
void buffer_u32(struct buffer *b, uint32_t v);
void buffer_u64(struct buffer *b, uint64_t v);
void buffer_varint(struct buffer *b, uint64_t v);
void buffer_svarint(struct buffer *b, int64_t v);

#endif
