/*
 * From addresses to names over a made-up target whose code objects are replaced under the resolver's eyes: a name must never
 * outlive its object beyond what the resolver promises.
 */
#include "codes.h"

#include "record/names.h"
#include "resolver.h"

#define TSTATE (ARENA_START + 0xc000u)
#define FRAME(i) (ARENA_START + 0x8000u + (i)*0x100u) /* i < 16 */
#define FRAMES_END FRAME(16)
#define MS ((nanoseconds)1000000)
#define SECOND (1000 * MS)

static const int minors[] = { 8, 9, 10, 11, 12 };

struct scene {
	struct codes codes;
	struct names *names;
	struct resolver *resolver;
	struct py_interp interp;
	struct py_look look;
	struct py_thread thread;
	struct py_frame frames[PY_DEPTH_MAX]; /* leaf first */
	struct resolved resolved;
	nanoseconds now;
	bool torn;
};

static struct scene s;

#define FOR_EACH_VERSION \
	for (size_t v = 0; v < sizeof(minors) / sizeof(minors[0]); v++) \
		for (bool once = (scene_open(minors[v], false), true); once; \
		     once = false, scene_close())

static void scene_open(int minor, bool counts_deaths)
{
	memset(&s, 0, sizeof(s));
	codes_open(&s.codes, minor);
	if (counts_deaths)
		s.codes.runtime.layout.interp.code_generation = 0;
	ck_assert_int_eq(names_open(&s.names), ST_OK);
	ck_assert_int_eq(
		resolver_open(&s.resolver, &s.codes.runtime, &s.codes.arena.memory, s.names),
		ST_OK);
	s.look.interps = &s.interp;
	s.look.interp_count = 1;
	s.thread.tstate = TSTATE;
	s.thread.stack.frames = s.frames;
	s.now = 1000 * SECOND;
}

static void scene_close(void)
{
	resolved_free(&s.resolved);
	resolver_close(s.resolver);
	names_close(s.names);
}

/* Frame i, counted from the root, runs code object `code` at its unit n: in memory. */
static void put_frame(unsigned i, unsigned code, int n)
{
	const struct py_layout *l = &s.codes.runtime.layout;
	struct arena *a = &s.codes.arena;
	int64_t instruction = codes_instruction(&s.codes, n);

	arena_u64(a, FRAME(i) + l->frame.code, CODES_CODE(code));
	if (l->frame_form == PY_FRAME_OBJECT) {
		bool in_units = l->lines_form == PY_LINES_310;
		uint8_t executing = in_units ? 0 : 1;

		arena_u32(a, FRAME(i) + l->frame.lasti,
			  (uint32_t)(in_units ? instruction / 2 : instruction));
		arena_put(a, FRAME(i) + l->frame.lasti + 12, &executing, 1);
		return;
	}
	arena_u64(a, FRAME(i) + l->frame.lasti, CODES_CODE(code) + (uint64_t)instruction);
	arena_u64(a, TSTATE + l->tstate.datastack_top, FRAME(i + 1));
	arena_u64(a, TSTATE + l->tstate.datastack_top + 8, FRAMES_END);
}

/* The same as the thread's stack was read; from the root, so that the last one put is the leaf. */
static void push(unsigned code, int n)
{
	struct py_stack *stack = &s.thread.stack;

	put_frame(stack->depth, code, n);
	memmove(s.frames + 1, s.frames, stack->depth * sizeof(*s.frames));
	s.frames[0] = (struct py_frame){ .code = CODES_CODE(code),
					 .address = FRAME(stack->depth),
					 .instruction = codes_instruction(&s.codes, n) };
	stack->depth++;
	stack->state = PY_STACK_GOOD;
	stack->tries = 1;
}

static stack_id resolve_in(struct resolved *resolved)
{
	stack_id stack = 0;

	s.torn = false;
	ck_assert_int_eq(
		resolver_stack(s.resolver, resolved, &s.thread, s.interp.id, 0, &stack, &s.torn),
		ST_OK);
	return stack;
}

