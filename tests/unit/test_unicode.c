/* Strings of a made-up target in every form, and headers that lie about their length. */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "python/layouts.h"
#include "python/unicode.h"
#include "arena.h"

#define AT (ARENA_START + 0x100)

static struct py_layout layout_of(int minor)
{
	struct py_version version = { .major = 3, .minor = (uint8_t)minor, .level = 'f' };
	struct py_layout layout;

	ck_assert_int_eq(layouts_find(&layout, &version), ST_OK);
	return layout;
}

static uint32_t state_of(unsigned kind, bool compact, bool ascii)
{
	return kind << 2 | (uint32_t)compact << 5 | (uint32_t)ascii << 6 | 1u << 7 | 1;
}

static void put_str(struct arena *a, const struct py_layout *l, unsigned kind, bool ascii,
		    const void *characters, size_t count)
{
	uint32_t state = state_of(kind, true, ascii);

	if (l->text_form == PY_TEXT_STATE_BYTES)
		state = state << 6 | 0xff; /* interned is a byte of its own */
	arena_u64(a, AT + l->text.length, count);
	arena_u32(a, AT + l->text.state, state);
	arena_put(a, AT + (ascii ? l->text.ascii_data : l->text.compact_data), characters,
		  count * kind);
}

static void check(struct arena *a, const struct py_layout *l, size_t limit, const char *wanted)
{
	char *text;

	ck_assert_int_eq(unicode_read(&text, l, &a->memory, AT, limit), ST_OK);
	ck_assert_str_eq(text, wanted);
	ck_assert(text_is_utf8(text, strlen(text)));
	ck_assert_uint_le(strlen(text), limit);
	free(text);
}

START_TEST(every_kind)
{
	static const uint16_t two[] = { 'x', 0x0416, 0x4e2d };
	static const uint32_t four[] = { 0x20000, 'y', 0x10ffff };

	for (int minor = 8; minor <= 12; minor += 4) {
		struct py_layout l = layout_of(minor);
		struct arena a;

		arena_open(&a);
		put_str(&a, &l, 1, true, "plain", 5);
		check(&a, &l, 100, "plain");
		put_str(&a, &l, 1, false, "caf\xe9", 4); /* Latin-1, not UTF-8 */
		check(&a, &l, 100, "café");
		put_str(&a, &l, 2, false, two, 3);
		check(&a, &l, 100, "xЖ中");
		put_str(&a, &l, 4, false, four, 3);
		check(&a, &l, 100, "\xf0\xa0\x80\x80y\xf4\x8f\xbf\xbf");
		put_str(&a, &l, 1, true, "", 0);
		check(&a, &l, 100, "");
	}
}
END_TEST

START_TEST(free_threaded_state)
{
	struct py_layout l = layout_of(12);
	struct arena a;

	l.text_form = PY_TEXT_STATE_BYTES;
	arena_open(&a);
	put_str(&a, &l, 1, true, "plain", 5);
	check(&a, &l, 100, "plain");
}
END_TEST

/* What surrogateescape makes of a bad byte of a file name; a zero; a value that is no character. */
START_TEST(odd_characters)
{
	static const uint16_t lone[] = { 'a', 0xdcff, 'b', 0xd800 };
	static const uint32_t wild[] = { 0x110000, 0xffffffff };
	struct py_layout l = layout_of(8);
	struct arena a;

	arena_open(&a);
	put_str(&a, &l, 2, false, lone, 4);
	check(&a, &l, 100, "a\\udcffb\\ud800");
	put_str(&a, &l, 4, false, wild, 2);
	check(&a, &l, 100, "\xef\xbf\xbd\xef\xbf\xbd");
	put_str(&a, &l, 1, true, "a\0b", 3);
	check(&a, &l, 100,
	      "a\xef\xbf\xbd"
	      "b");
}
END_TEST

/*
 * A limit never cuts inside a character or an escape, and a long string is read only as far as
 * needed.
 */
