/* interp: looks at a made-up CPython that changes between them. */
#include "python/interp.h"
#include "world.h"

#include "unit.h"

static struct world world;
static struct interp_reader *reader;
static const struct py_look *look;

static void open_world(enum world_form form)
{
	world_open(&world, form);
	ck_assert_int_eq(interp_open(&reader, &world.runtime, &world.arena.memory), ST_OK);
}

static void look_again(void)
{
	ck_assert_int_eq(interp_look(reader, &look), ST_OK);
}

/* A change of the roots is seen three looks later at worst. */
static void look_at_roots(void)
{
	for (int n = 0; n < 4; n++)
		look_again();
}

/* A list of n thread states of interpreter 0, state n - 1 newest, each with a stack of depth frames. */
static void list_threads(unsigned n, unsigned depth)
{
	for (unsigned i = 0; i < n; i++) {
		world_thread(&world, i, 0, i ? WORLD_TSTATE(i - 1) : 0);
		world_stack(&world, i, depth, 10 * i);
	}
	world_head(&world, 0, n ? WORLD_TSTATE(n - 1) : 0);
}

static struct py_thread *thread_of(unsigned i)
{
	for (size_t k = 0; k < look->thread_count; k++) {
		if (look->threads[k]->tstate == WORLD_TSTATE(i))
			return look->threads[k];
	}
	ck_abort_msg("thread state %u is not in the look", i);
	return NULL;
}

static void expect_stack(unsigned i, enum py_stack_state state, unsigned depth, unsigned first_code)
{
	const struct py_stack *stack = &thread_of(i)->stack;

	ck_assert_int_eq(stack->state, state);
	ck_assert_uint_eq(stack->depth, depth);
	for (unsigned k = 0; k < depth; k++) {
		ck_assert_uint_eq(stack->frames[k].code, WORLD_CODE(first_code + depth - 1 - k));
		ck_assert_uint_eq(stack->frames[k].address, world_slot(&world, i, depth - 1 - k));
	}
}

START_TEST(first_and_next_look)
{
	for (int form = WORLD_OBJECTS; form <= WORLD_INSTRS; form++) {
		open_world((enum world_form)form);
		list_threads(3, 4);
		world_gil(&world, 0, 1);
		look_again();
		ck_assert_uint_eq(look->interp_count, 1);
		ck_assert_uint_eq(look->thread_count, 3);
		ck_assert_uint_eq(look->threads[0]->tstate, WORLD_TSTATE(2));
		for (unsigned i = 0; i < 3; i++) {
			ck_assert(thread_of(i)->is_new);
			ck_assert(thread_of(i)->holds_gil == (i == 1));
			ck_assert_int_eq(thread_of(i)->native_id, WORLD_NATIVE_ID(i));
			expect_stack(i, PY_STACK_GOOD, 4, 10 * i);
		}
		for (int n = 0; n < 70; n++)
			look_again();
		ck_assert_uint_eq(look->retried, 0);
		ck_assert(!thread_of(0)->is_new);
		expect_stack(2, PY_STACK_GOOD, 4, 20);
		ck_assert_uint_eq(thread_of(2)->stack.kept, 4);
		ck_assert_uint_eq(thread_of(2)->stack.tries, 1);
		interp_close(reader);
	}
}
END_TEST

/* In the steady state one call; after that a change is found at once. */
START_TEST(one_call_a_look)
{
	for (int form = WORLD_OBJECTS; form <= WORLD_INSTRS; form++) {
		open_world((enum world_form)form);
		list_threads(3, 4);
		for (int n = 0; n < 3; n++)
			look_again();
		uint64_t calls = world.arena.memory.calls;

		for (int n = 0; n < 32; n++)
			look_again();
		/* the pointer to the GIL is read once in 64 looks */
		ck_assert_uint_le(world.arena.memory.calls - calls, 33);
		world_stack(&world, 1, 6, 50);
		look_again();
		expect_stack(1, PY_STACK_GOOD, 6, 50);
		world_stack(&world, 1, 1, 60);
		look_again();
		expect_stack(1, PY_STACK_GOOD, 1, 60);
		world_stack(&world, 1, 0, 0);
		look_again();
		expect_stack(1, PY_STACK_NONE, 0, 0);
		interp_close(reader);
	}
}
END_TEST

