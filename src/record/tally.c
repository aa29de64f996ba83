/*
 * tally: all sums that the screen and the JSON show.
 *
 * Every decayed sum is kept scaled by 2^((t - t0)/H), so that an addition never touches the past:
 * a sample at t is added times `scale` = 2^((t - t0)/H), and a percentage is the quotient of two
 * sums scaled alike. When the exponent passes REBASE, or H changes, t0 moves and every decayed sum
 * is multiplied once (tally_rows.c does that for rows).
 *
 * A tick does two things: the small sums (whole process, interpreters, threads), here, and one
 * addition to the pending sums of each thread's stack, in tally_rows.c, which spreads them over
 * functions and frames later.
 */
#include "record/tally.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "record/pages.h"
#include "record/tally_rows.h"

#define NS 1e-9
#define REBASE 256 /* half-lives from t0 after which t0 moves */

struct tally {
	const struct names *names;
	struct tally_rows rows;
	struct pages threads; /* struct tally_thread by thread id */
	struct tally_whole whole;
	struct tally_interpreter interpreters[TICK_INTERPRETERS_MAX];
	nanoseconds interpreter_seen[TICK_INTERPRETERS_MAX];
	size_t interpreter_count;
	double half_life_ns;     /* 0: no decay */
	nanoseconds base;        /* t0 */
	double scale;            /* of the last tick */
	double weight;           /* W, scaled */
	double unseen_s, unseen; /* as in whole, but signed: clocks that jump even out */
};

/* ---- decay */

static void scale_values(struct tally_values *values, double factor)
{
	for (int k = 0; k < KIND_COUNT; k++)
		values->v[k] *= factor;
}

/* Multiply every decayed sum; t0 becomes at. */
static void rebase(struct tally *t, double factor, nanoseconds at)
{
	struct tally_whole *whole = &t->whole;
	double *sums[] = { &t->weight,          &t->unseen,
			   &whole->cpu,         &whole->gc,
			   &whole->exception,   &whole->native,
			   &whole->others,      &whole->unseen,
			   &whole->torn_recent, &whole->samples_recent };

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		*sums[i] *= factor;
	for (size_t i = 0; i < t->interpreter_count; i++) {
		t->interpreters[i].held *= factor;
		t->interpreters[i].waited *= factor;
	}
	for (size_t page = 0; page < t->threads.count; page++) {
		struct tally_thread *threads = t->threads.page[page];

		for (size_t i = 0; threads && i < PAGE_ITEMS; i++)
			scale_values(&threads[i].recent, factor);
	}
	tally_rows_scale(&t->rows, factor);
	t->base = at;
	t->scale = 1;
}

/* Bring the scale to this time. */
static void advance(struct tally *t, nanoseconds now)
{
	double exponent;

	if (t->half_life_ns <= 0)
		return;
	exponent = (double)(now - t->base) / t->half_life_ns;
	if (exponent > REBASE)
		rebase(t, exp2(-exponent), now);
	else
		t->scale = exp2(exponent);
}

double tally_factor(const struct tally *t)
{
	return t->weight > 0 ? 100 / t->weight : 0;
}

static double sane_half_life(double seconds)
{
	return isfinite(seconds) && seconds > 0 ? seconds / NS : 0;
}

void tally_half_life(struct tally *t, double half_life_s)
{
	double next = sane_half_life(half_life_s);

	if (next == t->half_life_ns)
		return;
	if (t->scale != 1)
		rebase(t, 1 / t->scale, t->whole.last);
	else
		t->base = t->whole.last;
	t->half_life_ns = next;
}

double tally_half_life_s(const struct tally *t)
{
	return t->half_life_ns * NS;
}

/* ---- the parts of a tick */

/*
 * The sums of an interpreter; one not known yet takes the place of who was not seen longest
 * when all are taken.
 */
static struct tally_interpreter *interpreter_of(struct tally *t, int64_t id)
{
	size_t oldest = 0;

