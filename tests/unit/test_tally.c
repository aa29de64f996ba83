/*
 * The sums of the tally against numbers worked out by hand: half-lives are 1 s and times whole
 * seconds, so that every decayed sum is a short binary fraction and must be met exactly.
 */
#include "unit.h"

#include <string.h>

#include "record/names.h"
#include "record/tally.h"

#define S 1000000000LL

static struct names *names;
static func_id main_function, work_function, loop_function;
static stack_id in_main, in_work, in_loop, in_recursion;
static thread_id first_thread, second_thread;

static func_id function(const char *name)
{
	struct name_function f = { .line = name[0] != '<' };
	func_id id;

	ck_assert_int_eq(names_string(names, name, strlen(name), &f.name), ST_OK);
	ck_assert_int_eq(names_function(names, &f, &id), ST_OK);
	return id;
}

static stack_id push(stack_id parent, func_id f, int line)
{
	frame_id frame;
	stack_id id;

	ck_assert_int_eq(names_frame(names, f, line, &frame), ST_OK);
	ck_assert_int_eq(names_stack(names, parent, frame, &id), ST_OK);
	return id;
}

static thread_id thread(pid_t tid)
{
	struct name_thread t = { .tid = tid, .born = 1 };
	thread_id id;

	ck_assert_int_eq(names_thread(names, &t, &id), ST_OK);
	return id;
}

static struct tally *open_tally(double half_life)
{
	struct tally *t;

	ck_assert_int_eq(names_open(&names), ST_OK);
	main_function = function("main");
	work_function = function("work");
	loop_function = function("loop");
	in_main = push(0, main_function, 10);
	in_work = push(in_main, work_function, 20);
	in_loop = push(in_work, loop_function, 30);
	in_recursion = push(push(in_loop, work_function, 21), work_function, 20);
	first_thread = thread(100);
	second_thread = thread(101);
	ck_assert_int_eq(tally_open(&t, names, half_life), ST_OK);
	return t;
}

static void close_tally(struct tally *t)
{
	tally_close(t);
	names_close(names);
}

static struct sample sample(thread_id thread_of, stack_id stack, uint8_t state, uint8_t flags,
			    uint16_t cpu)
{
	return (struct sample){ thread_of, stack, state, flags, cpu, -1 };
}

static void add(struct tally *t, nanoseconds at, nanoseconds weight, const struct sample *samples,
		size_t count)
{
	static struct tick tick;

	tick = (struct tick){ .time = at, .weight = weight, .process_cpu = weight / 2 };
	tick.interpreter_count = 1;
	tick.interpreters[0].has_gil = true;
	for (size_t i = 0; i < count; i++)
		tick.interpreters[0].locked |= (samples[i].flags & SAMPLE_GIL) != 0;
	ck_assert_int_eq(tally_tick(t, &tick, samples, count), ST_OK);
}

static bool near(double value, double wanted)
{
	return value > wanted - 1e-9 && value < wanted + 1e-9;
}

static double percent(const struct tally *t, double sum)
{
	return sum * tally_factor(t);
}

/* H = 1 s; ticks at 100, 101, 102 s of weight 1: they count 1/4, 1/2 and 1, so W = 1.75. */
START_TEST(test_decay)
{
	struct tally *t = open_tally(1);
	struct sample a = sample(first_thread, in_main, STATE_GIL, SAMPLE_GIL, 1000);
	struct sample b = sample(first_thread, in_work, STATE_RUNNING, 0, 500);
	struct sample c = sample(first_thread, in_work, STATE_GIL_WAIT, 0, 0);

	ck_assert(near(tally_factor(t), 0));
	add(t, 100 * S, S, &a, 1);
	add(t, 101 * S, S, &b, 1);
	add(t, 102 * S, S, &c, 1);
	ck_assert_uint_eq(tally_settle(t, 1), 1);
	ck_assert_uint_eq(tally_settle(t, 0), 0);

	const struct tally_row *in = tally_function(t, main_function),
			       *work = tally_function(t, work_function);

	ck_assert(near(percent(t, in->self.v[KIND_WALL]), 100 * 0.25 / 1.75));
	ck_assert(near(percent(t, in->total.v[KIND_WALL]), 100));
	ck_assert(near(percent(t, in->self.v[KIND_CPU]), 100 * 0.25 / 1.75));
	ck_assert(near(percent(t, in->total.v[KIND_CPU]), 100 * 0.5 / 1.75));
	ck_assert(near(percent(t, in->total.v[KIND_GIL]), 100 * 0.25 / 1.75));
	ck_assert(near(percent(t, work->self.v[KIND_WALL]), 100 * 1.5 / 1.75));
	ck_assert(near(percent(t, work->self.v[KIND_WAIT]), 100 * 1 / 1.75));
	ck_assert(near(work->self_s.v[KIND_WALL], 2));
	ck_assert(near(in->total_s.v[KIND_CPU], 1.5));
	ck_assert_uint_eq(in->samples, 3);
	ck_assert_uint_eq(work->samples, 2);
	ck_assert_ptr_null(tally_function(t, loop_function + 64));

	const struct tally_whole *whole = tally_whole(t);

	ck_assert(near(percent(t, whole->cpu), 50));
	ck_assert(near(whole->seconds, 3));
	ck_assert(near(percent(t, tally_interpreter_at(t, 0)->held), 100 * 0.25 / 1.75));
	ck_assert(near(percent(t, tally_interpreter_at(t, 0)->waited), 100 * 1 / 1.75));
	ck_assert(near(percent(t, tally_thread(t, first_thread)->recent.v[KIND_WALL]), 100));
	ck_assert_uint_eq(tally_thread(t, first_thread)->stack, in_work);
	close_tally(t);
}
END_TEST