START_TEST(kept_frames)
{
	open_world(WORLD_INSTRS);
	list_threads(1, 5);
	look_again();
	world_frame(&world, world_slot(&world, 0, 4), world_slot(&world, 0, 3), 70, 8, 0);
	look_again();
	ck_assert_uint_eq(thread_of(0)->stack.kept, 4);
	world_stack(&world, 0, 3, 0);
	look_again();
	ck_assert_uint_eq(thread_of(0)->stack.kept, 3);
	interp_close(reader);
}
END_TEST

START_TEST(threads_come_and_go)
{
	for (int form = WORLD_OBJECTS; form <= WORLD_INSTRS; form++) {
		int user;

		open_world((enum world_form)form);
		list_threads(2, 2);
		look_again();
		thread_of(0)->user = &user;
		struct py_thread *first = thread_of(0);

		list_threads(4, 2);
		look_again();
		ck_assert_uint_eq(look->thread_count, 4);
		ck_assert(thread_of(3)->is_new && !thread_of(1)->is_new);
		ck_assert_ptr_eq(thread_of(0), first);
		ck_assert_ptr_eq(thread_of(0)->user, &user);
		ck_assert_uint_eq(look->gone_count, 0);
		expect_stack(3, PY_STACK_GOOD, 2, 30);

		/* the one in the middle ends; its neighbours sleep */
		world_thread(&world, 3, 0, WORLD_TSTATE(1));
		world_stack(&world, 3, 2, 30);
		look_again();
		ck_assert_uint_eq(look->thread_count, 3);
		ck_assert_uint_eq(look->gone_count, 1);
		ck_assert_uint_eq(look->gone[0]->tstate, WORLD_TSTATE(2));

		/* its memory is another thread's now */
		uint64_t id = 4242;

		arena_u64(&world.arena, WORLD_TSTATE(0) + 56, id << 20);
		arena_u64(&world.arena, WORLD_TSTATE(0) + 64, id);
		look_again();
		ck_assert_uint_eq(look->gone_count, 1);
		ck_assert_ptr_eq(look->gone[0], first);
		ck_assert(thread_of(0)->is_new);
		ck_assert_ptr_null(thread_of(0)->user);
		ck_assert_int_eq(thread_of(0)->native_id, (int64_t)id);

		world_head(&world, 0, 0);
		look_again();
		ck_assert_uint_eq(look->thread_count, 0);
		ck_assert_uint_eq(look->gone_count, 3);
		interp_close(reader);
	}
}
END_TEST

/* A thread state that is not bound yet gets its ids later and stays the same thread. */
START_TEST(ids_come_later)
{
	open_world(WORLD_INSTRS);
	list_threads(1, 0);
	arena_u64(&world.arena, WORLD_TSTATE(0) + 56, 0);
	arena_u64(&world.arena, WORLD_TSTATE(0) + 64, 0);
	look_again();
	struct py_thread *thread = thread_of(0);

	ck_assert_int_eq(thread->native_id, 0);
	world_thread(&world, 0, 0, 0);
	look_again();
	ck_assert_ptr_eq(thread_of(0), thread);
	ck_assert_int_eq(thread->native_id, WORLD_NATIVE_ID(0));
	interp_close(reader);
}
END_TEST

START_TEST(sleepers)
{
	for (int form = WORLD_OBJECTS; form <= WORLD_INSTRS; form++) {
		open_world((enum world_form)form);
		list_threads(3, 3);
		look_again();
		for (unsigned i = 0; i < 3; i++)
			thread_of(i)->asleep = true;
		uint64_t bytes = world.arena.memory.bytes_read;

		look_again();
		uint64_t read = world.arena.memory.bytes_read - bytes;

		ck_assert_uint_lt(read, 3 * world.runtime.layout.tstate.size + 300);
		for (unsigned i = 0; i < 3; i++) {
			expect_stack(i, PY_STACK_UNCHANGED, 3, 10 * i);
			ck_assert_uint_eq(thread_of(i)->stack.kept, 3);
		}
		/* it ends: that shows in the one before it */
		thread_of(0)->asleep = false;
		world_thread(&world, 1, 0, 0);
		world_stack(&world, 1, 3, 10);
		look_again();
		ck_assert_uint_eq(look->thread_count, 2);
		interp_close(reader);
	}
}
END_TEST

