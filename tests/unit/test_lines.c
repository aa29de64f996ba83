/*
 * Line tables that real compilers made, with the line of every instruction as the interpreter
 * itself tells it; the traps of each form; and tables that nobody would make but who means
 * harm.
 */
#include "unit.h"

#include <stdint.h>

#include "python/lines.h"

#define BYTES(...) \
	(struct bytes) \
	{ \
		(const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }) \
	}
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct lines parsed(enum py_lines_form form, struct bytes table, int32_t first_line)
{
	struct lines lines;

	ck_assert_int_eq(lines_parse(&lines, form, table, first_line), ST_OK);
	return lines;
}

static enum status refusal(enum py_lines_form form, struct bytes table)
{
	struct lines lines;
	enum status status = lines_parse(&lines, form, table, 1);

	if (status == ST_OK)
		lines_free(&lines);
	return status;
}

/* The line at i * unit is wanted[i] */
static void check(struct lines *lines, const int32_t *wanted, size_t count, unsigned unit)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(lines_find(lines, (int64_t)(i * unit)) == wanted[i],
			      "at %zu: %d, not %d", i * unit,
			      lines_find(lines, (int64_t)(i * unit)), wanted[i]);
	ck_assert_int_eq(lines_find(lines, -1), lines->first_line);
	lines_free(lines);
}

/* A function of 3.8 with a comprehension, try and finally, a while loop and 300 empty lines. */
START_TEST(real_38)
{
	static const int32_t wanted[] = {
		4, 4, 4, 4,  5,  4,  4,  4,  4,  6,  8,  8,  8,  10,  8,
		7, 7, 7, 13, 13, 15, 15, 16, 16, 16, 16, 16, 16, 317, 317
	};
	struct lines lines =
		parsed(PY_LINES_LNOTAB,
		       BYTES(0x00, 0x03, 0x08, 0x01, 0x02, 0xff, 0x08, 0x02, 0x02, 0x02, 0x06, 0x02,
			     0x02, 0xfe, 0x02, 0xff, 0x06, 0x06, 0x04, 0x02, 0x04, 0x01, 0x0c, 0x7f,
			     0x00, 0x7f, 0x00, 0x2f),
		       1);

	check(&lines, wanted, COUNT(wanted), 2);
}
END_TEST

/* The same function in 3.10. */
START_TEST(real_310)
{
	static const int32_t wanted[] = { 4,  4,  4,  4,  5,  4,  4,  4,  4,  6,  8,  8,  8,  10,
					  8,  7,  13, 13, 14, 15, 15, 16, 16, 16, 16, 15, 15, 15,
					  15, 13, 13, 14, 15, 15, 16, 16, 16, 16, 15, 15, 15 };
	struct lines lines = parsed(PY_LINES_310,
				    BYTES(0x08, 0x03, 0x02, 0x01, 0x08, 0xff, 0x02, 0x02, 0x06,
					  0x02, 0x02, 0x02, 0x02, 0xfe, 0x02, 0xff, 0x04, 0x06,
					  0x02, 0x01, 0x04, 0x01, 0x08, 0x01, 0x08, 0xff, 0x04,
					  0xfe, 0x02, 0x01, 0x04, 0x01, 0x08, 0x01, 0x06, 0xff),
				    1);

	ck_assert_uint_eq(lines.end, 82);
	check(&lines, wanted, COUNT(wanted), 2);
}
END_TEST

/* And in 3.12, by code unit: 48, 49, 53 and the end have no line and take the one before. */
START_TEST(real_312)
{
	static const int32_t wanted[] = { 1,  4,  5,  4,  4,  4,  4,  4,  4,  4,  4,  4,
					  4,  4,  4,  4,  4,  4,  6,  8,  8,  8,  8,  8,
					  8,  8,  8,  8,  8,  10, 8,  8,  7,  13, 13, 14,
					  15, 15, 16, 16, 16, 16, 16, 15, 15, 15, 15, 15,
					  15, 15, 4,  4,  4,  4,  13, 13, 14, 15, 15, 16,
					  16, 16, 16, 16, 15, 15, 15, 15, 15, 15, 15, 15 };
	struct lines lines =
		parsed(PY_LINES_311,
		       BYTES(0x80, 0x00, 0xf0, 0x06, 0x00, 0x16, 0x17, 0xd8, 0x15, 0x16, 0xf0, 0x03,
			     0x01, 0x15, 0x18, 0xf6, 0x00, 0x01, 0x09, 0x19, 0x88, 0x71, 0x8a, 0x11,
			     0xf0, 0x00, 0x01, 0x09, 0x19, 0x80, 0x41, 0xf0, 0x00, 0x01, 0x09, 0x19,
			     0xf0, 0x04, 0x0a, 0x05, 0x13, 0xe4, 0x0c, 0x0d, 0x88, 0x61, 0x8b, 0x44,
			     0xe0, 0x0c, 0x0d, 0xf1, 0x05, 0x02, 0x0d, 0x0e, 0xf0, 0x03, 0x04, 0x09,
			     0x0a, 0xf1, 0x0c, 0x00, 0x0c, 0x0d, 0xd8, 0x0c, 0x10, 0xd9, 0x0e, 0x0f,
			     0xd8, 0x0c, 0x0d, 0x90, 0x11, 0x89, 0x46, 0x88, 0x41, 0xf4, 0x03, 0x00,
			     0x0f, 0x10, 0xf9, 0xf2, 0x17, 0x01, 0x09, 0x19, 0xf8, 0xf1, 0x12, 0x00,
			     0x0c, 0x0d, 0xd8, 0x0c, 0x10, 0xd9, 0x0e, 0x0f, 0xd8, 0x0c, 0x0d, 0x90,
			     0x11, 0x89, 0x46, 0x88, 0x41, 0xf4, 0x03, 0x00, 0x0f, 0x10, 0xfa),
		       1);

	ck_assert_uint_eq(lines.end, COUNT(wanted));
	check(&lines, wanted, COUNT(wanted), 1);
}
END_TEST

