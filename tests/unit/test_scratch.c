/*
 * scratch: what went into a stream comes out of it, in order, whatever happened to the others and
 * however little memory there is.
 */
#include "export/scratch.h"

#include <string.h>

#include "unit.h"

/* Records of stream s are s, count, count + 1 bytes of the count. */
static size_t make_record(uint8_t *out, uint32_t stream, uint32_t count)
{
	size_t n = count % 200;

	out[0] = (uint8_t)stream;
	out[1] = (uint8_t)n;
	memset(out + 2, (int)(count & 0xff), n);
	return n + 2;
}

static void check_stream(struct scratch *s, uint32_t stream, uint32_t records)
{
	struct bytes piece;
	uint32_t count = 0;

	ck_assert_int_eq(scratch_rewind(s, stream), ST_OK);
	for (;;) {
		ck_assert_int_eq(scratch_read(s, &piece), ST_OK);
		if (!piece.size)
			break;
		for (size_t at = 0; at < piece.size; count++) {
			uint8_t want[SCRATCH_RECORD_MAX];
			size_t n = make_record(want, stream, count);

			ck_assert_uint_le(at + n, piece.size); /* records are whole */
			ck_assert_int_eq(memcmp(piece.data + at, want, n), 0);
			at += n;
		}
	}
	ck_assert_uint_eq(count, records);
}

static void check_with(size_t memory)
{
	enum { STREAMS = 50, RECORDS = 20000 };
	uint32_t added[STREAMS] = { 0 }, random = 12345;
	struct scratch *s;

	ck_assert_int_eq(scratch_open(&s, memory), ST_OK);
	for (uint32_t i = 0; i < STREAMS; i++) {
		uint32_t id;

		ck_assert_int_eq(scratch_stream(s, &id), ST_OK);
		ck_assert_uint_eq(id, i);
	}
	for (int i = 0; i < RECORDS; i++) {
		uint8_t record[SCRATCH_RECORD_MAX];
		uint32_t stream;
		size_t n;

		random = random * 1664525 + 1013904223;
		stream = (random >> 16) % STREAMS;
		if (stream == 7)
			continue; /* one stays empty */
		n = make_record(record, stream, added[stream]++);
		ck_assert_int_eq(scratch_add(s, stream, record, n), ST_OK);
	}
	for (uint32_t i = 0; i < STREAMS; i++)
		check_stream(s, i, added[i]);
	check_stream(s, 3, added[3]); /* and again */
	scratch_close(s);
}

START_TEST(keeps_order)
{
	check_with(0);
}
END_TEST

START_TEST(keeps_order_without_memory)
{
	check_with(1);
	check_with(10000);
}
END_TEST

START_TEST(refuses)
{
	uint8_t record[SCRATCH_RECORD_MAX + 1] = { 0 };
	struct scratch *s;
	uint32_t id;

	ck_assert_int_eq(scratch_open(&s, 0), ST_OK);
	ck_assert_int_eq(scratch_stream(s, &id), ST_OK);
	ck_assert_int_eq(scratch_add(s, id, record, sizeof(record)), ST_TOO_BIG);
	ck_assert_int_eq(scratch_rewind(s, id + 1), ST_BAD_DATA);
	scratch_close(s);
	scratch_close(NULL);
}
END_TEST

UNIT_MAIN("scratch", keeps_order, keeps_order_without_memory, refuses)
