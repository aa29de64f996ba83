/* A made-up interpreter of 3.8 and one of 3.12: alive, starting, and built otherwise. */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "arena.h"
#include "python/layouts.h"
#include "python/proof.h"

enum {
	HEAD = ARENA_START + 0x20,
	INTERP = ARENA_START + 0x1000,
	TSTATE = ARENA_START + 0x2000,
	CFRAME = ARENA_START + 0x2800,
	FRAME = ARENA_START + 0x3000,
	ENTRY = ARENA_START + 0x3400,
	CODE = ARENA_START + 0x4000,
	TYPE = ARENA_START + 0x5000,
	NAME = ARENA_START + 0x6000,
};

static void make(struct arena *a, struct py_runtime *r, int minor)
{
	struct py_version version = { .major = 3, .minor = (uint8_t)minor, .level = 'f' };
	const struct py_layout *l = &r->layout;

	memset(r, 0, sizeof(*r));
	ck_assert_int_eq(layouts_find(&r->layout, &version), ST_OK);
	r->interp_head = HEAD;
	arena_open(a);
	arena_u64(a, HEAD, INTERP);
	arena_u64(a, INTERP + l->interp.threads_head, TSTATE);
	arena_u64(a, TSTATE + l->tstate.interp, INTERP);
	arena_u64(a, FRAME + l->frame.code, CODE);
	arena_u64(a, CODE + l->object.type, TYPE);
	arena_u64(a, TYPE + l->type.name, NAME);
	arena_put(a, NAME, "code", 5);
	if (minor < 11) {
		arena_u64(a, TSTATE + l->tstate.frame, FRAME);
		return;
	}
	/* an entry frame of C before the one that counts */
	arena_u64(a, TSTATE + l->tstate.cframe, CFRAME);
	arena_u64(a, CFRAME + l->cframe.current_frame, ENTRY);
	arena_u64(a, ENTRY + l->frame.previous, FRAME);
	arena_put(a, ENTRY + l->frame.owner, "\3", 1);
}

START_TEST(alive)
{
	for (int minor = 8; minor <= 12; minor += 4) {
		struct py_runtime r;
		struct arena a;

		make(&a, &r, minor);
		ck_assert_int_eq(proof_find(&r, &a.memory), ST_OK);
		/* a newer interpreter that has no thread yet */
		arena_u64(&a, HEAD, INTERP + 0x800);
		arena_u64(&a, INTERP + 0x800 + r.layout.interp.next, INTERP);
		ck_assert_int_eq(proof_find(&r, &a.memory), ST_OK);
	}
}
END_TEST

START_TEST(starting)
{
	struct py_runtime r;
	struct arena a;

	make(&a, &r, 8);
	arena_u64(&a, TSTATE + r.layout.tstate.frame, 0); /* a thread without frames is alive */
	ck_assert_int_eq(proof_find(&r, &a.memory), ST_OK);
	arena_u64(&a, INTERP + r.layout.interp.threads_head, 0);
	ck_assert_int_eq(proof_find(&r, &a.memory), ST_STARTING);
	arena_u64(&a, HEAD, 0);
	ck_assert_int_eq(proof_find(&r, &a.memory), ST_STARTING);
}
END_TEST

/* A second thread is looked at when the first is in disorder. */
START_TEST(one_good_thread)
{
	const remote_addr other = TSTATE + 0x400;
	struct py_runtime r;
	struct arena a;

	make(&a, &r, 8);
	arena_u64(&a, INTERP + r.layout.interp.threads_head, other);
	arena_u64(&a, other + r.layout.tstate.interp, INTERP);
	arena_u64(&a, other + r.layout.tstate.frame, 0x30);
	arena_u64(&a, other + r.layout.tstate.next, TSTATE);
	ck_assert_int_eq(proof_find(&r, &a.memory), ST_OK);
	arena_u64(&a, other + r.layout.tstate.next, other); /* a list without end */
	ck_assert_int_eq(proof_find(&r, &a.memory), ST_UNSUPPORTED_BUILD);
}
END_TEST

START_TEST(other_builds)
{
	struct py_runtime r;
	struct arena a;

	make(&a, &r, 12);
	arena_u64(&a, TSTATE + r.layout.tstate.interp, INTERP + 16);
	ck_assert_int_eq(proof_find(&r, &a.memory), ST_UNSUPPORTED_BUILD);
	make(&a, &r, 12); /* reference tracing: two words before every object */
	arena_u64(&a, CODE + 8, 0);
	arena_u64(&a, CODE + 24, TYPE);
	ck_assert_int_eq(proof_find(&r, &a.memory), ST_UNSUPPORTED_BUILD);
	make(&a, &r, 12);
	arena_put(&a, NAME, "frame", 6);
	ck_assert_int_eq(proof_find(&r, &a.memory), ST_UNSUPPORTED_BUILD);
}
END_TEST

START_TEST(no_memory_there)
{
	struct py_runtime r;
	struct arena a;

	make(&a, &r, 12);
	r.interp_head = 0x10;
	ck_assert_int_eq(proof_find(&r, &a.memory), ST_FAULT);
}
END_TEST

UNIT_MAIN("proof", alive, starting, one_good_thread, other_builds, no_memory_there)
