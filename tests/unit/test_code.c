/* Code objects of a made-up target: read whole, told from what is none, and never believed. */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "python/code.h"
#include "python/layouts.h"
#include "arena.h"

enum {
	CODE = ARENA_START + 0x100,
	TYPE = ARENA_START + 0x400,
	TYPE_NAME = ARENA_START + 0x700,
	FILE_NAME = ARENA_START + 0x800,
	NAME = ARENA_START + 0x900,
	QUALNAME = ARENA_START + 0xa00,
	TABLE = ARENA_START + 0xb00,
};

static void put_str(struct arena *a, const struct py_layout *l, remote_addr at, const char *text)
{
	arena_u64(a, at + l->text.length, strlen(text));
	arena_u32(a, at + l->text.state, 1u << 2 | 1u << 5 | 1u << 6);
	arena_put(a, at + l->text.ascii_data, text, strlen(text));
}

static void put_table(struct arena *a, const struct py_layout *l, const char *table, size_t size)
{
	arena_u64(a, TABLE + l->bytes.ob_size, size);
	arena_put(a, TABLE + l->bytes.data, table, size);
}

/* A code object of 3.minor: f in a.py, first line 10, its second instruction on line 11. */
static void make(struct arena *a, struct py_runtime *r, int minor)
{
	struct py_version version = { .major = 3, .minor = (uint8_t)minor, .level = 'f' };
	struct py_layout *l = &r->layout;

	memset(r, 0, sizeof(*r));
	ck_assert_int_eq(layouts_find(l, &version), ST_OK);
	arena_open(a);
	arena_u64(a, TYPE + l->type.name, TYPE_NAME);
	arena_put(a, TYPE_NAME, "code", 5);
	put_str(a, l, FILE_NAME, "a.py");
	put_str(a, l, NAME, "f");
	put_str(a, l, QUALNAME, "C.f");
	put_table(a, l, minor < 11 ? "\x02\x01" : "\x80\x00\xd8\x00\x00", minor < 11 ? 2 : 5);
	arena_u64(a, CODE + l->object.type, TYPE);
	arena_u64(a, CODE + l->code.filename, FILE_NAME);
	arena_u64(a, CODE + l->code.name, NAME);
	arena_u64(a, CODE + l->code.linetable, TABLE);
	arena_u32(a, CODE + l->code.firstlineno, 10);
	if (minor < 11)
		return;
	arena_u64(a, CODE + l->code.qualname, QUALNAME);
	arena_u64(a, CODE + l->code.ob_size, 7);
	arena_u32(a, CODE + l->code.firsttraceable, 2);
}

START_TEST(each_form)
{
	for (int minor = 8; minor <= 12; minor++) {
		struct py_runtime r;
		struct arena a;
		struct code code;

		make(&a, &r, minor);
		ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_OK);
		ck_assert_str_eq(code.file, "a.py");
		ck_assert_str_eq(code.function, minor < 11 ? "f" : "C.f");
		ck_assert_int_eq(code.first_line, 10);
		ck_assert_uint_eq(r.code_type, TYPE);
		ck_assert_int_eq(code.instr_count, minor < 11 ? 0 : 7);
		ck_assert_int_eq(code.instr_base, minor < 11 ? 0 : minor == 11 ? 184 : 192);
		ck_assert_int_eq(code.first_traceable, minor < 11 ? 0 : 2);
		ck_assert_int_eq(code_line(&code, 0), minor == 10 ? 11 : 10);
		ck_assert_int_eq(code_line(&code, 2), 11);
		code_free(&code);
	}
}
END_TEST

START_TEST(type_decides)
{
	struct py_runtime r;
	struct arena a;
	struct code code;

	make(&a, &r, 12);
	arena_put(&a, TYPE_NAME, "codes", 6);
	ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_BAD_DATA);
	ck_assert_uint_eq(r.code_type, 0);
	arena_put(&a, TYPE_NAME, "code", 5);
	r.code_type = TYPE + 8; /* learnt: another type of that name is not it */
	ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_BAD_DATA);
	r.code_type = 0;
	arena_u64(&a, CODE + r.layout.object.type, 0x30);
	ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_BAD_DATA);
}
END_TEST

/* A line table that does not hold together costs the lines, not the name. */
START_TEST(bad_table)
{
	struct py_runtime r;
	struct arena a;
	struct code code;

	make(&a, &r, 12);
	put_table(&a, &r.layout, "\x01\x02\x03", 3);
	ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_OK);
	ck_assert_str_eq(code.function, "C.f");
	ck_assert_int_eq(code_line(&code, 5), 10);
	code_free(&code);
}
END_TEST