/* A sleeper that was torn is read all the same, and so is one whose top frame has changed. */
START_TEST(sleepers_read_all_the_same)
{
	open_world(WORLD_INSTRS);
	list_threads(2, 3);
	arena_u64(&world.arena, world_slot(&world, 0, 2), 0);
	look_again();
	ck_assert_int_eq(thread_of(0)->stack.state, PY_STACK_TORN);
	ck_assert_uint_ge(thread_of(0)->stack.tries, PY_READS_MAX);
	expect_stack(1, PY_STACK_GOOD, 3, 10);
	thread_of(0)->asleep = thread_of(1)->asleep = true;
	world_stack(&world, 0, 3, 0);
	world_stack(&world, 1, 5, 40);
	for (int n = 0; n < 64; n++)
		look_again();
	expect_stack(0, PY_STACK_UNCHANGED, 3, 0);
	expect_stack(1, PY_STACK_UNCHANGED, 5, 40);
	interp_close(reader);
}
END_TEST

/* One thread's trouble is its own. */
START_TEST(torn_thread)
{
	for (int form = WORLD_OBJECTS; form <= WORLD_INSTRS; form++) {
		open_world((enum world_form)form);
		list_threads(3, 4);
		look_again();
		arena_u64(&world.arena, world_slot(&world, 1, 2), 0);
		look_again();
		ck_assert_int_eq(thread_of(1)->stack.state, PY_STACK_TORN);
		ck_assert_uint_eq(thread_of(1)->stack.depth, 2);
		ck_assert_uint_eq(thread_of(1)->stack.frames[1].code, WORLD_CODE(10));
		expect_stack(0, PY_STACK_GOOD, 4, 0);
		expect_stack(2, PY_STACK_GOOD, 4, 20);
		/* its top frame lies nowhere */
		world_leaf(&world, 1, 0x7fff00000000);
		look_again();
		ck_assert_int_eq(thread_of(1)->stack.state, PY_STACK_TORN);
		ck_assert_uint_eq(thread_of(1)->stack.depth, 0);
		expect_stack(0, PY_STACK_GOOD, 4, 0);
		world_stack(&world, 1, 4, 10);
		look_again();
		expect_stack(1, PY_STACK_GOOD, 4, 10);
		interp_close(reader);
	}
}
END_TEST

/* Frames of generators lie elsewhere, and not always in the same place. */
START_TEST(generators)
{
	for (int form = WORLD_CFRAMES; form <= WORLD_INSTRS; form++) {
		open_world((enum world_form)form);
		list_threads(1, 3);
		for (unsigned n = 0; n < 200; n++) {
			remote_addr inner = WORLD_HEAP(1) + n % 7 * 0x200;
			remote_addr outer = WORLD_HEAP(2) + n % 5 * 0x200;

			world_frame(&world, outer, world_slot(&world, 0, 2), 80, 2, 1);
			world_frame(&world, inner, outer, 81, 4, 1);
			world_leaf(&world, 0, inner);
			look_again();
			const struct py_stack *stack = &thread_of(0)->stack;

			ck_assert_int_eq(stack->state, PY_STACK_GOOD);
			ck_assert_uint_eq(stack->depth, 5);
			ck_assert_uint_eq(stack->frames[0].address, inner);
			ck_assert_uint_eq(stack->frames[1].address, outer);
			ck_assert_uint_eq(stack->frames[4].code, WORLD_CODE(0));
		}
		interp_close(reader);
	}
}
END_TEST

/* A stack over many chunks: the chunk of thread i + 1 continues that of thread i. */
START_TEST(many_chunks)
{
	const unsigned each = 20;
	remote_addr previous = 0;

	open_world(WORLD_CFRAMES);
	list_threads(1, 0);
	for (unsigned chunk = 0; chunk < 12; chunk++) {
		if (chunk)
			arena_u64(&world.arena, WORLD_CHUNK(chunk), WORLD_CHUNK(chunk - 1));
		arena_u64(&world.arena, WORLD_CHUNK(chunk) + 8, WORLD_CHUNK_SIZE);
		for (unsigned n = 0; n < each; n++) {
			remote_addr at = world_slot(&world, chunk, n);

			world_frame(&world, at, previous, chunk * each + n, 2, 0);
			previous = at;
		}
		world_leaf(&world, 0, previous);
		arena_u64(&world.arena, WORLD_TSTATE(0) + 32, WORLD_CHUNK(chunk));
		arena_u64(&world.arena, WORLD_TSTATE(0) + 40, world_slot(&world, chunk, each));
		arena_u64(&world.arena, WORLD_TSTATE(0) + 48,
			  WORLD_CHUNK(chunk) + WORLD_CHUNK_SIZE);
		if (chunk % 4 != 3)
			continue;
		look_again();
		ck_assert_int_eq(thread_of(0)->stack.state, PY_STACK_GOOD);
		ck_assert_uint_eq(thread_of(0)->stack.depth, (chunk + 1) * each);
		for (unsigned k = 0; k < thread_of(0)->stack.depth; k++)
			ck_assert_uint_eq(thread_of(0)->stack.frames[k].code,
					  WORLD_CODE((chunk + 1) * each - 1 - k));
	}
	interp_close(reader);
}
END_TEST

