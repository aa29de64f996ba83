/*
 * observer: who is there, on what stack, doing what.
 *
 * A thread of the log is a thread of the kernel while it has a thread state. One kernel thread may own several thread
 * states (sub-interpreters): their stacks are stood on each other, the innermost on top, and make one sample. The order of a look:
 * before it, which threads have not run since the last; the look itself; then each thread's state, CPU and stack id. One
 * thread's trouble (a stack in motion, a tid that is gone) never costs the others theirs.
 */
#include "observer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "ledger.h"
#include "python/interp.h"
#include "naming.h"
#include "resolver.h"
#include "states.h"
#include "target/hold.h"
#include "target/tasks.h"

#define SECOND ((nanoseconds)1000 * 1000 * 1000)
#define USAGE_EVERY (SECOND / 10)
#define UNKNOWN_EVERY (SECOND / 50)
#define HELD_AGAIN_MAX 4
#define HELD_AGAIN_NS 50000 /* time to get out of there */
#define NAME_EVERY (3 * SECOND)
#define NAMES_A_LOOK 4 /* threads whose name is read anew in one look */

/* What belongs to one thread state. */
struct watched {
	struct thread_watch watch;
	struct resolved resolved;
	struct task *task;
	uint32_t tasks_refreshed; /* the refresh since which task is valid */
	pid_t tid;                /* outside; 0: not known yet */
	thread_id id;             /* 0: not in the log yet, or an inner thread state */
	thread_id sampled_as;     /* the thread of the log its sample went to */
	stack_id stack;           /* of this tick */
	nanoseconds named;        /* when its name was last read */
};

struct observer {
	const struct process *process;
	struct memory *memory;
	struct py_runtime *runtime;
	struct names *names;
	struct observer_options options;
	struct interp_reader *reader;
	struct resolver *resolver;
	struct tasks *tasks;
	struct hold *hold;
	const struct py_look *look;
	uint32_t tasks_refreshed;
	nanoseconds refreshed_at, usage_at, kernel_tick;
	struct ledger ledger;
	nanoseconds before; /* time of the last look */
	uint64_t rss_bytes;
	bool stopped;
	unsigned renamed; /* threads, in this look */
	struct observation seen;
	struct sample *samples;
	size_t sample_capacity;
	struct watched **by_sample; /* whose sample it is */
	size_t by_sample_capacity;
	nanoseconds *unseen;
	size_t unseen_capacity;
	int32_t *inside_tids;
	size_t inside_capacity;
};

static nanoseconds find_kernel_tick(void)
{
	struct timespec t;

	if (clock_getres(CLOCK_REALTIME_COARSE, &t) != 0 || t.tv_sec > 0 || t.tv_nsec <= 0)
		return 4 * 1000 * 1000;
	return t.tv_nsec;
}

/* What the kernel refuses is to be known before it begins. */
static enum status try_to_hold(struct observer *o)
{
	enum status status = hold_open(&o->hold, o->process->pid, o->process->proc_fd);

	if (status == ST_OK)
		status = hold_stop(o->hold);
	return status == ST_OK ? hold_continue(o->hold) : status;
}

enum status observer_open(struct observer **observer, const struct process *process,
			  struct memory *memory, struct py_runtime *runtime, struct names *names,
			  const struct observer_options *options)
{
	struct observer *o = alloc_zero(1, sizeof(*o));
	if (!o)
		return ST_NO_MEMORY;
	o->process = process;
	o->memory = memory;
	o->runtime = runtime;
	o->names = names;
	o->options = *options;
	o->kernel_tick = find_kernel_tick();
	ledger_open(&o->ledger, process, o->kernel_tick);
	enum status status = tasks_open(&o->tasks, process->pid, process->proc_fd);
	if (status == ST_OK)
		status = tasks_refresh(o->tasks);
	if (status == ST_OK)
		status = interp_open(&o->reader, runtime, memory);
	if (status == ST_OK)
		status = resolver_open(&o->resolver, runtime, memory, names);
	if (status == ST_OK && options->blocking)
		status = try_to_hold(o);
	if (status != ST_OK) {
		observer_close(o);
		return status;
	}
	*observer = o;
	return ST_OK;
}