/* work is on the stack three times, and line 20 of it twice: each counts once. */
START_TEST(test_recursion)
{
	struct tally *t = open_tally(0);
	struct sample a = sample(first_thread, in_recursion, STATE_GIL, SAMPLE_GIL, 1000);
	frame_id line_20, line_21;

	ck_assert_int_eq(names_frame(names, work_function, 20, &line_20), ST_OK);
	ck_assert_int_eq(names_frame(names, work_function, 21, &line_21), ST_OK);
	add(t, 5 * S, S, &a, 1);
	add(t, 7 * S, 2 * S, &a, 1);
	tally_settle(t, 0);

	const struct tally_row *work = tally_function(t, work_function);

	ck_assert(near(percent(t, work->total.v[KIND_WALL]), 100));
	ck_assert(near(percent(t, work->self.v[KIND_WALL]), 100));
	ck_assert(near(work->total_s.v[KIND_WALL], 3));
	ck_assert_uint_eq(work->samples, 2);
	ck_assert(near(percent(t, tally_frame(t, line_20)->total.v[KIND_WALL]), 100));
	ck_assert(near(percent(t, tally_frame(t, line_20)->self.v[KIND_WALL]), 100));
	ck_assert(near(percent(t, tally_frame(t, line_21)->total.v[KIND_WALL]), 100));
	ck_assert(near(percent(t, tally_frame(t, line_21)->self.v[KIND_WALL]), 0));
	ck_assert(near(tally_function(t, loop_function)->self_s.v[KIND_WALL], 0));
	close_tally(t);
}
END_TEST

/* Two busy threads add up to 200 %; a gap is in no sum and no denominator. */
START_TEST(test_threads_and_gap)
{
	struct tally *t = open_tally(0);
	struct sample both[2] = { sample(first_thread, in_main, STATE_GIL, SAMPLE_GIL, 1000),
				  sample(second_thread, in_main, STATE_RUNNING, SAMPLE_EXCEPTION,
					 1000) };
	static struct tick tick;

	tick = (struct tick){ .time = 50 * S,
			      .weight = S,
			      .gap = 9 * S,
			      .missed = 3,
			      .process_cpu = 5 * S,
			      .native_cpu = S,
			      .others_cpu = S / 2 };
	ck_assert_int_eq(tally_tick(t, &tick, both, 2), ST_OK);
	tally_settle(t, 0);
	ck_assert(near(percent(t, tally_function(t, main_function)->self.v[KIND_CPU]), 200));
	ck_assert(near(tally_whole(t)->seconds, 1));
	ck_assert(near(tally_whole(t)->gap_s, 9));
	ck_assert(near(tally_whole(t)->native_s, 1));
	ck_assert(near(percent(t, tally_whole(t)->native), 100));
	ck_assert(near(tally_whole(t)->others_s, 0.5));
	ck_assert(near(percent(t, tally_whole(t)->others), 50));
	/* what nobody was given: 5 s less 2 in samples, less native and others */
	ck_assert(near(tally_whole(t)->unseen_s, 1.5));
	ck_assert(near(percent(t, tally_whole(t)->unseen), 150));
	ck_assert(near(percent(t, tally_whole(t)->exception), 100));
	ck_assert(near(percent(t, tally_function(t, main_function)->exception), 100));
	ck_assert_uint_eq(tally_whole(t)->missed, 3);
	ck_assert_uint_eq(tally_whole(t)->samples, 2);
	close_tally(t);
}
END_TEST

