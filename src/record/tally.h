/*
 * tally: the sums of design part 5: by function, by line, by thread, by interpreter and of the
 * whole process, decayed with half-life H and undecayed since start or reset.
 *
 * Written by one thread. A tick costs O(threads): a thread-sample is first added to its stack's
 * own pending sums; these are spread over functions and frames when TALLY_PENDING stacks wait or a
 * reader asks (tally_settle). Sums are kept scaled by 2^((t - t0)/H) and rebased when the exponent
 * grows; percentages are sums divided by the equally scaled W, so reading needs no clock.
 */
#ifndef PYTOP_RECORD_TALLY_H
#define PYTOP_RECORD_TALLY_H

#include <stddef.h>

#include "base/status.h"
#include "record/names.h"
#include "record/sample.h"

#define TALLY_PENDING 4096 /* stacks that may wait to be spread */

/* Four sums, one a kind. */
struct tally_values {
	double v[KIND_COUNT];
};

/* What is known of one function, or of one frame (function, line). */
struct tally_row {
	struct tally_values self,
		total; /* decayed and scaled: x tally_factor() = percent of one thread's time */
	struct tally_values self_s, total_s; /* undecayed, seconds, since start or reset */
	double gc, exception;                /* decayed like self: self time with that flag */
	uint64_t samples; /* thread-samples with it on the stack since start or reset */
	uint32_t changed; /* tally_settles() at which it last changed */
};

struct tally_thread {
	struct tally_values recent;  /* decayed and scaled, like rows */
	struct tally_values seconds; /* undecayed */
	stack_id stack;              /* of the last tick it was seen in */
	uint8_t state, flags;
	int32_t syscall;
	nanoseconds seen; /* time of the last tick it was seen in */
};

struct tally_interpreter {
	int64_t id;
	bool has_gil;
	double held, waited; /* decayed and scaled */
	double held_s, waited_s;
};

struct tally_whole {
	nanoseconds first, last; /* times of the first and last tick since start or reset */
	double seconds;          /* sum of weights, undecayed */
	double gap_s;
	uint64_t ticks, samples, torn, missed;
	double cpu, gc, exception; /* decayed and scaled; cpu by the process clock */
	double cpu_s;              /* undecayed */
	/* of cpu, what is in no thread-sample; decayed and scaled, and undecayed; none is below 0 */
	double native, native_s; /* of threads without Python */
	double others, others_s; /* of Python threads that are not recorded */
	double unseen, unseen_s; /* of recorded threads, in moments no thread-sample saw */
	double torn_recent, samples_recent;
};

struct tally;

enum status tally_open(struct tally **tally, const struct names *names,
		       double half_life_s) MUST_CHECK;
void tally_close(struct tally *t);

/* One tick, all its thread-samples. ST_NO_MEMORY. */
enum status tally_tick(struct tally *t, const struct tick *tick, const struct sample *samples,
		       size_t count) MUST_CHECK;

/* Spread at most budget pending stacks (0: all). Returns how many are still pending. */
size_t tally_settle(struct tally *t, size_t budget);

/*
 * A row whose changed is not below the number that this gave when it was last copied must be
 * copied again. The number counts up with each tally_settle; a rebase or a reset changes every
 * row.
 */
uint32_t tally_settles(const struct tally *t);

/* percent = sum * tally_factor(t); 0 when nothing was seen. */
double tally_factor(const struct tally *t);

/* Rows by id (1 .. names_*_count); NULL where there is none yet. */
const struct tally_row *tally_function(const struct tally *t, func_id id);
const struct tally_row *tally_frame(const struct tally *t, frame_id id);
const struct tally_thread *tally_thread(const struct tally *t, thread_id id);
const struct tally_whole *tally_whole(const struct tally *t);
size_t tally_interpreter_count(const struct tally *t);
const struct tally_interpreter *tally_interpreter_at(const struct tally *t, size_t i);

/*
 * Another half-life, in seconds; 0: no decay. The decayed sums start again from the undecayed
 * proportion is NOT done: they are kept and decay from now on at the new rate.
 */
void tally_half_life(struct tally *t, double half_life_s);
double tally_half_life_s(const struct tally *t);

/* Everything back to zero, from the next tick on. */
void tally_reset(struct tally *t);

/*
 * names are about to be renewed: settle, and keep what must be kept: rows of functions keep their
 * sums under the ids they get again (by name); frames' rows are forgotten, and what belonged to
 * forgotten functions is added to NAMES_FORGOTTEN. Calls names_renew itself.
 */
enum status tally_renew(struct tally *t, struct names *names) MUST_CHECK;

#endif