static void free_watched(struct py_thread *thread)
{
	struct watched *w = thread->user;

	if (w) {
		resolved_free(&w->resolved);
		free(w);
	}
	thread->user = NULL;
}

void observer_close(struct observer *o)
{
	if (!o)
		return;
	if (o->look)
		for (size_t i = 0; i < o->look->thread_count; i++)
			free_watched(o->look->threads[i]);
	hold_close(o->hold);
	resolver_close(o->resolver);
	interp_close(o->reader);
	tasks_close(o->tasks);
	free(o->samples);
	free(o->by_sample);
	free(o->unseen);
	free(o->inside_tids);
	free(o);
}

void observer_renewed(struct observer *o)
{
	resolver_renewed(o->resolver);
}

void observer_bury(struct observer *o, nanoseconds now)
{
	for (size_t i = 0; o->look && i < o->look->thread_count; i++) {
		const struct watched *w = o->look->threads[i]->user;
		if (w && w->id)
			names_thread_died(o->names, w->id, now);
	}
}

uint64_t observer_held_ns(const struct observer *o)
{
	return o->hold ? hold_stopped_ns(o->hold) : 0;
}

/* ---- threads of the kernel ----------------------------------------------------------------------- */

static enum status refresh_tasks(struct observer *o, nanoseconds now)
{
	enum status status = tasks_refresh(o->tasks);

	if (status == ST_OK) {
		o->tasks_refreshed++;
		o->refreshed_at = now;
	}
	return status;
}

/* The kernel's thread behind a thread state, or NULL while it cannot be told. */
static struct task *task_of(struct observer *o, const struct py_thread *thread, struct watched *w)
{
	if (w->task && w->tasks_refreshed == o->tasks_refreshed)
		return w->task;
	if (thread->native_id <= 0 || thread->native_id > INT32_MAX)
		return NULL;
	w->task = w->tid ? tasks_find(o->tasks, w->tid)
			 : tasks_find_inside(o->tasks, (pid_t)thread->native_id);
	w->tasks_refreshed = o->tasks_refreshed;
	w->tid = w->task ? task_tid(w->task) : 0;
	return w->task;
}

/* What costs more than a tick can afford each time. */
static enum status look_around(struct observer *o, nanoseconds now)
{
	enum status status = ST_OK;

	if (now - o->refreshed_at >= SECOND)
		status = refresh_tasks(o, now);
	if (status == ST_OK && (now - o->usage_at >= USAGE_EVERY || !o->usage_at)) {
		struct process_usage usage;
		status = process_usage(o->process, &usage);
		if (status == ST_OK) {
			o->rss_bytes = usage.rss_bytes;
			o->stopped = usage.run_state == 'T' || usage.run_state == 't';
			o->usage_at = now;
		}
	}
	return status;
}

/* ---- before the look ------------------------------------------------------------------------------- */

static void find_sleepers(struct observer *o, const struct tick *tick)
{
	if (!o->look)
		return;
	for (size_t i = 0; i < o->look->thread_count; i++) {
		struct py_thread *t = o->look->threads[i];
		struct watched *w = t->user;
		t->asleep = false;
		if (w)
			watch_gap(&w->watch, tick->gap);
		if (!w || !w->task || w->tasks_refreshed != o->tasks_refreshed)
			continue;
		t->asleep = watch_asleep(&w->watch, w->task, tick->time);
		if (o->hold && !t->asleep)
			watch_activity(&w->watch, w->task);
	}
}

/* Threads whose kernel id CPython does not keep (<= 3.10) are told by the list of those that exist. */
static enum status give_tids(struct observer *o)
{
	size_t n = tasks_count(o->tasks);
	void *tids = o->inside_tids;
	enum status status =
		alloc_grow(&tids, &o->inside_capacity, n, 1u << 22, sizeof(*o->inside_tids));

	o->inside_tids = tids;
	if (status != ST_OK)
		return status;
	for (size_t i = 0; i < n; i++)
		o->inside_tids[i] = task_inside_tid(tasks_at(o->tasks, i));
	interp_give_tids(o->reader, o->inside_tids, n);
	return ST_OK;
}