/* In the next tick, so much later. */
static stack_id resolve_after(nanoseconds ns)
{
	s.now += ns;
	resolver_tick(s.resolver, &s.look, s.now, false);
	return resolve_in(&s.resolved);
}

/* "leaf:line caller:line ... " */
static const char *text_of(stack_id stack)
{
	static char text[65536];
	size_t used = 0;

	text[0] = '\0';
	for (; stack; stack = names_stack_at(s.names, stack)->parent) {
		const struct name_frame *f =
			names_frame_at(s.names, names_stack_at(s.names, stack)->frame);
		const struct name_function *fn = names_function_at(s.names, f->function);

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s:%d ",
					 names_text(s.names, fn->name, NULL), (int)f->line);
	}
	return text;
}

#define check_stack(stack, expected) ck_assert_str_eq(text_of(stack), expected)

/* What the version calls it: the qualified name from 3.11 on. */
static const char *named(const char *format)
{
	static char text[256];
	char *to = text;

	for (; *format; format++)
		if (*format != '@')
			*to++ = *format;
		else if (s.codes.runtime.layout.version.minor >= 11)
			to = stpcpy(to, "C.");
	*to = '\0';
	return text;
}

/* ---- names and lines */

START_TEST(names_and_lines)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 0, "main", "m.py", 1);
		codes_put(&s.codes, 1, "C.f", "a.py", 10);
		codes_put(&s.codes, 2, "C.g", "a.py", 20);
		push(0, 3);
		push(1, 0);
		push(2, 1);
		stack_id stack = resolve_after(0);
		check_stack(stack, named("@g:21 @f:10 main:2 "));
		ck_assert(!s.torn);

		const struct name_function *f = names_function_at(
			s.names,
			names_frame_at(s.names, names_stack_at(s.names, stack)->frame)->function);
		ck_assert_str_eq(names_text(s.names, f->file, NULL), "a.py");
		ck_assert_int_eq(f->line, 20);

		/* the leaf goes on, and comes back */
		s.frames[0].instruction = codes_instruction(&s.codes, 0);
		check_stack(resolve_after(MS), named("@g:20 @f:10 main:2 "));
		s.frames[0].instruction = codes_instruction(&s.codes, 1);
		ck_assert_uint_eq(resolve_after(MS), stack);
	}
}
END_TEST

START_TEST(no_frames)
{
	FOR_EACH_VERSION
	{
		s.thread.stack.state = PY_STACK_NONE;
		check_stack(resolve_after(0), NAMES_NO_PYTHON ":0 ");
		ck_assert(!s.torn);
		s.thread.stack.state = PY_STACK_TORN;
		check_stack(resolve_after(MS), NAMES_TORN ":0 ");
		ck_assert(s.torn);
	}
}
END_TEST

/* The verified part from the root, and <torn>; good again in the next tick. */
START_TEST(torn_stack)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 0, "main", "m.py", 1);
		codes_put(&s.codes, 1, "C.f", "a.py", 10);
		push(0, 0);
		push(1, 0);
		s.thread.stack.state = PY_STACK_TORN;
		check_stack(resolve_after(0), named(NAMES_TORN ":0 @f:10 main:1 "));
		ck_assert(s.torn);
		s.thread.stack.state = PY_STACK_GOOD;
		check_stack(resolve_after(MS), named("@f:10 main:1 "));
		ck_assert(!s.torn);
	}
}
END_TEST

START_TEST(truncated_stack)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 1, "C.f", "a.py", 10);
		push(1, 0);
		s.thread.stack.truncated = true;
		check_stack(resolve_after(0), named("@f:10 " NAMES_TRUNCATED ":0 "));
		s.thread.stack.truncated = false;
		check_stack(resolve_after(MS), named("@f:10 "));
	}
}
END_TEST