/* A step of more than 255 bytes or 127 lines is several pairs; only the last of them counts. */
START_TEST(split_steps)
{
	struct lines lines = parsed(PY_LINES_LNOTAB,
				    BYTES(255, 0, 45, 127, 0, 127, 0, 46, 2, 0x80, 0, 0x80), 10);

	ck_assert_int_eq(lines_find(&lines, 299), 10);
	ck_assert_int_eq(lines_find(&lines, 300), 310);
	ck_assert_int_eq(lines_find(&lines, 302), 54);
	ck_assert_uint_eq(lines.count, 3);
	lines_free(&lines);
}
END_TEST

/* In 2.7 lines only go forward. */
START_TEST(unsigned_27)
{
	struct lines lines = parsed(PY_LINES_LNOTAB_27, BYTES(6, 1, 3, 255, 0, 16), 1);

	ck_assert_int_eq(lines_find(&lines, 8), 2);
	ck_assert_int_eq(lines_find(&lines, 9), 273);
	lines_free(&lines);
}
END_TEST

/* 3.10: ranges without a line, and empty ones that still move the line. */
START_TEST(no_line_310)
{
	struct lines lines =
		parsed(PY_LINES_310, BYTES(2, 0x80, 4, 1, 0, 100, 2, 0x80, 2, 0x9c, 2, 0), 7);

	ck_assert_int_eq(lines_find(&lines, 0), 7); /* none before: the first */
	ck_assert_int_eq(lines_find(&lines, 2), 8);
	ck_assert_int_eq(lines_find(&lines, 6), 8); /* none: the one before */
	ck_assert_int_eq(lines_find(&lines, 8), 8);
	ck_assert_uint_eq(lines.end, 12);
	lines_free(&lines);
}
END_TEST

/* Each code of 3.11, columns skipped: 0-9, 10-12, 13, 14, 15. */
START_TEST(codes_311)
{
	struct lines lines = parsed(PY_LINES_311,
				    BYTES(0x80, 0x11, /* short: same line */
					  0xdb, 1, 2, /* 11: next line, four units */
					  0xe0, 1, 2, /* 12: two on */
					  0xe8, 0x05, /* 13: -2 */
					  0xf0, 0x40 | 6, 1, 0x40 | 1, 1, 0, 0x40, 0x41, 1, /* 14 */
					  0xf9), /* 15, two units */
				    100);
	static const int32_t wanted[] = { 100, 101, 101, 101, 101, 103, 101, 136, 136, 136 };

	ck_assert_uint_eq(lines.end, 10);
	ck_assert_int_eq(lines.ranges[lines.count - 1].line, 0);
	check(&lines, wanted, COUNT(wanted), 1);
}
END_TEST

START_TEST(empty)
{
	struct bytes none = { NULL, 0 };

	for (int form = PY_LINES_LNOTAB_27; form <= PY_LINES_311; form++) {
		struct lines lines = parsed(form, none, 42);

		ck_assert_int_eq(lines_find(&lines, 0), 42);
		ck_assert_int_eq(lines_find(&lines, INT64_MAX), 42);
		lines_free(&lines);
	}
}
END_TEST

/* A line is never less than 1, whatever the table says. */
START_TEST(never_less_than_one)
{
	struct lines lines = parsed(PY_LINES_LNOTAB, BYTES(2, 0x80, 2, 0x80), -5);

	for (int64_t at = -2; at < 8; at++)
		ck_assert_int_eq(lines_find(&lines, at), 1);
	lines_free(&lines);
	lines = parsed(PY_LINES_311, BYTES(0xe8, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x1f), INT32_MIN);
	ck_assert_int_eq(lines_find(&lines, 0), 1);
	lines_free(&lines);
	lines = parsed(PY_LINES_311, BYTES(0xe8, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x1f), INT32_MAX);
	ck_assert_int_eq(lines_find(&lines, 0), INT32_MAX);
	lines_free(&lines);
}
END_TEST

START_TEST(refused)
{
	ck_assert_int_eq(refusal(PY_LINES_LNOTAB, BYTES(1, 2, 3)), ST_BAD_DATA);
	ck_assert_int_eq(refusal(PY_LINES_310, BYTES(1)), ST_BAD_DATA);
	ck_assert_int_eq(refusal(PY_LINES_311, BYTES(0x80, 0, 0x7f)), ST_BAD_DATA); /* no mark */
	ck_assert_int_eq(refusal(PY_LINES_311, BYTES(0x80)), ST_BAD_DATA);          /* ends early */
	ck_assert_int_eq(refusal(PY_LINES_311, BYTES(0xd0, 1)), ST_BAD_DATA);
	ck_assert_int_eq(refusal(PY_LINES_311, BYTES(0xf0, 0, 0, 0)), ST_BAD_DATA);
	ck_assert_int_eq(refusal(PY_LINES_311, BYTES(0xe8, 0x40)), ST_BAD_DATA);
	ck_assert_int_eq(
		refusal(PY_LINES_311, BYTES(0xe8, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x01)),
		ST_BAD_DATA); /* a number without end */
}
END_TEST

UNIT_MAIN("lines", real_38, real_310, real_312, split_steps, unsigned_27, no_line_310, codes_311,
	  empty, never_less_than_one, refused)