/* ---- threads of the log ------------------------------------------------------------------------------ */

static bool is_recorded(const struct observer *o, pid_t tid)
{
	if (o->options.main_thread_only)
		return tid == o->process->pid;
	if (!o->options.threads)
		return true;
	for (size_t i = 0; i < o->options.thread_count; i++)
		if (o->options.threads[i] == tid)
			return true;
	return false;
}

static enum status find_name(struct observer *o, const struct watched *w, string_id *name)
{
	return naming_find(o->names, o->runtime, o->memory, o->tasks, o->process->pid, w->tid,
			   w->task, w->resolved.root_frame, name);
}

static enum status add_thread(struct observer *o, const struct py_thread *t, struct watched *w,
			      nanoseconds now)
{
	struct name_thread row = { .tid = w->tid,
				   .interpreter = o->look->interps[t->interp].id,
				   .main = w->tid == o->process->pid,
				   .born = now };
	enum status status = find_name(o, w, &row.name);

	if (status == ST_OK)
		status = names_thread(o->names, &row, &w->id);
	w->named = now;
	return status;
}

static enum status refresh_name(struct observer *o, struct watched *w, nanoseconds now)
{
	string_id name;
	enum status status = find_name(o, w, &name);

	w->named = now;
	o->renamed++;
	if (status == ST_OK && names_thread_at(o->names, w->id)->name != name)
		names_thread_renamed(o->names, w->id, name);
	return status;
}

static void bury(struct observer *o, nanoseconds now)
{
	for (size_t i = 0; i < o->look->gone_count; i++) {
		struct watched *w = o->look->gone[i]->user;
		if (w)
			ledger_gone(&o->ledger, &w->watch, now);
		if (w && w->id)
			names_thread_died(o->names, w->id, now);
		free_watched(o->look->gone[i]);
	}
}

/* ---- after the look ------------------------------------------------------------------------------------ */

/* An inner thread state of the same kernel thread that already has its sample in this tick. */
static size_t find_sample(const struct observer *o, size_t count, pid_t tid)
{
	for (size_t i = 0; i < count; i++)
		if (o->by_sample[i]->tid == tid)
			return i;
	return count;
}

static enum status make_room(struct observer *o, size_t count)
{
	void *samples = o->samples, *by_sample = o->by_sample, *unseen = o->unseen;
	enum status status = alloc_grow(&samples, &o->sample_capacity, count, INTERP_THREAD_LIMIT,
					sizeof(*o->samples));
	o->samples = samples;
	if (status == ST_OK)
		status = alloc_grow(&by_sample, &o->by_sample_capacity, count, INTERP_THREAD_LIMIT,
				    sizeof(struct watched *));
	o->by_sample = by_sample;
	if (status == ST_OK)
		status = alloc_grow(&unseen, &o->unseen_capacity, count, INTERP_THREAD_LIMIT,
				    sizeof(*o->unseen));
	o->unseen = unseen;
	/* what was seen last is still looked at when this look fails */
	o->seen.samples = o->samples;
	o->seen.unseen = o->unseen;
	return status;
}

static uint8_t flags_of(const struct observer *o, const struct py_thread *t, bool torn)
{
	const struct py_interp *interp = &o->look->interps[t->interp];
	uint8_t flags = 0;

	if (t->holds_gil)
		flags |= SAMPLE_GIL;
	if (t->holds_gil && interp->gc_collecting)
		flags |= SAMPLE_GC;
	if (t->raising || t->handling)
		flags |= SAMPLE_EXCEPTION;
	if (torn)
		flags |= SAMPLE_TORN;
	return flags;
}

static enum status find_stack(struct observer *o, struct py_thread *t, struct watched *w,
			      stack_id base, bool *torn)
{
	const struct py_interp *interp = &o->look->interps[t->interp];
	enum status status =
		resolver_stack(o->resolver, &w->resolved, t, interp->id, base, &w->stack, torn);

	if (status == ST_OK && t->holds_gil && interp->gc_collecting)
		status = resolver_special(o->resolver, NAMES_GC, w->stack, &w->stack);
	return status;
}

