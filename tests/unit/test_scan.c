/*
 * Finding CPython by content in a made-up image: its cookie, its version, its list of
 * interpreters; and what only looks like them.
 */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "arena.h"
#include "python/layouts.h"
#include "python/scan.h"

#define BIG 0x100000u /* several chunks */

static bool text(struct py_version *v, const char *s)
{
	memset(v, 0, sizeof(*v));
	return scan_version_text(v, (struct bytes){ (const uint8_t *)s, strlen(s) });
}

START_TEST(version_texts)
{
	struct py_version v;

	ck_assert(text(&v, "3.8.18 (default, Nov  2 2023, 10:00:00) \n[GCC 12.2.0]"));
	ck_assert(v.major == 3 && v.minor == 8 && v.micro == 18 && v.level == 'f');
	ck_assert(text(&v, "3.12.0rc2+ (heads/main:abc, ...)"));
	ck_assert(v.minor == 12 && v.level == 'c' && v.serial == 2);
	ck_assert(text(&v, "3.11.0a7 | packaged by conda-forge | (main"));
	ck_assert(v.level == 'a' && v.serial == 7);
	ck_assert(text(&v, "2.7.18 (default"));
	ck_assert(text(&v, "3.13.5 free-threading build (main"));
	ck_assert(v.free_threaded);
	ck_assert(!text(&v, ""));
	ck_assert(!text(&v, "3"));
	ck_assert(!text(&v, "3.8"));
	ck_assert(!text(&v, "3.8.18"));
	ck_assert(!text(&v, "3.8.18 "));
	ck_assert(!text(&v, "3.0.11 19 Sep 2023"));
	ck_assert(!text(&v, "4.0.0 ("));
	ck_assert(!text(&v, "3.999.0 ("));
	ck_assert(!text(&v, "3.8.1r1 ("));
	ck_assert(!text(&v, "3.8.1b ("));
	ck_assert(!text(&v, "3..1 ("));
}
END_TEST

static struct scan scan_of(struct memory *memory, const struct maps *maps, uint64_t start,
			   uint64_t size)
{
	struct scan scan = { .memory = memory, .maps = maps, .range_count = 1 };

	scan.ranges[0] = (struct image_range){ start, size };
	return scan;
}

/* At every place around the border of two chunks; only where it is aligned. */
START_TEST(cookie)
{
	static uint8_t bytes[BIG];
	struct memory_region region = { 0x100000, { bytes, BIG } };
	struct memory memory;
	struct maps none = { 0 };
	struct scan scan = scan_of(&memory, &none, 0x100000, BIG);
	remote_addr found;

	memory_open_image(&memory, &region, 1);
	ck_assert_int_eq(scan_cookie(&found, &scan), ST_AGAIN);
	for (size_t at = (256u << 10) - 128; at < (256u << 10) + 64; at += 4) {
		memcpy(bytes + at, "xdebugpy", 8);
		ck_assert_int_eq(scan_cookie(&found, &scan), at % 8 ? ST_AGAIN : ST_OK);
		ck_assert(at % 8 || found == 0x100000 + at);
		memset(bytes + at, 0, 8);
	}
	memcpy(bytes + BIG - 8, "xdebugpy", 8);
	ck_assert_int_eq(scan_cookie(&found, &scan), ST_OK);
}
END_TEST

START_TEST(version)
{
	static const char sentence[] = "Python 3.9.9 (no buffer of its own)";
	static uint8_t bytes[BIG];
	struct memory_region region = { 0x100000, { bytes, BIG } };
	struct memory memory;
	struct maps none = { 0 };
	struct scan scan = scan_of(&memory, &none, 0x100000, BIG);
	struct py_version v;

	memory_open_image(&memory, &region, 1);
	memcpy(bytes + 64, sentence, sizeof(sentence));
	ck_assert_int_eq(scan_version(&v, &scan), ST_AGAIN);
	for (size_t at = (256u << 10) - 128; at < (256u << 10) + 64; at++) {
		memcpy(bytes + at, "3.10.2 (main", 12);
		ck_assert_int_eq(scan_version(&v, &scan), ST_OK);
		ck_assert(v.minor == 10 && v.micro == 2);
		memset(bytes + at, 0, 12);
	}
}
END_TEST

enum { DATA = ARENA_START + 0x1000, INTERP = ARENA_START + 0x4000, TSTATE = ARENA_START + 0x8000 };

struct fixture {
	struct arena arena;
	struct mapping mapping;
	struct maps maps;
	struct py_layout layout;
	struct scan scan;
};

/* A runtime at DATA + 0x100 whose one interpreter has one thread. */
static void make(struct fixture *f, int minor)
{
	struct py_version v = { .major = 3, .minor = (uint8_t)minor, .level = 'f' };
	struct py_layout *l = &f->layout;
	remote_addr head;

	ck_assert_int_eq(layouts_find(l, &v), ST_OK);
	arena_open(&f->arena);
	f->mapping = (struct mapping){ .start = ARENA_START,
				       .end = ARENA_START + ARENA_SIZE,
				       .readable = true,
				       .writable = true,
				       .path = "" };
	f->maps = (struct maps){ .items = &f->mapping, .count = 1 };
	f->scan = scan_of(&f->arena.memory, &f->maps, DATA, 0x2000);
	head = DATA + 0x100 + l->runtime.interpreters_head;
	arena_u64(&f->arena, head, INTERP);
	arena_u64(&f->arena, head + 8, INTERP);
	arena_u64(&f->arena, INTERP + l->interp.threads_head, TSTATE);
	arena_u64(&f->arena, TSTATE + l->tstate.interp, INTERP);
	if (l->interp.runtime != LAYOUT_NONE)
		arena_u64(&f->arena, INTERP + l->interp.runtime, DATA + 0x100);
}

START_TEST(runtime)
{
	for (int minor = 8; minor <= 12; minor++) {
		struct fixture f;
		remote_addr found = 0;

		make(&f, minor);
		ck_assert_int_eq(scan_runtime(&found, &f.scan, &f.layout), ST_OK);
		ck_assert_uint_eq(found, DATA + 0x100);
	}
}
END_TEST

/*
 * A pointer to an interpreter that is not the head of the list, a thread of another, no memory
 * there.
 */
START_TEST(look_alikes)
{
	struct fixture f;
	remote_addr found;

	make(&f, 10);
	arena_u64(&f.arena, DATA + 0x10, INTERP);
	ck_assert_int_eq(scan_runtime(&found, &f.scan, &f.layout), ST_OK);
	ck_assert_uint_eq(found, DATA + 0x100);
	arena_u64(&f.arena, INTERP + f.layout.interp.runtime, DATA + 0x110);
	ck_assert_int_eq(scan_runtime(&found, &f.scan, &f.layout), ST_AGAIN);
	make(&f, 8);
	arena_u64(&f.arena, TSTATE + f.layout.tstate.interp, INTERP + 8);
	ck_assert_int_eq(scan_runtime(&found, &f.scan, &f.layout), ST_AGAIN);
	make(&f, 8);
	arena_u64(&f.arena, DATA + 0x100 + f.layout.runtime.interpreters_head + 8, 0);
	ck_assert_int_eq(scan_runtime(&found, &f.scan, &f.layout), ST_AGAIN);
	make(&f, 12);
	f.mapping.writable = false;
	ck_assert_int_eq(scan_runtime(&found, &f.scan, &f.layout), ST_AGAIN);
}
END_TEST

UNIT_MAIN("scan", version_texts, cookie, version, runtime, look_alikes)