static struct memory_region deep_regions[2];
static uint8_t deep_chunk[2000 * WORLD_FRAME_SIZE + 24];

/* Only the leaf part of a stack that is too deep. */
START_TEST(too_deep)
{
	const remote_addr chunk = 0x4000000;
	remote_addr previous = 0;

	world_open(&world, WORLD_INSTRS);
	deep_regions[0] = world.arena.region;
	deep_regions[1] = (struct memory_region){ chunk, { deep_chunk, sizeof(deep_chunk) } };
	memory_open_image(&world.arena.memory, deep_regions, 2);
	ck_assert_int_eq(interp_open(&reader, &world.runtime, &world.arena.memory), ST_OK);
	list_threads(1, 0);
	for (unsigned n = 0; n < 2000; n++) {
		uint8_t *frame = deep_chunk + 24 + n * WORLD_FRAME_SIZE;
		uint64_t words[2] = { WORLD_CODE(n), previous };

		memcpy(frame, words, sizeof(words));
		memcpy(frame + 56, words, 8);
		previous = chunk + 24 + n * WORLD_FRAME_SIZE;
	}
	arena_u64(&world.arena, WORLD_TSTATE(0) + 32, chunk);
	arena_u64(&world.arena, WORLD_TSTATE(0) + 40, chunk + sizeof(deep_chunk));
	arena_u64(&world.arena, WORLD_TSTATE(0) + 48, chunk + sizeof(deep_chunk));
	world_leaf(&world, 0, previous);
	look_again();
	ck_assert_int_eq(thread_of(0)->stack.state, PY_STACK_GOOD);
	ck_assert(thread_of(0)->stack.truncated);
	ck_assert_uint_eq(thread_of(0)->stack.depth, PY_DEPTH_MAX);
	ck_assert_uint_eq(thread_of(0)->stack.frames[0].code, WORLD_CODE(1999));
	interp_close(reader);
}
END_TEST

/* Three interpreters: the middle one with a GIL of its own, the newest with that of the main one. */
START_TEST(interpreters)
{
	open_world(WORLD_INSTRS);
	list_threads(1, 2);
	look_again();
	for (unsigned k = 1; k < 3; k++) {
		arena_u64(&world.arena, WORLD_INTERP(k), WORLD_INTERP(k - 1));
		arena_u64(&world.arena, WORLD_INTERP(k) + 16, k);
		arena_u64(&world.arena, WORLD_INTERP(k) + 32, WORLD_INTERP(k == 1) + 64);
		world_thread(&world, k, k, 0);
		world_stack(&world, k, 2, 10 * k);
		world_head(&world, k, WORLD_TSTATE(k));
	}
	arena_u64(&world.arena, WORLD_RUNTIME + 8, WORLD_INTERP(2));
	world_gil(&world, 0, 2);
	world_gil(&world, 1, 1);
	look_at_roots();
	for (int n = 0; n < 3; n++) {
		look_again();
		ck_assert_uint_eq(look->interp_count, 3);
		ck_assert_int_eq(look->interps[0].id, 2);
		ck_assert_uint_eq(look->thread_count, 3);
		for (unsigned k = 0; k < 3; k++)
			ck_assert_uint_eq(thread_of(k)->interp, 2 - k);
		ck_assert(thread_of(2)->holds_gil && thread_of(1)->holds_gil);
		ck_assert(!thread_of(0)->holds_gil);
		ck_assert_uint_eq(look->interps[0].gil.address, look->interps[2].gil.address);
		arena_u64(&world.arena, WORLD_INTERP(1) + 32, WORLD_INTERP(1) + 64);
		expect_stack(1, PY_STACK_GOOD, 2, 10);
	}
	arena_u64(&world.arena, WORLD_RUNTIME + 8, WORLD_INTERP(0));
	look_again();
	ck_assert_uint_eq(look->thread_count, 1);
	ck_assert_uint_eq(look->gone_count, 2);
	ck_assert_uint_eq(thread_of(0)->interp, 0);
	interp_close(reader);
}
END_TEST