static struct watched *watched_of(const struct observer *o, struct py_thread *t)
{
	struct watched *w = t->user;

	if (!w) {
		t->user = w = alloc_zero(1, sizeof(struct watched));
		if (w)
			w->watch.since = o->before;
	}
	return w;
}

/* A thread that is left out has no sample by which its other thread states could be told. */
static void leave_out(struct observer *o, const struct py_thread *t, struct watched *w,
		      struct task *task, nanoseconds now)
{
	for (size_t i = o->look->thread_count; o->look->interp_count > 1 && i > 0; i--) {
		const struct py_thread *other = o->look->threads[i - 1];
		const struct watched *ow = other->user;
		if (other == t)
			break;
		if (ow && ow->tid == w->tid)
			return;
	}
	ledger_thread(&o->ledger, &w->watch, task, false, now);
}

/* The sample of one thread state; *count grows when it is a thread of its own. */
static enum status observe_thread(struct observer *o, struct py_thread *t, const struct tick *tick,
				  size_t *count)
{
	struct watched *w = watched_of(o, t);
	if (!w)
		return ST_NO_MEMORY;
	struct task *task = task_of(o, t, w);
	if (!task)
		ledger_unknown(&o->ledger, &w->watch, tick->time);
	else if (!is_recorded(o, w->tid))
		leave_out(o, t, w, task, tick->time);
	if (!task || !is_recorded(o, w->tid))
		return ST_OK;
	/* until its thread runs (3.8 to 3.11) a new thread state bears the ids of the one that made it */
	bool may_be_inner = o->look->interp_count > 1 || !w->id;
	size_t at = may_be_inner ? find_sample(o, *count, w->tid) : *count;
	bool torn = false;
	bool is_inner = at < *count;

	watch_state(&w->watch, task, t, &o->look->interps[t->interp], &o->runtime->layout,
		    tick->time);
	if (o->stopped)
		w->watch.state = STATE_STOPPED;
	enum status status = find_stack(o, t, w, is_inner ? o->samples[at].stack : 0, &torn);
	if (status == ST_OK && !w->id)
		status = is_inner ? ST_OK : add_thread(o, t, w, tick->time);
	if (status == ST_OK && w->id && tick->time - w->named >= NAME_EVERY &&
	    o->renamed < NAMES_A_LOOK)
		status = refresh_name(o, w, tick->time);
	if (status != ST_OK)
		return status;
	if (is_inner) {
		struct sample *s = &o->samples[at];
		w->sampled_as = s->thread;
		s->stack = w->stack;
		s->flags |= flags_of(o, t, torn);
		if (t->holds_gil || w->watch.state == STATE_GIL_WAIT)
			s->state = (uint8_t)w->watch.state;
		return ST_OK;
	}
	nanoseconds cpu = watch_cpu(&w->watch, tick->weight, o->kernel_tick);
	ledger_thread(&o->ledger, &w->watch, task, true, tick->time);
	o->by_sample[at] = w;
	w->sampled_as = w->id;
	o->samples[at] = (struct sample){
		.thread = w->id,
		.stack = w->stack,
		.state = (uint8_t)w->watch.state,
		.flags = flags_of(o, t, torn),
		.cpu_mille = tick->weight > 0 ? (uint16_t)(cpu * 1000 / tick->weight) : 0,
		.syscall = (int32_t)w->watch.activity.syscall,
	};
	o->unseen[at] = w->watch.unseen;
	(*count)++;
	return ST_OK;
}

/* Outer thread states first: lists run from the newest interpreter to the oldest. */
static enum status observe_threads(struct observer *o, const struct tick *tick, size_t *count)
{
	enum status status = make_room(o, o->look->thread_count);

	for (size_t i = o->look->thread_count; status == ST_OK && i > 0; i--)
		status = observe_thread(o, o->look->threads[i - 1], tick, count);
	return status;
}