START_TEST(stands_on_another)
{
	FOR_EACH_VERSION
	{
		stack_id base, stack;

		codes_put(&s.codes, 0, "main", "m.py", 1);
		codes_put(&s.codes, 1, "C.f", "a.py", 10);
		push(0, 0);
		base = resolve_after(0);
		struct resolved inner = { 0 };
		s.thread.stack.depth = 0;
		push(1, 0);
		ck_assert_int_eq(
			resolver_stack(s.resolver, &inner, &s.thread, 0, base, &stack, NULL),
			ST_OK);
		check_stack(stack, named("@f:10 main:1 "));
		s.thread.stack.depth = 0;
		s.thread.stack.state = PY_STACK_NONE;
		ck_assert_int_eq(
			resolver_stack(s.resolver, &inner, &s.thread, 0, base, &stack, NULL),
			ST_OK);
		ck_assert_uint_eq(stack, base);
		resolved_free(&inner);
	}
}
END_TEST

/* Frames that have not come to their first traceable instruction are hidden by CPython itself. */
START_TEST(hidden_frames)
{
	scene_open(12, false);
	codes_put(&s.codes, 0, "main", "m.py", 1);
	codes_put(&s.codes, 1, "C.f", "a.py", 10);
	arena_u32(&s.codes.arena, CODES_CODE(1) + s.codes.runtime.layout.code.firsttraceable, 2);
	push(0, 0);
	push(1, 1);
	check_stack(resolve_after(0), "main:1 ");
	s.frames[0].instruction = codes_instruction(&s.codes, 2);
	check_stack(resolve_after(MS), "C.f:11 main:1 ");
	scene_close();
}
END_TEST

START_TEST(thread_root)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 0, "Thread._bootstrap", "threading.py", 1);
		codes_put(&s.codes, 1, "C.f", "a.py", 10);
		push(0, 0);
		push(1, 0);
		resolve_after(0);
		ck_assert_uint_eq(s.resolved.root_frame, FRAME(0));
		s.thread.stack.state = PY_STACK_NONE;
		s.thread.stack.depth = 0;
		resolve_after(MS);
		ck_assert_uint_eq(s.resolved.root_frame, 0);
		push(1, 0);
		resolve_after(MS);
		ck_assert_uint_eq(s.resolved.root_frame, 0);
	}
}
END_TEST

START_TEST(special)
{
	scene_open(12, false);
	stack_id stack, again;

	codes_put(&s.codes, 0, "main", "m.py", 1);
	push(0, 0);
	stack_id below = resolve_after(0);
	ck_assert_int_eq(resolver_special(s.resolver, NAMES_GC, below, &stack), ST_OK);
	check_stack(stack, NAMES_GC ":0 main:1 ");
	ck_assert_int_eq(resolver_special(s.resolver, NAMES_GC, below, &again), ST_OK);
	ck_assert_uint_eq(stack, again);
	scene_close();
}
END_TEST

/* ---- what costs nothing */

/* A thread that has not run, and frames that are as they were, are not read again while their objects are trusted. */
START_TEST(reads_nothing_twice)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 0, "main", "m.py", 1);
		push(0, 0);
		stack_id stack = resolve_after(0);
		resolve_after(2 * SECOND);
		uint64_t before = s.codes.arena.memory.bytes_read;
		ck_assert_uint_eq(resolve_after(MS), stack);
		s.thread.stack.state = PY_STACK_UNCHANGED;
		s.thread.stack.tries = 0;
		ck_assert_uint_eq(resolve_after(SECOND), stack);
		ck_assert_uint_eq(s.codes.arena.memory.bytes_read, before);
	}
}
END_TEST

/* ---- doubt */

