/* What the screen is given equals what the tally holds: in slices, over renewals and rescalings, and read while it is made. */
#include "unit.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "picture.h"

#define MS ((nanoseconds)1000000)

struct scene {
	struct names *names;
	struct tally *tally;
	struct picture *picture;
	struct tick tick;
	struct sample samples[2];
	size_t count;
};

static stack_id make_stack(struct scene *s, stack_id parent, const char *name, int line)
{
	struct name_function f = { .line = 1 };
	func_id function;
	frame_id frame;
	stack_id stack;

	ck_assert_int_eq(names_string(s->names, name, strlen(name), &f.name), ST_OK);
	ck_assert_int_eq(names_string(s->names, "a.py", 4, &f.file), ST_OK);
	ck_assert_int_eq(names_function(s->names, &f, &function), ST_OK);
	ck_assert_int_eq(names_frame(s->names, function, line, &frame), ST_OK);
	ck_assert_int_eq(names_stack(s->names, parent, frame, &stack), ST_OK);
	return stack;
}

/* main -> f<i>, in line i % 3 */
static stack_id numbered(struct scene *s, int i)
{
	char name[32];

	snprintf(name, sizeof(name), "f%d", i);
	return make_stack(s, make_stack(s, 0, "main", 2), name, i % 3);
}

static void scene_open(struct scene *s, double half_life_s)
{
	memset(s, 0, sizeof(*s));
	ck_assert_int_eq(names_open(&s->names), ST_OK);
	ck_assert_int_eq(tally_open(&s->tally, s->names, half_life_s), ST_OK);
	ck_assert_int_eq(picture_open(&s->picture, s->names, s->tally), ST_OK);
	for (size_t i = 0; i < 2; i++) {
		struct name_thread t = { .tid = 100 + (pid_t)i, .main = i == 0, .born = 1 };

		ck_assert_int_eq(names_string(s->names, i ? "two" : "one", 3, &t.name), ST_OK);
		ck_assert_int_eq(names_thread(s->names, &t, &s->samples[i].thread), ST_OK);
		s->samples[i].syscall = -1;
	}
	s->tick = (struct tick){ .time = 1000 * MS,
				 .weight = MS,
				 .interpreter_count = 1,
				 .interpreters = { { .has_gil = true, .locked = true } } };
	s->count = 2;
}

static void scene_close(struct scene *s)
{
	picture_close(s->picture);
	tally_close(s->tally);
	names_close(s->names);
}

/* The first thread holds the GIL on the stack, the other one waits for it in main. */
static void tick(struct scene *s, stack_id stack)
{
	s->tick.time += s->tick.weight;
	s->samples[0].stack = stack;
	s->samples[0].state = STATE_GIL;
	s->samples[0].flags = SAMPLE_GIL;
	s->samples[0].cpu_mille = 1000;
	s->samples[1].stack = make_stack(s, 0, "main", 2);
	s->samples[1].state = STATE_GIL_WAIT;
	ck_assert_int_eq(tally_tick(s->tally, &s->tick, s->samples, s->count), ST_OK);
}

static bool work(struct scene *s, size_t rows)
{
	bool complete;

	ck_assert_int_eq(picture_work(s->picture, rows, s->samples, s->count, &complete), ST_OK);
	return complete;
}