START_TEST(broken_lists)
{
	open_world(WORLD_INSTRS);
	list_threads(3, 2);
	look_again();
	/* a circle of thread states: what is known stays */
	world_thread(&world, 0, 0, WORLD_TSTATE(2));
	world_stack(&world, 0, 2, 0);
	look_again();
	ck_assert_uint_eq(look->thread_count, 3);
	ck_assert_uint_eq(look->gone_count, 0);
	list_threads(3, 2);
	look_again();
	ck_assert_uint_eq(look->thread_count, 3);
	expect_stack(0, PY_STACK_GOOD, 2, 0);
	/* a circle of interpreters, one that cannot be read, and none */
	arena_u64(&world.arena, WORLD_INTERP(0), WORLD_INTERP(0));
	ck_assert_int_eq(interp_look(reader, &look), ST_FAULT);
	arena_u64(&world.arena, WORLD_INTERP(0), 0x7fff00000000);
	ck_assert_int_eq(interp_look(reader, &look), ST_FAULT);
	arena_u64(&world.arena, WORLD_INTERP(0), 0);
	look_again();
	ck_assert_uint_eq(look->thread_count, 3);
	arena_u64(&world.arena, WORLD_RUNTIME + 8, 0);
	look_at_roots();
	ck_assert_uint_eq(look->thread_count, 0);
	ck_assert(look->finalizing);
	interp_close(reader);
}
END_TEST

START_TEST(states_and_exceptions)
{
	struct arena *a = &world.arena;
	const remote_addr item = WORLD_HEAP(1);
	const remote_addr none = WORLD_HEAP(2), type = none + 0x40, name = none + 0x80;

	open_world(WORLD_INSTRS);
	list_threads(1, 2);
	arena_u64(a, none + 8, type);
	arena_u64(a, type + 24, name);
	arena_put(a, name, "NoneType", 9);
	look_again();
	ck_assert(!thread_of(0)->raising && !thread_of(0)->handling);
	arena_u64(a, WORLD_TSTATE(0) + 72, 0x900000);
	arena_u64(a, WORLD_TSTATE(0) + 88, none);
	arena_u32(a, WORLD_INTERP(0) + 24, 1);
	look_again();
	ck_assert(thread_of(0)->raising && !thread_of(0)->handling);
	ck_assert(look->interps[0].gc_collecting);
	/* a generator's own item, without a value, before the thread's, which has one */
	arena_u64(a, WORLD_TSTATE(0) + 88, 0x900000);
	arena_u64(a, WORLD_TSTATE(0) + 80, item);
	arena_u64(a, item + 8, WORLD_TSTATE(0) + 88);
	look_again();
	look_again();
	ck_assert(thread_of(0)->handling);
	arena_u64(a, item + 8, item); /* a circle */
	look_again();
	ck_assert(!thread_of(0)->handling);
	interp_close(reader);
}
END_TEST

START_TEST(wrong_layouts)
{
	world_open(&world, WORLD_INSTRS);
	world.runtime.layout.tstate.size = 8;
	ck_assert_int_eq(interp_open(&reader, &world.runtime, &world.arena.memory), ST_BAD_DATA);
	world_open(&world, WORLD_INSTRS);
	world.runtime.layout.frame.previous = 4000000000u;
	ck_assert_int_eq(interp_open(&reader, &world.runtime, &world.arena.memory), ST_BAD_DATA);
	world_open(&world, WORLD_INSTRS);
	world.runtime.layout.interp.threads_head = 4000000000u;
	ck_assert_int_eq(interp_open(&reader, &world.runtime, &world.arena.memory), ST_BAD_DATA);
}
END_TEST

UNIT_MAIN("interp", first_and_next_look, one_call_a_look, kept_frames, threads_come_and_go,
	  ids_come_later, sleepers, sleepers_read_all_the_same, torn_thread, generators,
	  many_chunks, too_deep, interpreters, broken_lists, states_and_exceptions, wrong_layouts)