/*
 * For ten hours of half-lives of 1 s the exponent passes what a double holds a hundred times
 * over.
 */
START_TEST(test_rebase)
{
	struct tally *t = open_tally(1);
	struct sample a = sample(first_thread, in_main, STATE_GIL, SAMPLE_GIL, 1000);
	struct sample b = sample(first_thread, in_work, STATE_GIL, SAMPLE_GIL, 1000);

	for (int second = 1; second <= 36000; second++)
		add(t, second * S, S, second % 2 ? &a : &b, 1);
	tally_settle(t, 0);
	/* The even seconds, the last among them: 1 + 1/4 + ... of 1 + 1/2 + ...: two thirds. */
	ck_assert(near(percent(t, tally_function(t, work_function)->self.v[KIND_WALL]), 200.0 / 3));
	ck_assert(near(percent(t, tally_function(t, main_function)->self.v[KIND_WALL]), 100.0 / 3));
	ck_assert(near(percent(t, tally_function(t, main_function)->total.v[KIND_WALL]), 100));
	ck_assert(near(tally_function(t, work_function)->self_s.v[KIND_WALL], 18000));
	/* An hour of nothing, then one tick: what was before is gone. */
	add(t, 40000 * S, S, &a, 1);
	tally_settle(t, 0);
	ck_assert(near(percent(t, tally_function(t, main_function)->self.v[KIND_WALL]), 100));
	ck_assert(near(percent(t, tally_function(t, work_function)->self.v[KIND_WALL]), 0));
	close_tally(t);
}
END_TEST

/* What is pending when the exponent is rebased decays like what was spread. */
START_TEST(test_rebase_of_pending)
{
	struct tally *t = open_tally(1);
	struct sample a = sample(first_thread, in_main, STATE_GIL, SAMPLE_GIL, 1000);
	struct sample b = sample(first_thread, in_work, STATE_GIL, SAMPLE_GIL, 1000);

	add(t, 1 * S, S, &a, 1);
	add(t, 256 * S, S, &a, 1);
	add(t, 258 * S, S, &b, 1);
	tally_settle(t, 0);
	ck_assert(near(percent(t, tally_function(t, main_function)->self.v[KIND_WALL]), 20));
	ck_assert(near(percent(t, tally_function(t, work_function)->self.v[KIND_WALL]), 80));
	close_tally(t);
}
END_TEST

/* At 10 s H goes from 1 s to 2 s: 1/4 + 1/2 + 1 so far; two seconds later those are halved. */
START_TEST(test_change_of_half_life)
{
	struct tally *t = open_tally(1);
	struct sample a = sample(first_thread, in_main, STATE_GIL, SAMPLE_GIL, 1000);
	struct sample b = sample(first_thread, in_work, STATE_GIL, SAMPLE_GIL, 1000);

	add(t, 8 * S, S, &a, 1);
	add(t, 9 * S, S, &a, 1);
	add(t, 10 * S, S, &a, 1);
	tally_half_life(t, 2);
	ck_assert(near(tally_half_life_s(t), 2));
	add(t, 12 * S, S, &b, 1);
	tally_settle(t, 0);
	ck_assert(near(percent(t, tally_function(t, main_function)->self.v[KIND_WALL]),
		       100 * 0.875 / 1.875));
	ck_assert(
		near(percent(t, tally_function(t, work_function)->self.v[KIND_WALL]), 100 / 1.875));
	/* No decay from here on: 0.875 + 1 stay, and 3 come. */
	tally_half_life(t, 0);
	add(t, 20 * S, S, &b, 1);
	add(t, 21 * S, S, &b, 1);
	add(t, 90 * S, S, &b, 1);
	tally_settle(t, 0);
	ck_assert(near(percent(t, tally_function(t, work_function)->self.v[KIND_WALL]),
		       100 * 4 / 4.875));
	/* And decay again: ten seconds of H = 10 halve everything. */
	tally_half_life(t, 10);
	add(t, 100 * S, S, &a, 1);
	tally_settle(t, 0);
	ck_assert(near(percent(t, tally_function(t, work_function)->self.v[KIND_WALL]),
		       100 * 2 / 3.4375));
	close_tally(t);
}
END_TEST