START_TEST(limits)
{
	static const uint16_t two[] = { 0x0416, 0x4e2d, 0xdc80 };
	static const char *const wanted[] = { "",    "",    "Ж",   "Ж",   "Ж",   "Ж中",
					      "Ж中", "Ж中", "Ж中", "Ж中", "Ж中", "Ж中\\udc80" };
	struct py_layout l = layout_of(12);
	struct arena a;
	char *text;

	arena_open(&a);
	put_str(&a, &l, 2, false, two, 3);
	for (size_t limit = 0; limit < 12; limit++)
		check(&a, &l, limit, wanted[limit]);
	put_str(&a, &l, 1, true, "abc", 3);
	arena_u64(&a, AT + l.text.length, 1u << 26); /* ends beyond what there is */
	check(&a, &l, 3, "abc");
	ck_assert_int_eq(unicode_read(&text, &l, &a.memory, AT, 1u << 26), ST_FAULT);
}
END_TEST

START_TEST(legacy)
{
	struct py_layout l = layout_of(8);
	struct arena a;

	arena_open(&a);
	arena_u64(&a, AT + l.text.length, 4);
	arena_u32(&a, AT + l.text.state, state_of(1, false, true));
	arena_u64(&a, AT + l.text.legacy_data, ARENA_START + 0x800);
	arena_put(&a, ARENA_START + 0x800, "away", 4);
	check(&a, &l, 100, "away");
}
END_TEST

START_TEST(bytes_of_27)
{
	struct py_layout l = layout_of(8);
	struct arena a;

	l.text_form = PY_TEXT_BYTES;
	l.bytes.data = 36;
	arena_open(&a);
	arena_u64(&a, AT + 16, 8);
	arena_put(&a, AT + 36, "caf\xc3\xa9 \xff!", 8);
	check(&a, &l, 100, "café \xef\xbf\xbd!");
}
END_TEST

START_TEST(refused)
{
	static const uint64_t lengths[] = { UINT64_MAX, 1ull << 63, (1u << 26) + 1 };
	static const unsigned kinds[] = { 0, 3, 5, 6, 7 };
	struct py_layout l = layout_of(12);
	struct arena a;
	char *text;

	arena_open(&a);
	put_str(&a, &l, 1, true, "abc", 3);
	for (size_t i = 0; i < 3; i++) {
		arena_u64(&a, AT + l.text.length, lengths[i]);
		ck_assert_int_eq(unicode_read(&text, &l, &a.memory, AT, 100), ST_BAD_DATA);
	}
	arena_u64(&a, AT + l.text.length, 3);
	for (size_t i = 0; i < 5; i++) {
		arena_u32(&a, AT + l.text.state, state_of(kinds[i], true, false));
		ck_assert_int_eq(unicode_read(&text, &l, &a.memory, AT, 100), ST_BAD_DATA);
	}
	arena_u32(&a, AT + l.text.state, state_of(2, true, true)); /* ASCII of two bytes */
	ck_assert_int_eq(unicode_read(&text, &l, &a.memory, AT, 100), ST_BAD_DATA);
	ck_assert_int_eq(unicode_read(&text, &l, &a.memory, 8, 100), ST_FAULT);
}
END_TEST

START_TEST(bytes_objects)
{
	struct py_layout l = layout_of(12);
	struct arena a;
	uint8_t *data;
	size_t size;

	arena_open(&a);
	arena_u64(&a, AT + l.bytes.ob_size, 5);
	arena_put(&a, AT + l.bytes.data,
		  "a\0b\xff"
		  "c",
		  5);
	ck_assert_int_eq(unicode_read_bytes(&data, &size, &l, &a.memory, AT, 5), ST_OK);
	ck_assert_uint_eq(size, 5);
	ck_assert_mem_eq(data,
			 "a\0b\xff"
			 "c",
			 5);
	free(data);
	ck_assert_int_eq(unicode_read_bytes(&data, &size, &l, &a.memory, AT, 4), ST_TOO_BIG);
	arena_u64(&a, AT + l.bytes.ob_size, UINT64_MAX);
	ck_assert_int_eq(unicode_read_bytes(&data, &size, &l, &a.memory, AT, 1 << 20), ST_BAD_DATA);
	arena_u64(&a, AT + l.bytes.ob_size, ARENA_SIZE);
	ck_assert_int_eq(unicode_read_bytes(&data, &size, &l, &a.memory, AT, 1 << 20), ST_FAULT);
}
END_TEST

UNIT_MAIN("unicode", every_kind, free_threaded_state, odd_characters, limits, legacy, bytes_of_27,
	  refused, bytes_objects)