	for (size_t i = 0; i < t->interpreter_count; i++) {
		if (t->interpreters[i].id == id)
			return &t->interpreters[i];
		if (t->interpreter_seen[i] < t->interpreter_seen[oldest])
			oldest = i;
	}
	if (t->interpreter_count < TICK_INTERPRETERS_MAX)
		oldest = t->interpreter_count++;
	t->interpreters[oldest] = (struct tally_interpreter){ .id = id };
	return &t->interpreters[oldest];
}

/* Returns whether one of them collects garbage. */
static bool add_interpreters(struct tally *t, const struct tick *tick, double seconds)
{
	bool gc = false;

	for (uint32_t i = 0; i < tick->interpreter_count && i < TICK_INTERPRETERS_MAX; i++) {
		const struct tick_interpreter *seen = &tick->interpreters[i];
		struct tally_interpreter *sums = interpreter_of(t, seen->id);

		t->interpreter_seen[sums - t->interpreters] = tick->time;
		sums->has_gil = seen->has_gil;
		gc |= seen->gc;
		if (seen->has_gil && seen->locked) {
			sums->held += seconds * t->scale;
			sums->held_s += seconds;
		}
	}
	return gc;
}

/* What a tick's thread-samples have in common to say. */
struct tick_sums {
	uint64_t torn;
	double cpu, exception; /* seconds */
	bool gc;
};

static enum status add_sample(struct tally *t, const struct tick *tick, const struct sample *s,
			      struct tick_sums *sums)
{
	struct tally_thread *thread = pages_make(&t->threads, s->thread);
	double seconds = (double)tick->weight * NS;
	nanoseconds ns[KIND_COUNT];
	struct tally_values values;

	if (!thread)
		return ST_NO_MEMORY;
	sample_values(s, tick->weight, ns);
	for (int k = 0; k < KIND_COUNT; k++) {
		values.v[k] = (double)ns[k] * NS;
		thread->seconds.v[k] += values.v[k];
		thread->recent.v[k] += values.v[k] * t->scale;
	}
	thread->stack = s->stack;
	thread->state = s->state;
	thread->flags = s->flags;
	thread->syscall = s->syscall;
	thread->seen = tick->time;
	if (s->state == STATE_GIL_WAIT) {
		struct tally_interpreter *in =
			interpreter_of(t, names_thread_at(t->names, s->thread)->interpreter);

		in->waited += seconds * t->scale;
		in->waited_s += seconds;
	}
	sums->cpu += values.v[KIND_CPU];
	sums->torn += (s->flags & SAMPLE_TORN) != 0;
	sums->gc |= (s->flags & SAMPLE_GC) != 0;
	sums->exception += s->flags & SAMPLE_EXCEPTION ? seconds : 0;
	return tally_rows_add(&t->rows, s, &values, t->scale);
}

/* What the process used and no thread-sample was given. */
static void add_rest(struct tally *t, const struct tick *tick, double given)
{
	struct tally_whole *whole = &t->whole;
	double native = (double)tick->native_cpu * NS, others = (double)tick->others_cpu * NS;
	double unseen = (double)tick->process_cpu * NS - given - native - others;

	whole->native_s += native;
	whole->native += native * t->scale;
	whole->others_s += others;
	whole->others += others * t->scale;
	t->unseen_s += unseen;
	t->unseen += unseen * t->scale;
	whole->unseen_s = t->unseen_s > 0 ? t->unseen_s : 0;
	whole->unseen = t->unseen > 0 ? t->unseen : 0;
}

static void add_whole(struct tally *t, const struct tick *tick, const struct tick_sums *sums,
		      size_t count)
{
	struct tally_whole *whole = &t->whole;
	double seconds = (double)tick->weight * NS;
	double cpu = (double)tick->process_cpu * NS;

	if (!whole->ticks)
		whole->first = tick->time;
	whole->last = tick->time;
	whole->seconds += seconds;
	whole->gap_s += (double)tick->gap * NS;
	whole->ticks++;
	whole->samples += count;
	whole->torn += sums->torn;
	whole->missed += tick->missed;
	whole->cpu += cpu * t->scale;
	whole->cpu_s += cpu;
	whole->gc += sums->gc ? seconds * t->scale : 0;
	whole->exception += sums->exception * t->scale;
	whole->torn_recent += (double)sums->torn * t->scale;
	whole->samples_recent += (double)count * t->scale;
	add_rest(t, tick, sums->cpu);
	t->weight += seconds * t->scale;
}