static const struct picture_frame *shown(struct scene *s, bool by_line)
{
	const struct picture_wish wish = { .by_line = by_line, .stack_tid = 100 };

	picture_begin(s->picture, &wish);
	while (picture_is_busy(s->picture) && !work(s, 64))
		;
	ck_assert(picture_is_busy(s->picture));
	picture_publish(s->picture);
	ck_assert(!picture_is_busy(s->picture));
	return picture_take(s->picture);
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

static void check_values(const struct tally_values *a, double factor, const struct tally_values *b,
			 double other_factor)
{
	for (int k = 0; k < KIND_COUNT; k++)
		ck_assert(is_near(a->v[k] * factor, b->v[k] * other_factor));
}

/* Every row of the frame is the tally's, and no row is missing. */
static void check_rows(struct scene *s, const struct picture_frame *f)
{
	size_t count = f->by_line ? names_frame_count(s->names) : names_function_count(s->names);
	double factor = tally_factor(s->tally);

	tally_settle(s->tally, 0);
	ck_assert(is_near(f->factor, factor));
	for (uint32_t id = 1; id <= count; id++) {
		const struct tally_row *sums =
			f->by_line ? tally_frame(s->tally, id) : tally_function(s->tally, id);
		const struct name_frame *frame = names_frame_at(s->names, f->by_line ? id : 0);
		const struct name_function *function =
			names_function_at(s->names, f->by_line ? frame->function : id);
		const struct picture_row *row = &f->rows[id];

		if (!sums || !sums->samples) {
			ck_assert(id >= f->row_count || !row->function);
			continue;
		}
		ck_assert_uint_lt(id, f->row_count);
		ck_assert_str_eq(row->function, names_text(s->names, function->name, NULL));
		ck_assert_str_eq(row->file, names_text(s->names, function->file, NULL));
		ck_assert_int_eq(row->line, f->by_line ? frame->line : function->line);
		ck_assert_uint_eq(row->sums.samples, sums->samples);
		check_values(&row->sums.self, f->factor, &sums->self, factor);
		check_values(&row->sums.total, f->factor, &sums->total, factor);
		check_values(&row->sums.self_s, 1, &sums->self_s, 1);
		check_values(&row->sums.total_s, 1, &sums->total_s, 1);
	}
}

START_TEST(empty)
{
	struct scene s;

	scene_open(&s, 10);
	const struct picture_frame *f = picture_take(s.picture);
	ck_assert_uint_eq(f->number, 0);
	ck_assert_uint_eq(f->row_count, 0);
	ck_assert(!picture_is_busy(s.picture));
	ck_assert(!work(&s, 64));
	ck_assert_ptr_eq(picture_take(s.picture), f);
	scene_close(&s);
}
END_TEST

START_TEST(rows)
{
	struct scene s;

	scene_open(&s, 0.05);
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 30; i++)
			tick(&s, numbered(&s, (round * 7 + i * i) % (20 + 5 * round)));
		const struct picture_frame *f = shown(&s, round / 5 % 2 == 1);
		ck_assert_uint_eq(f->number, (uint64_t)round + 1);
		ck_assert_int_eq(f->by_line, round / 5 % 2 == 1);
		check_rows(&s, f);
	}
	scene_close(&s);
}
END_TEST

START_TEST(threads_and_stack)
{
	struct scene s;

	scene_open(&s, 0);
	for (int i = 0; i < 10; i++)
		tick(&s, numbered(&s, 5));
	const struct picture_frame *f = shown(&s, false);
	ck_assert_uint_eq(f->thread_count, 2);
	ck_assert_int_eq(f->threads[0].tid, 100);
	ck_assert_str_eq(f->threads[0].name, "one");
	ck_assert(f->threads[0].main);
	ck_assert(f->threads[0].holds_gil);
	ck_assert_int_eq(f->threads[0].state, STATE_GIL);
	ck_assert_str_eq(f->threads[0].function, "f5");
	ck_assert_int_eq(f->threads[0].line, 2);
	ck_assert(is_near(f->threads[0].percent[KIND_GIL], 100));
	ck_assert(is_near(f->threads[0].seconds[KIND_CPU], 0.01));
	ck_assert(is_near(f->threads[1].percent[KIND_WAIT], 100));
	ck_assert(!f->threads[1].main);
	ck_assert_uint_eq(f->interpreter_count, 1);
	ck_assert(is_near(f->interpreters[0].gil_percent, 100));
	ck_assert(is_near(f->interpreters[0].gil_wait_percent, 100));
	ck_assert_int_eq(f->stack_tid, 100);
	ck_assert_uint_eq(f->stack_depth, 2);
	ck_assert_str_eq(f->stack[0].function, "f5");
	ck_assert_str_eq(f->stack[1].function, "main");

	/* one that is not there any more, and one that the tally has never met */
	s.count = 1;
	tick(&s, numbered(&s, 6));
	s.samples[1].thread = 77;
	s.count = 2;
	f = shown(&s, false);
	ck_assert_uint_eq(f->thread_count, 1);
	ck_assert_str_eq(f->stack[0].function, "f6");
	scene_close(&s);
}
END_TEST

/* Ticks bring new stacks all the time, more than a slice can spread: a picture is complete all the same. */
START_TEST(always_complete)
{
	struct scene s;
	const struct picture_wish wish = { 0 };
	int calls = 0;

	scene_open(&s, 1);
	for (int i = 0; i < 1000; i++)
		tick(&s, numbered(&s, i));
	picture_begin(s.picture, &wish);
	do {
		for (int i = 0; i < 10; i++)
			tick(&s, numbered(&s, (calls * 10 + i) % 1000));
		ck_assert_int_lt(calls++, 10000);
	} while (!work(&s, 1));
	picture_publish(s.picture);
	check_rows(&s, shown(&s, false));
	scene_close(&s);
}
END_TEST

