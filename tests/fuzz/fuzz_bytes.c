/*
 * A cursor driven by its own input: each byte chooses the next read. It must never leave its slice,
 * its position never go back, and what a buffer writes must be read again as it was.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void read_one(struct cursor *c, struct buffer *copy)
{
	switch (cursor_u8(c) & 7) {
	case 0:
		buffer_u8(copy, cursor_u8(c));
		break;
	case 1:
		buffer_u16(copy, cursor_u16(c));
		break;
	case 2:
		buffer_u32(copy, cursor_u32(c));
		break;
	case 3:
		buffer_u64(copy, cursor_u64(c));
		break;
	case 4:
		buffer_varint(copy, cursor_varint(c));
		break;
	case 5:
		buffer_svarint(copy, cursor_svarint(c));
		break;
	default: {
		struct bytes taken = cursor_take(c, cursor_varint(c));

		buffer_add(copy, taken.data, taken.size);
	}
	}
}

static void again(uint64_t v)
{
	struct buffer b;
	struct cursor c;

	buffer_init(&b, 64);
	buffer_varint(&b, v);
	buffer_svarint(&b, (int64_t)v);
	c = cursor_over((struct bytes){ b.data, b.size });
	expect(cursor_varint(&c) == v && (uint64_t)cursor_svarint(&c) == v);
	expect(!c.overrun && !cursor_left(&c));
	buffer_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes all = { data, size };
	struct cursor c = cursor_over(all);
	struct buffer copy;
	uint64_t v;

	buffer_init(&copy, size / 2);
	while (cursor_left(&c)) {
		size_t left = cursor_left(&c);

		read_one(&c, &copy);
		expect(cursor_left(&c) < left);
		expect(copy.size <= copy.limit);
	}
	buffer_free(&copy);
	for (size_t at = 0; at < size; at++)
		if (bytes_u64(all, at, &v))
			again(v >> (data[at] & 63));
	return 0;
}
