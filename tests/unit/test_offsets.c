/*
 * The tables that real interpreters carry (tests/fuzz/corpus/offsets: 3.13.0, 3.13.5, 3.14.10,
 * 3.15.2 as read from processes, the free-threaded ones as their headers make them), and tables
 * that lie.
 */
#include "unit.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "python/offsets.h"

struct table {
	uint8_t raw[OFFSETS_SIZE];
	struct bytes bytes;
};

static void load(struct table *table, const char *name)
{
	const char *srcdir = getenv("srcdir");
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/offsets/%s", srcdir ? srcdir : ".",
		 name);
	file = fopen(path, "rb");
	ck_assert_msg(file, "%s", path);
	ck_assert_uint_eq(fread(table->raw, 1, OFFSETS_SIZE, file), OFFSETS_SIZE);
	fclose(file);
	table->bytes = (struct bytes){ table->raw, OFFSETS_SIZE };
}

static void put(struct table *table, size_t at, uint64_t value)
{
	memcpy(table->raw + at, &value, sizeof(value));
}

static struct py_layout parse(const char *name)
{
	struct table table;
	struct py_layout layout;

	load(&table, name);
	ck_assert_int_eq(offsets_parse(&layout, table.bytes), ST_OK);
	return layout;
}

START_TEST(release_313)
{
	struct py_layout l = parse("3.13.5");

	ck_assert_int_eq(l.version.minor, 13);
	ck_assert_int_eq(l.version.micro, 5);
	ck_assert_int_eq(l.version.level, 'f');
	ck_assert_int_eq(l.frame_form, PY_FRAME_INSTR_PTR);
	ck_assert_uint_eq(l.runtime.interpreters_head, 632);
	ck_assert_uint_eq(l.interp.gc_collecting, 7600);
	ck_assert_uint_eq(l.interp.code_generation, LAYOUT_NONE);
	ck_assert_uint_eq(l.gil.last_holder, 8);
	ck_assert_uint_eq(l.gil.locked, 16);
	ck_assert_uint_eq(l.gil.enabled, LAYOUT_NONE);
	ck_assert_uint_eq(l.tstate.state, 40);
	ck_assert_uint_eq(l.tstate.holds_gil, LAYOUT_NONE);
	ck_assert_uint_eq(l.status_bits.holds_gil, 32);
	ck_assert_uint_eq(l.status_bits.finalized, 256);
	ck_assert_uint_eq(l.tstate.exc_info, 120);
	ck_assert_uint_eq(l.code.code_adaptive, 200);
	ck_assert_uint_eq(l.code.firsttraceable, 184);
	ck_assert_uint_eq(l.frame.owner, 70);
	ck_assert(!l.frame.code_tagged);
}
END_TEST

START_TEST(release_314)
{
	struct py_layout l = parse("3.14.10");

	ck_assert_uint_eq(l.tstate.state, 44);
	ck_assert_uint_eq(l.tstate.holds_gil, 36);
	ck_assert_uint_eq(l.tstate.gil_requested, LAYOUT_NONE);
	ck_assert_uint_eq(l.status_bits.finalized, 128);
	ck_assert_uint_eq(l.interp.code_generation, 7992);
	ck_assert_uint_eq(l.interp.tlbc_generation, LAYOUT_NONE);
	ck_assert_uint_eq(l.code.tlbc, LAYOUT_NONE);
	ck_assert_uint_eq(l.code.firsttraceable, 192);
	ck_assert_uint_eq(l.frame.stackpointer, 64);
	ck_assert_uint_eq(l.frame.tlbc_index, LAYOUT_NONE);
	ck_assert_uint_eq(l.type.cached_keys, 880);
	ck_assert(l.frame.code_tagged);
}
END_TEST

START_TEST(release_315)
{
	struct py_layout l = parse("3.15.2");

	ck_assert_uint_eq(l.tstate.base_frame, 80);
	ck_assert_uint_eq(l.tstate.holds_gil, 36);
	ck_assert_uint_eq(l.tstate.gil_requested, 40);
	ck_assert_uint_eq(l.tstate.curexc, 136);
	ck_assert_uint_eq(l.tstate.exc_info, 144);
	ck_assert_uint_eq(l.tstate.native_thread_id, 184);
	ck_assert_uint_eq(l.interp.gc_frame, 7520);
	ck_assert_uint_eq(l.type.cached_keys, 888);
	ck_assert_uint_eq(l.text.compact_data, 56);
	ck_assert_uint_ge(l.tstate.size, 304);
	ck_assert_uint_ge(l.interp.size, 7952);
}
END_TEST