/* The sums get another scale, or begin anew, while rows are copied: all rows of the frame are of one scale. */
START_TEST(one_scale)
{
	static const struct picture_wish wish = { 0 };

	for (int how = 0; how < 3; how++) {
		struct scene s;

		scene_open(&s, 0.1);
		for (int i = 0; i < 1000; i++)
			tick(&s, numbered(&s, i % 100));
		shown(&s, false);
		shown(&s, false);
		shown(&s, false);
		for (int i = 0; i < 100; i++)
			tick(&s, numbered(&s, i));
		picture_begin(s.picture, &wish);
		for (int i = 0; i < 200; i++)
			ck_assert(!work(&s, 1));
		if (how == 0)
			tally_half_life(s.tally, 5);
		else if (how == 1)
			s.tick.time += 3000 * 100 * MS; /* half-lives enough for a rebase */
		else
			tally_reset(s.tally);
		tick(&s, numbered(&s, 7));
		while (!work(&s, 1))
			;
		picture_publish(s.picture);
		const struct picture_frame *f = picture_take(s.picture);
		double all = 0;

		/* each tick has one leaf besides main: together they have all of the time, as of some moment */
		for (size_t id = 1; id < f->row_count; id++)
			if (f->rows[id].function && strcmp(f->rows[id].function, "main") != 0)
				all += f->rows[id].sums.self.v[KIND_WALL] * f->factor;
		ck_assert(isfinite(all));
		ck_assert(all < 100.001);
		ck_assert(how != 0 || all > 95);
		check_rows(&s, shown(&s, false));
		scene_close(&s);
	}
}
END_TEST

/* A new generation of names in the middle: the frame is given up, the one that is being read stays whole. */
START_TEST(renewed)
{
	struct scene s;
	const struct picture_wish wish = { 0 };

	scene_open(&s, 1);
	for (int i = 0; i < 100; i++)
		tick(&s, numbered(&s, i));
	const struct picture_frame *held = shown(&s, false);
	for (int round = 0; round < 5; round++) {
		picture_begin(s.picture, &wish);
		ck_assert(!work(&s, 10));
		ck_assert_int_eq(tally_renew(s.tally, s.names), ST_OK);
		ck_assert(!work(&s, 10));
		ck_assert(!picture_is_busy(s.picture));
		tick(&s, numbered(&s, round));
		picture_begin(s.picture, &wish);
		while (!work(&s, 10))
			;
		picture_publish(s.picture);
		ck_assert_str_eq(held->rows[2].function, "f0");
	}
	check_rows(&s, shown(&s, false));
	scene_close(&s);
}
END_TEST

/* ---- read while it is made */

#define PUBLICATIONS 4000

struct race {
	struct scene scene;
	_Atomic bool ended;
};

static void *make_pictures(void *context)
{
	struct race *r = context;
	struct scene *s = &r->scene;

	for (int i = 1; i <= PUBLICATIONS; i++) {
		const struct picture_wish wish = { .by_line = i / 100 % 2, .stack_tid = 100 };

		tick(s, numbered(s, i % 200));
		if (i % 500 == 0)
			ck_assert_int_eq(tally_renew(s->tally, s->names), ST_OK);
		picture_begin(s->picture, &wish);
		while (!work(s, 64))
			;
		picture_current(s->picture)->header.ticks = (uint64_t)i;
		picture_publish(s->picture);
	}
	atomic_store(&r->ended, true);
	return NULL;
}

/* All that a frame points to can be read, and belongs to one tick. */
static void check_frame(const struct picture_frame *f)
{
	size_t length = 0;
	uint64_t samples = 0;

	for (size_t id = 1; id < f->row_count; id++) {
		const struct picture_row *row = &f->rows[id];

		if (!row->function)
			continue;
		length += strlen(row->function) + strlen(row->file);
		if (strcmp(row->function, "main") != 0)
			samples += row->sums.samples;
	}
	for (size_t i = 0; i < f->stack_depth; i++)
		length += strlen(f->stack[i].function) + strlen(f->stack[i].file);
	for (size_t i = 0; i < f->thread_count; i++)
		length += strlen(f->threads[i].name) + strlen(f->threads[i].function);
	ck_assert_uint_gt(length, 0);
	/* by line, a renewal forgets */
	if (!f->by_line)
		ck_assert_uint_eq(samples, f->header.ticks);
	ck_assert_uint_eq(f->number, f->header.ticks);
}

START_TEST(two_threads)
{
	static struct race r;
	pthread_t maker;
	uint64_t last = 0;

	scene_open(&r.scene, 1);
	ck_assert_int_eq(pthread_create(&maker, NULL, make_pictures, &r), 0);
	for (bool ended = false; !ended;) {
		ended = atomic_load(&r.ended);
		const struct picture_frame *f = picture_take(r.scene.picture);
		ck_assert_uint_ge(f->number, last);
		last = f->number;
		if (last)
			check_frame(f);
	}
	pthread_join(maker, NULL);
	ck_assert_uint_eq(last, PUBLICATIONS);
	scene_close(&r.scene);
}
END_TEST

UNIT_MAIN("picture", empty, rows, threads_and_stack, always_complete, one_scale, renewed,
	  two_threads)