START_TEST(bad_numbers)
{
	static const uint64_t sizes[] = { 0, UINT64_MAX, 1ull << 40 };
	struct py_runtime r;
	struct arena a;
	struct code code;

	make(&a, &r, 12);
	for (size_t i = 0; i < 3; i++) {
		arena_u64(&a, CODE + r.layout.code.ob_size, sizes[i]);
		ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_BAD_DATA);
	}
	arena_u64(&a, CODE + r.layout.code.ob_size, 3);
	arena_u32(&a, CODE + r.layout.code.firsttraceable, 4); /* CPython's own hidden code */
	ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_OK);
	code_free(&code);
	arena_u32(&a, CODE + r.layout.code.firsttraceable, UINT32_MAX);
	ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_BAD_DATA);
}
END_TEST

START_TEST(bad_pointers)
{
	struct py_runtime r;
	struct arena a;
	struct code code;
	const struct py_layout *l = &r.layout;

	make(&a, &r, 12);
	arena_u64(&a, CODE + l->code.filename, 0x7fff00000000);
	ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_FAULT);
	arena_u64(&a, CODE + l->code.filename, FILE_NAME);
	arena_u64(&a, CODE + l->code.linetable, ARENA_START + ARENA_SIZE - 8);
	ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_FAULT);
	ck_assert_int_eq(code_read(&code, &r, &a.memory, ARENA_START + ARENA_SIZE - 8), ST_FAULT);
	ck_assert_int_eq(code_read(&code, &r, &a.memory, 0), ST_FAULT);
}
END_TEST

START_TEST(fingerprints)
{
	struct py_runtime r;
	struct arena a;
	struct code code;
	struct code_fingerprint print;
	size_t size;

	make(&a, &r, 12);
	size = code_fingerprint_size(&r.layout);
	ck_assert_uint_eq(size, r.layout.code.linetable + 8);
	ck_assert_int_eq(code_read(&code, &r, &a.memory, CODE), ST_OK);
	code_fingerprint_parse(&print, &r.layout,
			       (struct bytes){ a.bytes + (CODE - ARENA_START), size });
	ck_assert(code_fingerprint_equal(&print, &code.print));
	code_free(&code);
	for (size_t at = 0; at < size; at += 4) { /* every word that belongs to it counts */
		struct code_fingerprint other;
		uint32_t word = 0xdeadbeef;

		make(&a, &r, 12);
		arena_put(&a, CODE + at, &word, sizeof(word));
		code_fingerprint_parse(&other, &r.layout,
				       (struct bytes){ a.bytes + (CODE - ARENA_START), size });
		if (at == r.layout.code.filename || at == r.layout.code.firstlineno ||
		    at == r.layout.code.linetable + 4 || at == r.layout.object.type ||
		    at == r.layout.code.qualname || at == r.layout.code.name + 4)
			ck_assert(!code_fingerprint_equal(&print, &other));
	}
}
END_TEST

START_TEST(thread_local_code)
{
	struct py_runtime r;
	struct arena a;
	remote_addr base = 0;
	remote_addr array = ARENA_START + 0xc00;

	make(&a, &r, 12);
	ck_assert_int_eq(code_tlbc_base(&base, &r.layout, &a.memory, CODE, 1), ST_BAD_DATA);
	r.layout.code.tlbc = 184;
	arena_u64(&a, CODE + 184, array);
	arena_u64(&a, array, 3);
	arena_u64(&a, array + 8 + 16, 0x1234560);
	ck_assert_int_eq(code_tlbc_base(&base, &r.layout, &a.memory, CODE, 0), ST_OK);
	ck_assert_uint_eq(base, CODE + r.layout.code.code_adaptive);
	ck_assert_int_eq(code_tlbc_base(&base, &r.layout, &a.memory, CODE, 2), ST_OK);
	ck_assert_uint_eq(base, 0x1234560);
	ck_assert_int_eq(code_tlbc_base(&base, &r.layout, &a.memory, CODE, 1), ST_BAD_DATA);
	ck_assert_int_eq(code_tlbc_base(&base, &r.layout, &a.memory, CODE, 3), ST_BAD_DATA);
	ck_assert_int_eq(code_tlbc_base(&base, &r.layout, &a.memory, CODE, -1), ST_BAD_DATA);
	arena_u64(&a, array, UINT64_MAX);
	ck_assert_int_eq(code_tlbc_base(&base, &r.layout, &a.memory, CODE, 2), ST_BAD_DATA);
}
END_TEST

UNIT_MAIN("code", each_form, type_decides, bad_table, bad_numbers, bad_pointers, fingerprints,
	  thread_local_code)