enum status tally_tick(struct tally *t, const struct tick *tick, const struct sample *samples,
		       size_t count)
{
	struct tick_sums sums = { 0 };
	enum status worst = ST_OK;

	if (!t->whole.ticks && t->scale == 1)
		t->base = tick->time;
	advance(t, tick->time);
	sums.gc = add_interpreters(t, tick, (double)tick->weight * NS);
	for (size_t i = 0; i < count; i++) {
		enum status st = add_sample(t, tick, &samples[i], &sums);

		worst = st == ST_OK ? worst : st;
	}
	add_whole(t, tick, &sums, count);
	return worst;
}

/* ---- reading */

size_t tally_settle(struct tally *t, size_t budget)
{
	return tally_rows_settle(&t->rows, budget);
}

uint32_t tally_settles(const struct tally *t)
{
	return t->rows.settles;
}

const struct tally_row *tally_function(const struct tally *t, func_id id)
{
	return id ? pages_at(&t->rows.functions, id) : NULL;
}

const struct tally_row *tally_frame(const struct tally *t, frame_id id)
{
	return id ? pages_at(&t->rows.frames, id) : NULL;
}

const struct tally_thread *tally_thread(const struct tally *t, thread_id id)
{
	return id ? pages_at(&t->threads, id) : NULL;
}

const struct tally_whole *tally_whole(const struct tally *t)
{
	return &t->whole;
}

size_t tally_interpreter_count(const struct tally *t)
{
	return t->interpreter_count;
}

const struct tally_interpreter *tally_interpreter_at(const struct tally *t, size_t i)
{
	return i < t->interpreter_count ? &t->interpreters[i] : NULL;
}

/* ---- open, reset, renew, close */

enum status tally_open(struct tally **tally, const struct names *names, double half_life_s)
{
	struct tally *t = alloc_zero(1, sizeof(*t));
	enum status st;

	if (!t)
		return ST_NO_MEMORY;
	st = tally_rows_open(&t->rows, names);
	if (st != ST_OK) {
		free(t);
		return st;
	}
	t->names = names;
	t->threads.item = sizeof(struct tally_thread);
	t->half_life_ns = sane_half_life(half_life_s);
	t->scale = 1;
	*tally = t;
	return ST_OK;
}

void tally_close(struct tally *t)
{
	if (!t)
		return;
	tally_rows_close(&t->rows);
	pages_free(&t->threads);
	free(t);
}

void tally_reset(struct tally *t)
{
	t->whole = (struct tally_whole){ 0 };
	t->interpreter_count = 0;
	t->weight = t->unseen = t->unseen_s = 0;
	t->scale = 1;
	for (size_t page = 0; page < t->threads.count; page++) {
		struct tally_thread *threads = t->threads.page[page];

		for (size_t i = 0; threads && i < PAGE_ITEMS; i++)
			threads[i].recent = threads[i].seconds = (struct tally_values){ 0 };
	}
	tally_rows_reset(&t->rows);
}

/* Let go of the pages on which every thread is forgotten. */
static void forget_threads(struct tally *t)
{
	for (size_t page = 0; page < t->threads.count; page++) {
		bool alive = false;

		for (size_t i = 0; t->threads.page[page] && i < PAGE_ITEMS && !alive; i++) {
			thread_id id = (thread_id)(page * PAGE_ITEMS + i);

			alive = names_thread_at(t->names, id)->tid != 0;
		}
		if (!alive)
			pages_drop(&t->threads, page);
	}
}

enum status tally_renew(struct tally *t, struct names *names)
{
	enum status st = tally_rows_renew(&t->rows, names);

	forget_threads(t);
	for (size_t page = 0; page < t->threads.count; page++) {
		struct tally_thread *threads = t->threads.page[page];

		for (size_t i = 0; threads && i < PAGE_ITEMS; i++)
			threads[i].stack = 0;
	}
	return st;
}
