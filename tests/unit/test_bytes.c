/* Slices, cursors and buffers at every edge: the last byte, one past it, offsets that wrap. */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"

static const uint8_t digits[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const struct bytes eight = { digits, sizeof(digits) };

START_TEST(integers_at_offsets)
{
	uint8_t a = 9;
	uint16_t b = 9;
	uint32_t c = 9;
	uint64_t d = 9;

	ck_assert(bytes_u8(eight, 7, &a) && a == 8);
	ck_assert(bytes_u16(eight, 6, &b) && b == 0x0807);
	ck_assert(bytes_u32(eight, 4, &c) && c == 0x08070605);
	ck_assert(bytes_u64(eight, 0, &d) && d == UINT64_C(0x0807060504030201));
}
END_TEST

START_TEST(outside_is_refused)
{
	const size_t offsets[] = { 8, 9, SIZE_MAX, SIZE_MAX - 3, SIZE_MAX - 7 };
	uint8_t a = 9;
	uint16_t b = 9;
	uint32_t c = 9;
	uint64_t d = 9;

	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		ck_assert(!bytes_u8(eight, offsets[i], &a));
		ck_assert(!bytes_u16(eight, offsets[i], &b));
		ck_assert(!bytes_u32(eight, offsets[i], &c));
		ck_assert(!bytes_u64(eight, offsets[i], &d));
		ck_assert_uint_eq(bytes_part(eight, offsets[i], 1).size, 0);
	}
	ck_assert(!bytes_u16(eight, 7, &b) && !bytes_u32(eight, 5, &c) && !bytes_u64(eight, 1, &d));
	ck_assert(a == 9 && b == 9 && c == 9 && d == 9);
}
END_TEST

START_TEST(parts)
{
	struct bytes part = bytes_part(eight, 2, 6);

	ck_assert(part.data == digits + 2 && part.size == 6);
	ck_assert_uint_eq(bytes_part(eight, 2, 7).size, 0);
	ck_assert_uint_eq(bytes_part(eight, 8, 0).size, 0);
	ck_assert_uint_eq(bytes_part(eight, 2, SIZE_MAX).size, 0);
}
END_TEST

START_TEST(cursor_in_order)
{
	struct cursor c = cursor_over(eight);

	ck_assert_uint_eq(cursor_u8(&c), 1);
	ck_assert_uint_eq(cursor_u16(&c), 0x0302);
	ck_assert_uint_eq(cursor_u32(&c), 0x07060504);
	ck_assert_uint_eq(cursor_left(&c), 1);
	ck_assert_ptr_eq(cursor_take(&c, 1).data, digits + 7);
	ck_assert(!cursor_left(&c) && !c.overrun);
	ck_assert(!cursor_take(&c, 0).size && !c.overrun);
	c = cursor_over(eight);
	ck_assert_uint_eq(cursor_u64(&c), UINT64_C(0x0807060504030201));
}
END_TEST

START_TEST(cursor_overrun_stays)
{
	struct cursor c = cursor_over(eight);

	cursor_u8(&c);
	ck_assert_uint_eq(cursor_u64(&c), 0);
	ck_assert(c.overrun);
	ck_assert_uint_eq(cursor_left(&c), 0);
	ck_assert_uint_eq(cursor_u8(&c), 0);
	ck_assert_uint_eq(cursor_varint(&c), 0);
	ck_assert_ptr_null(cursor_take(&c, 1).data);
	c = cursor_over(eight);
	ck_assert_uint_eq(cursor_take(&c, SIZE_MAX).size, 0);
	ck_assert(c.overrun);
	c = cursor_over((struct bytes){ NULL, 0 });
	ck_assert(!cursor_u8(&c) && c.overrun);
}
END_TEST

START_TEST(varints_round_trip)
{
	for (unsigned bit = 0; bit <= 64; bit++) {
		uint64_t base = bit < 64 ? UINT64_C(1) << bit : 0;

		for (uint64_t v = base - 1; v != base + 2; v++) {
			struct buffer b;
			struct cursor c;

			buffer_init(&b, 100);
			buffer_varint(&b, v);
			buffer_svarint(&b, (int64_t)v);
			c = cursor_over((struct bytes){ b.data, b.size });
			ck_assert_uint_eq(cursor_varint(&c), v);
			ck_assert_int_eq(cursor_svarint(&c), (int64_t)v);
			ck_assert(!c.overrun && !cursor_left(&c));
			buffer_free(&b);
		}
	}
}
END_TEST

START_TEST(small_numbers_take_one_byte)
{
	struct buffer b;

	buffer_init(&b, 100);
	buffer_varint(&b, 127);
	buffer_svarint(&b, -64);
	buffer_svarint(&b, 63);
	ck_assert_uint_eq(b.size, 3);
	buffer_varint(&b, UINT64_MAX);
	ck_assert_uint_eq(b.size, 13);
	buffer_free(&b);
}
END_TEST

START_TEST(bad_varints)
{
	static const uint8_t unfinished[] = { 0x80, 0x80 };
	static const uint8_t long_one[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					    0xff, 0xff, 0xff, 0x02, 0x01 };
	static const uint8_t eleven[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					  0x80, 0x80, 0x80, 0x80, 0x00 };
	const struct bytes all[] = { { unfinished, 2 }, { long_one, 11 }, { eleven, 11 } };

	for (size_t i = 0; i < 3; i++) {
		struct cursor c = cursor_over(all[i]);

		ck_assert_uint_eq(cursor_varint(&c), 0);
		ck_assert(c.overrun && !cursor_left(&c));
	}
}
END_TEST

START_TEST(buffer_builds)
{
	static const uint8_t expected[] = { 1, 2, 1, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1, 'x' };
	struct buffer b;

	buffer_init(&b, 100);
	buffer_u8(&b, 1);
	buffer_u16(&b, 0x0102);
	buffer_u32(&b, 0x01020304);
	buffer_u64(&b, UINT64_C(0x0102030405060708));
	buffer_add(&b, "x", 1);
	buffer_add(&b, NULL, 0);
	ck_assert_uint_eq(b.size, sizeof(expected));
	ck_assert_int_eq(memcmp(b.data, expected, sizeof(expected)), 0);
	buffer_free(&b);
	ck_assert(!b.data && !b.size && b.limit == 100);
}
END_TEST

START_TEST(buffer_limit)
{
	struct buffer b;

	buffer_init(&b, 100);
	for (int i = 0; i < 100; i++)
		buffer_u8(&b, (uint8_t)i);
	ck_assert(!b.failed && b.size == 100 && b.capacity == 100);
	buffer_u8(&b, 0);
	ck_assert(b.failed && b.size == 100);
	buffer_clear(&b);
	ck_assert(!b.failed && !b.size && b.capacity == 100);
	buffer_u64(&b, 1);
	buffer_add(&b, digits, SIZE_MAX);
	ck_assert(b.failed);
	buffer_u8(&b, 1); /* there is room, but a hole would be before it */
	ck_assert(b.failed && b.size == 8);
	buffer_free(&b);
}
END_TEST

UNIT_MAIN("bytes", integers_at_offsets, outside_is_refused, parts, cursor_in_order,
	  cursor_overrun_stays, varints_round_trip, small_numbers_take_one_byte, bad_varints,
	  buffer_builds, buffer_limit)
