/*
 * What can be said of a runtime without a process: version texts, and where pthreads keep the
 * tid.
 */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "arena.h"
#include "python/runtime.h"

START_TEST(version_texts)
{
	struct py_version v = { .major = 3, .minor = 13, .micro = 1, .level = 'f' };
	char text[64];

	runtime_version_text(text, sizeof(text), &v);
	ck_assert_str_eq(text, "3.13.1");
	v.level = 'c';
	v.serial = 2;
	runtime_version_text(text, sizeof(text), &v);
	ck_assert_str_eq(text, "3.13.1rc2");
	v.level = 'f';
	v.free_threaded = true;
	runtime_version_text(text, sizeof(text), &v);
	ck_assert_str_eq(text, "3.13.1 free-threaded");
	runtime_version_text(text, 5, &v);
	ck_assert_str_eq(text, "3.13");
}
END_TEST

#define BLOCK(i) (ARENA_START + 0x1000u * ((i) + 1))

static const int32_t tids[] = { 500, 40, 41, 42, 43, 44, 45 };

static enum status learn(struct py_runtime *r, struct arena *a, size_t n)
{
	uint64_t blocks[8];

	for (size_t i = 0; i < n; i++)
		blocks[i] = BLOCK(i);
	memset(r, 0, sizeof(*r));
	r->tid_offset = LAYOUT_NONE;
	return runtime_learn_tid(r, &a->memory, blocks, n, tids, sizeof(tids) / sizeof(tids[0]));
}

/* Other places hold the process id in every block, or a tid by chance in one. */
START_TEST(tid_among_others)
{
	struct py_runtime r;
	struct arena a;

	arena_open(&a);
	for (size_t i = 0; i < 6; i++) {
		arena_u32(&a, BLOCK(i) + 48, (uint32_t)tids[i]);
		arena_u32(&a, BLOCK(i) + 52, (uint32_t)tids[0]);
		arena_u32(&a, BLOCK(i) + 720, (uint32_t)tids[0]);
	}
	arena_u32(&a, BLOCK(2) + 16, (uint32_t)tids[1]);
	ck_assert_int_eq(learn(&r, &a, 6), ST_OK);
	ck_assert_uint_eq(r.tid_offset, 48);
}
END_TEST

/* With one thread nothing tells two places apart: then the usual one. */
START_TEST(tid_alone)
{
	struct py_runtime r;
	struct arena a;

	arena_open(&a);
	arena_u32(&a, BLOCK(0) + 100, (uint32_t)tids[0]);
	ck_assert_int_eq(learn(&r, &a, 1), ST_OK);
	ck_assert_uint_eq(r.tid_offset, 100);
#if defined(__x86_64__)
	arena_u32(&a, BLOCK(0) + 720, (uint32_t)tids[0]);
	ck_assert_int_eq(learn(&r, &a, 1), ST_OK);
	ck_assert_uint_eq(r.tid_offset, 720);
#endif
}
END_TEST

START_TEST(tid_nowhere)
{
	struct py_runtime r;
	struct arena a;
	uint64_t bad = 8;

	arena_open(&a);
	ck_assert_int_eq(learn(&r, &a, 3), ST_AGAIN);
	ck_assert_uint_eq(r.tid_offset, LAYOUT_NONE);
	ck_assert_int_eq(runtime_learn_tid(&r, &a.memory, &bad, 1, tids, 1), ST_AGAIN);
	ck_assert_int_eq(runtime_learn_tid(&r, &a.memory, NULL, 0, NULL, 0), ST_AGAIN);
}
END_TEST

UNIT_MAIN("runtime", version_texts, tid_among_others, tid_alone, tid_nowhere)