/* A young object is looked at whenever it is used. */
START_TEST(replaced_while_young)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 0, "main", "m.py", 1);
		push(0, 0);
		push(1, 0);
		for (int i = 0; i < 50; i++) {
			char name[32], expected[64];

			snprintf(name, sizeof(name), "f%d", i);
			codes_put(&s.codes, 1, name, "a.py", 10 + i);
			snprintf(expected, sizeof(expected), "%s:%d main:1 ", name, 10 + i);
			check_stack(resolve_after(MS), expected);
			check_stack(resolve_after(MS), expected);
			ck_assert(!s.torn);
		}
	}
}
END_TEST

/* An old one after a while; and from then on the program is known to make code. */
START_TEST(replaced_when_old)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 0, "main", "m.py", 1);
		codes_put(&s.codes, 1, "f", "a.py", 10);
		push(0, 0);
		push(1, 0);
		resolve_after(0);
		check_stack(resolve_after(5 * SECOND), "f:10 main:1 ");
		codes_put(&s.codes, 1, "g", "a.py", 30);
		check_stack(resolve_after(10 * MS), "g:30 main:1 ");
		resolve_after(5 * SECOND);
		codes_put(&s.codes, 1, "h", "a.py", 40);
		check_stack(resolve_after(MS), "h:40 main:1 ");
		/* the one that was there all the time as well */
		codes_put(&s.codes, 0, "other", "m.py", 5);
		check_stack(resolve_after(MS), "h:40 other:5 ");
	}
}
END_TEST

/* The other thread has not run, but what it stands on is known to be another object: it must not keep the old name. */
START_TEST(replaced_for_another_thread)
{
	FOR_EACH_VERSION
	{
		struct resolved other = { 0 };

		codes_put(&s.codes, 1, "f", "a.py", 10);
		push(1, 0);
		resolve_after(0);
		check_stack(resolve_in(&other), "f:10 ");
		codes_put(&s.codes, 1, "g", "a.py", 30);
		check_stack(resolve_after(MS), "g:30 ");
		s.thread.stack.state = PY_STACK_UNCHANGED;
		s.thread.stack.tries = 0;
		check_stack(resolve_in(&other), "g:30 ");
		resolved_free(&other);
	}
}
END_TEST

/* Between the reading of the stack and that of its code object the call has ended: that stack has no name. */
START_TEST(call_has_ended)
{
	FOR_EACH_VERSION
	{
		const struct py_layout *l = &s.codes.runtime.layout;
		struct arena *a = &s.codes.arena;

		codes_put(&s.codes, 0, "main", "m.py", 1);
		codes_put(&s.codes, 1, "f", "a.py", 10);
		push(0, 0);
		push(1, 0);
		/* the words are still there, but nothing lives behind the top */
		if (l->frame_form == PY_FRAME_OBJECT)
			a->bytes[FRAME(1) + l->frame.lasti + 12 - ARENA_START] ^= 1;
		else
			arena_u64(a, TSTATE + l->tstate.datastack_top, FRAME(1));
		check_stack(resolve_after(0), NAMES_TORN ":0 main:1 ");
		ck_assert(s.torn);

		/* or another call has taken its place */
		codes_put(&s.codes, 2, "g", "a.py", 20);
		s.thread.stack.depth = 1;
		memmove(s.frames, s.frames + 1, sizeof(*s.frames));
		push(2, 0);
		put_frame(1, 1, 0);
		check_stack(resolve_after(MS), NAMES_TORN ":0 main:1 ");
		ck_assert(s.torn);
	}
}
END_TEST

/* The instruction is taken again with the name, so that both are of one moment. */
START_TEST(line_belongs_to_name)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 1, "f", "a.py", 10);
		push(1, 0);
		put_frame(0, 1, 1);
		check_stack(resolve_after(0), "f:11 ");
	}
}
END_TEST