START_TEST(free_threaded)
{
	struct py_layout l = parse("3.13.18t");

	ck_assert(l.version.free_threaded);
	ck_assert_int_eq(l.text_form, PY_TEXT_STATE_BITS);
	ck_assert_uint_eq(l.gil.enabled, 0);
	ck_assert_uint_eq(l.gil.size, 216);
	ck_assert_uint_eq(l.code.tlbc, LAYOUT_NONE);
	ck_assert_uint_eq(l.code.firsttraceable, 200);
	l = parse("3.14.10t");
	ck_assert_int_eq(l.text_form, PY_TEXT_STATE_BYTES);
	ck_assert_uint_eq(l.code.tlbc, 224);
	ck_assert_uint_eq(l.code.firsttraceable, 208);
	ck_assert_uint_eq(l.frame.tlbc_index, 72);
	ck_assert_uint_eq(l.frame.owner, 78);
	ck_assert_uint_eq(l.interp.tlbc_generation, 17300);
	ck_assert_uint_eq(l.object.type, 24);
	l = parse("3.15.2t");
	ck_assert_uint_eq(l.gil.locked, 24);
	ck_assert_uint_eq(l.type.dict_back, 8);
	ck_assert_uint_eq(l.type.cached_keys, 904);
}
END_TEST

/* 3.15.0a0 was released with the table of 3.14, early 3.14 alphas with that of 3.13. */
START_TEST(older_table)
{
	struct py_layout l;
	struct table table;

	load(&table, "3.14.10");
	put(&table, 8, 0x030f00a0);
	ck_assert_int_eq(offsets_parse(&l, table.bytes), ST_OK);
	ck_assert_int_eq(l.version.minor, 15);
	ck_assert_int_eq(l.version.level, 'a');
	ck_assert_uint_eq(l.tstate.state, 44);
	load(&table, "3.13.0");
	put(&table, 8, 0x030e00a1);
	ck_assert_int_eq(offsets_parse(&l, table.bytes), ST_OK);
	ck_assert_uint_eq(l.tstate.state, 40);
}
END_TEST

START_TEST(newer_minor)
{
	struct py_layout l;
	struct table table;

	load(&table, "3.15.2");
	put(&table, 8, 0x031200f0);
	ck_assert_int_eq(offsets_parse(&l, table.bytes), ST_OK);
	ck_assert_int_eq(l.version.minor, 18);
	ck_assert_uint_eq(l.tstate.base_frame, 80);
}
END_TEST

START_TEST(table_moved)
{
	struct py_layout l;
	struct table table;

	load(&table, "3.15.2"); /* a field more in the middle, as a next version may have */
	memmove(table.raw + 328, table.raw + 320, OFFSETS_SIZE - 328);
	put(&table, 8, 0x031000f0);
	ck_assert_int_eq(offsets_parse(&l, table.bytes), ST_UNSUPPORTED_VERSION);
}
END_TEST

/* The value of any one field made absurd must be noticed or harmless, never kept as an offset. */
START_TEST(absurd_values)
{
	static const char *const names[] = { "3.13.0", "3.14.10", "3.15.2" };

	for (size_t n = 0; n < 3; n++)
		for (size_t at = 24; at + 8 <= OFFSETS_SIZE; at += 8) {
			struct py_layout l = { 0 };
			struct table table;

			load(&table, names[n]);
			put(&table, at, UINT64_MAX / 3);
			if (offsets_parse(&l, table.bytes) == ST_OK) {
				ck_assert_uint_lt(l.interp.size, 1u << 26);
				ck_assert_uint_lt(l.tstate.size, 4096);
				ck_assert_uint_le(l.frame.size, 256);
				ck_assert_uint_le(l.code.size, 256);
			}
		}
}
END_TEST

START_TEST(not_a_table)
{
	struct py_version v;
	struct py_layout l;
	struct table table;

	load(&table, "3.13.0");
	for (size_t size = 0; size < 24; size++)
		ck_assert_int_eq(offsets_version(&v, bytes_part(table.bytes, 0, size)),
				 ST_BAD_DATA);
	for (size_t size = 24; size < 584; size += 8)
		ck_assert_int_eq(offsets_parse(&l, bytes_part(table.bytes, 0, size)),
				 ST_UNSUPPORTED_VERSION);
	put(&table, 16, 2);
	ck_assert_int_eq(offsets_version(&v, table.bytes), ST_BAD_DATA);
	put(&table, 16, 0);
	put(&table, 8, 0x030d0050);
	ck_assert_int_eq(offsets_version(&v, table.bytes), ST_BAD_DATA);
	put(&table, 8, 0x030c00f0);
	ck_assert_int_eq(offsets_parse(&l, table.bytes), ST_UNSUPPORTED_VERSION);
	table.raw[0] = 'y';
	ck_assert_int_eq(offsets_parse(&l, table.bytes), ST_BAD_DATA);
}
END_TEST

UNIT_MAIN("offsets", release_313, release_314, release_315, free_threaded, older_table, newer_minor,
	  table_moved, absurd_values, not_a_table)
