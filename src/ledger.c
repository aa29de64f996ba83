/*
 * ledger: header, functions, native threads, and what is left over must add up.
 *
 * The process' CPU clock and the run times of its threads are the same sums of the kernel, moving together at its tick.
 * So what the process used beyond its Python threads is exact, if no moment is counted on one side alone: the clock is
 * read before the threads, so a jump in between makes the difference smaller, never bigger; the first time, when the
 * difference begins, it is read after them. A difference below 0 is carried over. What a thread used between its last
 * reading and its end nobody can tell: so much of the difference is not called native either.
 *
 * Thread-samples may draw a kernel tick in advance; the process' CPU time is told with the same advance.
 */
#include "ledger.h"

#include <string.h>

#define MS ((nanoseconds)1000 * 1000)
#define READ_EVERY (MS * 8 / 10) /* at 1 kHz in each tick, above it in some */
#define DIVIDE_EVERY (10 * MS)
#define UNKNOWN_FOR (100 * MS)

void ledger_open(struct ledger *l, const struct process *process, nanoseconds kernel_tick)
{
	memset(l, 0, sizeof(*l));
	l->process = process;
	l->kernel_tick = kernel_tick;
}

/* What was used in gaps is in no sum; nobody saw when it was used: an even part is theirs. */
static nanoseconds seen_part(nanoseconds cpu, nanoseconds weight, nanoseconds gap)
{
	if (gap <= 0)
		return cpu;
	return (nanoseconds)((double)cpu * (double)weight / (double)(weight + gap));
}

static void read_clock(struct ledger *l, const struct tick *tick)
{
	uint64_t cpu;

	if (tick->gap == 0 && tick->time - l->read_at < READ_EVERY)
		return;
	l->read_at = tick->time;
	if (process_cpu_ns(l->process, &cpu) != ST_OK)
		return;
	if (l->has_process && cpu > l->process_ns)
		l->rest += seen_part((nanoseconds)(cpu - l->process_ns), tick->weight, tick->gap);
	l->process_ns = cpu;
	l->has_process = true;
}

void ledger_begin(struct ledger *l, const struct tick *tick)
{
	if (!l->began_at)
		l->began_at = tick->time;
	read_clock(l, tick);
	l->weight += tick->weight;
	l->gap += tick->gap;
	l->advance_now = 0;
	l->unknown = false;
	l->dividing = l->has_process && l->read_at == tick->time &&
		      tick->time - l->divided_at >= DIVIDE_EVERY;
}

/* A thread seen for the first time cannot have run longer than it was there unseen, if it is a new one. */
static nanoseconds first_run(const struct ledger *l, const struct thread_watch *watch,
			     nanoseconds now)
{
	nanoseconds run = (nanoseconds)watch->schedule.run_ns;

	if (!l->is_divided || !watch->since)
		return 0;
	return run < now - watch->since ? run : now - watch->since;
}

void ledger_thread(struct ledger *l, struct thread_watch *watch, struct task *task, bool recorded,
		   nanoseconds now)
{
	nanoseconds ran = 0;

	if (recorded && watch->account < 0)
		l->advance_now -= watch->account;
	if (!l->dividing || !watch_schedule(watch, task, now))
		return;
	if (!watch->is_taken)
		ran = first_run(l, watch, now);
	else if (watch->schedule.run_ns > watch->taken_ns)
		ran = (nanoseconds)(watch->schedule.run_ns - watch->taken_ns);
	watch->taken_ns = watch->schedule.run_ns;
	watch->is_taken = true;
	l->python += ran;
	if (!recorded)
		l->others += ran;
}

void ledger_unknown(struct ledger *l, const struct thread_watch *watch, nanoseconds now)
{
	nanoseconds since = watch->since ? watch->since : l->began_at;

	l->unknown |= now - since < UNKNOWN_FOR;
}

void ledger_gone(struct ledger *l, const struct thread_watch *watch, nanoseconds now)
{
	nanoseconds from = watch->has_schedule ? watch->schedule_at : watch->since;

	if (watch->is_taken)
		l->python += (nanoseconds)(watch->schedule.run_ns - watch->taken_ns);
	if (from)
		l->unsure += now - from + l->kernel_tick;
}

/* Of what the Python threads did not use, so much may be of threads that went. */
static void take_unsure(struct ledger *l)
{
	nanoseconds most = l->unsure + l->unsure_before;

	if (l->native > 0)
		l->native -= l->native < most ? l->native : most;
	l->unsure_before = l->unsure;
	l->unsure = 0;
}

static void divide(struct ledger *l, struct tick *tick)
{
	uint64_t cpu = l->process_ns;

	if (!l->is_divided && process_cpu_ns(l->process, &cpu) != ST_OK)
		return;
	if (l->is_divided) {
		l->native += (nanoseconds)(cpu - l->divided_ns) - l->python;
		take_unsure(l);
		tick->others_cpu = seen_part(l->others, l->weight, l->gap);
		if (l->native > 0) {
			tick->native_cpu = seen_part(l->native, l->weight, l->gap);
			l->native = 0;
		}
	}
	l->is_divided = true;
	l->divided_at = tick->time;
	l->divided_ns = cpu;
	l->weight = l->gap = l->python = l->others = 0;
}

void ledger_end(struct ledger *l, struct tick *tick)
{
	l->rest += l->advance_now - l->advance;
	l->advance = l->advance_now;
	tick->process_cpu = l->rest > 0 ? l->rest : 0;
	l->rest -= tick->process_cpu;
	tick->native_cpu = tick->others_cpu = 0;
	if (l->dividing && !l->unknown)
		divide(l, tick);
}