/* A thread whose kernel thread is not known makes a new list worth while; one that stays unknown, now and then. */
static bool any_unknown(const struct observer *o, nanoseconds now)
{
	for (size_t i = 0; i < o->look->thread_count; i++) {
		const struct watched *w = o->look->threads[i]->user;
		if (o->look->threads[i]->is_new)
			return true;
		if ((!w || !w->task) && now - o->refreshed_at >= UNKNOWN_EVERY)
			return true;
	}
	return false;
}

static thread_id holder_of(const struct observer *o, const struct py_gil *gil)
{
	if (!gil->holder)
		return 0;
	for (size_t i = 0; i < o->look->thread_count; i++) {
		const struct py_thread *t = o->look->threads[i];
		const struct watched *w = t->user;
		if (t->tstate == gil->holder && w)
			return w->sampled_as;
	}
	return 0;
}

static void note_interpreters(struct observer *o, struct tick *tick)
{
	size_t n = o->look->interp_count < TICK_INTERPRETERS_MAX ? o->look->interp_count
								 : TICK_INTERPRETERS_MAX;

	tick->interpreter_count = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		const struct py_interp *in = &o->look->interps[i];
		tick->interpreters[i] = (struct tick_interpreter){
			.id = in->id,
			.holder = holder_of(o, &in->gil),
			.locked = in->gil.holder != 0,
			.has_gil = in->gil.enabled,
			.gc = in->gc_collecting,
		};
	}
}

static bool any_torn(const struct py_look *look)
{
	for (size_t i = 0; i < look->thread_count; i++)
		if (look->threads[i]->stack.state == PY_STACK_TORN)
			return true;
	return false;
}

/*
 * Held still a thread may stand in the middle of a call or a return, where its stack says nothing: it is let go and held
 * again.
 */
static enum status read_target(struct observer *o, nanoseconds now)
{
	enum status status = interp_look(o->reader, &o->look);

	if (status == ST_OK)
		bury(o, now);
	for (int i = 0; o->hold && i < HELD_AGAIN_MAX && status == ST_OK && any_torn(o->look);
	     i++) {
		struct timespec moment = { 0, HELD_AGAIN_NS };
		status = hold_continue(o->hold);
		nanosleep(&moment, NULL);
		if (status == ST_OK)
			status = hold_stop(o->hold);
		if (status == ST_OK)
			status = interp_look(o->reader, &o->look);
		if (status == ST_OK)
			bury(o, now);
	}
	return status;
}

/* While the target is held, if it is: names that are read belong to the stacks. */
static enum status observe(struct observer *o, struct tick *tick, size_t *count)
{
	enum status status = read_target(o, tick->time);

	if (status == ST_OK && any_unknown(o, tick->time)) {
		status = refresh_tasks(o, tick->time);
		if (status == ST_OK)
			status = give_tids(o);
	}
	if (status != ST_OK)
		return status;
	tick->rss_bytes = o->rss_bytes;
	resolver_tick(o->resolver, o->look, tick->time, o->hold != NULL);
	return observe_threads(o, tick, count);
}

enum status observer_look(struct observer *o, const struct tick *when,
			  const struct observation **seen)
{
	struct tick *tick = &o->seen.tick;
	size_t count = 0;

	tick->time = when->time;
	tick->weight = when->weight;
	tick->gap = when->gap;
	tick->missed = when->missed;
	o->renamed = 0;
	enum status status = look_around(o, tick->time);
	if (status != ST_OK)
		return status;
	ledger_begin(&o->ledger, tick);
	find_sleepers(o, tick);
	if (o->hold && (status = hold_stop(o->hold)) != ST_OK)
		return status;
	status = observe(o, tick, &count);
	if (o->hold) {
		enum status go = hold_continue(o->hold);
		if (status == ST_OK)
			status = go;
	}
	if (status != ST_OK)
		return status;
	ledger_end(&o->ledger, tick);
	note_interpreters(o, tick);
	o->before = tick->time;
	o->seen.count = count;
	o->seen.retried = o->look->retried;
	o->seen.stopped = o->stopped;
	o->seen.finalizing = o->look->finalizing;
	*seen = &o->seen;
	return ST_OK;
}