START_TEST(test_reset)
{
	struct tally *t = open_tally(1);
	struct sample a = sample(first_thread, in_main, STATE_GIL, SAMPLE_GIL, 1000);
	struct sample b = sample(first_thread, in_work, STATE_GIL, SAMPLE_GIL, 1000);

	add(t, 8 * S, S, &a, 1);
	tally_settle(t, 0);
	add(t, 9 * S, S, &a, 1);

	uint32_t before = tally_settles(t);

	tally_reset(t);
	ck_assert_uint_ge(tally_function(t, main_function)->changed, before);
	ck_assert(near(tally_factor(t), 0));
	ck_assert_uint_eq(tally_whole(t)->ticks, 0);
	add(t, 10 * S, S, &b, 1);
	tally_settle(t, 0);
	ck_assert(near(percent(t, tally_function(t, main_function)->self.v[KIND_WALL]), 0));
	ck_assert(near(percent(t, tally_function(t, work_function)->self.v[KIND_WALL]), 100));
	ck_assert(near(tally_function(t, main_function)->total_s.v[KIND_WALL], 1));
	ck_assert_int_eq(tally_whole(t)->first, 10 * S);
	close_tally(t);
}
END_TEST

/* Far more stacks than may wait: the sums are the same as if each had been spread at once. */
START_TEST(test_many_stacks)
{
	struct tally *t = open_tally(0);
	enum { COUNT = 3 * TALLY_PENDING };

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < COUNT; i++) {
			struct sample a = sample(first_thread, push(in_main, work_function, i),
						 STATE_GIL, 0, 0);

			add(t, (round * COUNT + i + 1) * S, S, &a, 1);
		}
	}
	tally_settle(t, 0);
	ck_assert(near(tally_function(t, main_function)->total_s.v[KIND_WALL], 2 * COUNT));
	ck_assert(near(tally_function(t, work_function)->self_s.v[KIND_WALL], 2 * COUNT));
	for (int i = 0; i < COUNT; i++) {
		frame_id frame;

		ck_assert_int_eq(names_frame(names, work_function, i, &frame), ST_OK);
		ck_assert(near(tally_frame(t, frame)->self_s.v[KIND_WALL], 2));
	}
	close_tally(t);
}
END_TEST

/* Frames and stacks are forgotten, functions keep their sums. */
START_TEST(test_renew)
{
	struct tally *t = open_tally(0);
	struct sample a = sample(first_thread, in_recursion, STATE_GIL, SAMPLE_GIL, 1000);

	add(t, 1 * S, S, &a, 1);
	ck_assert_int_eq(tally_renew(t, names), ST_OK);
	ck_assert_uint_eq(names_stack_count(names), 0);
	ck_assert(near(tally_function(t, loop_function)->total_s.v[KIND_WALL], 1));
	ck_assert_uint_eq(tally_thread(t, first_thread)->stack, 0);
	a.stack = push(0, loop_function, 7);
	add(t, 2 * S, S, &a, 1);
	tally_settle(t, 0);
	ck_assert(near(tally_function(t, loop_function)->total_s.v[KIND_WALL], 2));
	ck_assert(near(tally_function(t, work_function)->total_s.v[KIND_WALL], 1));
	close_tally(t);
}
END_TEST

/*
 * So many functions that they are forgotten: those that weigh keep their sums by name, the time
 * of the rest is kept.
 */
START_TEST(test_renew_forgets_functions)
{
	struct tally *t = open_tally(0);
	struct name_function f = { .line = 1 };
	struct sample a = sample(first_thread, in_loop, STATE_GIL, SAMPLE_GIL, 1000);
	func_id id = 0;
	double sum = 0;

	add(t, 1 * S, 100 * S, &a, 1);
	while (names_function(names, &f, &id) == ST_OK) {
		a.stack = push(in_main, id, 1);
		if (f.line % 4 == 0)
			add(t, (f.line + 1) * S, S, &a, 1);
		f.line++;
	}
	ck_assert_uint_eq(names_function_count(names), NAMES_FUNCTIONS_MAX);

	double seconds = tally_whole(t)->seconds;

	ck_assert_int_eq(tally_renew(t, names), ST_OK);
	ck_assert_uint_lt(names_function_count(names), NAMES_FUNCTIONS_MAX / 2);
	ck_assert(near(tally_function(t, function("loop"))->self_s.v[KIND_WALL], 100));
	ck_assert(near(tally_function(t, function("main"))->total_s.v[KIND_WALL], seconds));
	for (id = 1; id <= names_function_count(names); id++)
		sum += tally_function(t, id)->self_s.v[KIND_WALL];
	ck_assert(near(sum, seconds));
	ck_assert_int_gt((int)tally_function(t, function(NAMES_FORGOTTEN))->samples, 0);
	close_tally(t);
}
END_TEST

UNIT_MAIN("tally", test_decay, test_recursion, test_threads_and_gap, test_rebase,
	  test_rebase_of_pending, test_change_of_half_life, test_reset, test_many_stacks,
	  test_renew, test_renew_forgets_functions)