/* A trusted entry whose code is too short for the instruction is none to trust. */
START_TEST(instruction_of_another)
{
	static const int newer[] = { 11, 12 };

	for (size_t v = 0; v < 2; v++) {
		scene_open(newer[v], false);
		codes_put(&s.codes, 1, "f", "a.py", 10);
		arena_u64(&s.codes.arena, CODES_CODE(1) + s.codes.runtime.layout.code.ob_size, 3);
		push(1, 0);
		resolve_after(0);
		resolve_after(5 * SECOND);
		codes_put(&s.codes, 1, "g", "a.py", 30);
		s.thread.stack.depth = 0;
		push(1, 5);
		check_stack(resolve_after(MS), "g:31 ");
		ck_assert(!s.torn);

		/* and one that no object there explains is torn */
		s.thread.stack.depth = 0;
		push(1, 500);
		check_stack(resolve_after(MS), NAMES_TORN ":0 ");
		ck_assert(s.torn);
		scene_close();
	}
}
END_TEST

START_TEST(not_code)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 0, "main", "m.py", 1);
		push(0, 0);
		push(9, 0); /* nothing is there */
		check_stack(resolve_after(0), NAMES_TORN ":0 main:1 ");
		ck_assert(s.torn);
		s.frames[0].code = 0x7000; /* nor can it be read */
		check_stack(resolve_after(0), NAMES_TORN ":0 main:1 ");
	}
}
END_TEST

/* ---- 3.14 and later: deaths are counted */

START_TEST(deaths_are_counted)
{
	scene_open(12, true);
	codes_put(&s.codes, 0, "main", "m.py", 1);
	codes_put(&s.codes, 1, "C.f", "a.py", 10);
	push(0, 0);
	push(1, 0);
	s.interp.code_generation = 5;
	stack_id stack = resolve_after(0);
	uint64_t before = s.codes.arena.memory.bytes_read;
	ck_assert_uint_eq(resolve_after(100 * SECOND), stack);
	ck_assert_uint_eq(s.codes.arena.memory.bytes_read, before);

	codes_put(&s.codes, 1, "C.g", "a.py", 20);
	s.interp.code_generation = 6;
	check_stack(resolve_after(MS), "C.g:20 main:1 ");
	before = s.codes.arena.memory.bytes_read;
	check_stack(resolve_after(MS), "C.g:20 main:1 ");
	ck_assert_uint_eq(s.codes.arena.memory.bytes_read, before);

	/* a stack that was read after the count cannot rely on it */
	codes_put(&s.codes, 1, "C.h", "a.py", 30);
	s.thread.stack.tries = 2;
	check_stack(resolve_after(MS), "C.h:30 main:1 ");
	scene_close();
}
END_TEST

/* ---- tables */

START_TEST(renewed_names)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 0, "main", "m.py", 1);
		codes_put(&s.codes, 1, "C.f", "a.py", 10);
		push(0, 0);
		push(1, 1);
		resolve_after(0);
		names_renew(s.names, NULL);
		resolver_renewed(s.resolver);
		s.thread.stack.state = PY_STACK_UNCHANGED;
		check_stack(resolve_after(MS), named("@f:11 main:1 "));
		ck_assert_uint_eq(names_stack_count(s.names), 2);
	}
}
END_TEST

/* The same function in another interpreter is another row. */
START_TEST(another_interpreter)
{
	FOR_EACH_VERSION
	{
		codes_put(&s.codes, 0, "main", "m.py", 1);
		push(0, 0);
		stack_id stack = resolve_after(0);
		struct resolved resolved = { 0 };
		s.interp.id = 3;
		stack_id other = resolve_in(&resolved);
		check_stack(other, "main:1 ");
		ck_assert_uint_ne(stack, other);
		resolved_free(&resolved);
	}
}
END_TEST

UNIT_MAIN("resolver", names_and_lines, no_frames, torn_stack, truncated_stack, stands_on_another,
	  hidden_frames, thread_root, special, reads_nothing_twice, replaced_while_young,
	  replaced_when_old, replaced_for_another_thread, call_has_ended, line_belongs_to_name,
	  instruction_of_another, not_code, deaths_are_counted, renewed_names, another_interpreter)
