/*
 * states: what a thread was doing at a tick (design 4.3), and its CPU account (design 5).
 */
#ifndef PYTOP_STATES_H
#define PYTOP_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "python/interp.h"
#include "record/sample.h"
#include "target/tasks.h"

/* What is remembered of a thread from tick to tick. */
struct thread_watch {
	struct task_activity activity;
	bool activity_is_new; /* read before the look (watch_activity): --blocking */
	enum thread_state state;
	nanoseconds asked; /* when the kernel was last asked where it is */
	/* the last schedstat read, and when */
	struct task_schedule schedule;
	bool has_schedule;
	nanoseconds schedule_at;
	/* asleep rule: switches as read before the last look; whether the stack was read during this sleep */
	uint64_t base_switches;
	bool settled;
	/*
	 * The sleep it was last seen in: where it stood and how often it had been scheduled in. slept: it stands there
	 * still, and holds no GIL since: it sleeps, or was woken and is on its way out of the call.
	 */
	bool slept;
	remote_addr slept_code;
	int64_t slept_instruction;
	uint64_t slept_switches;
	enum thread_state slept_state;
	/* on a CPU? and how often it left one, when last asked */
	enum task_place place;
	struct task_departures left;
	/* where it stood at the last look */
	remote_addr at_code;
	int64_t at_instruction;
	bool woken; /* at the last look: it had no CPU, or got one only after */
	/* the account */
	nanoseconds
		account; /* A: CPU seen by the kernel, not yet given to thread-samples; >= -one kernel tick */
	nanoseconds
		stretch; /* S: of it, what was used on the way it is on: with the GIL, or at one place without */
	nanoseconds
		unseen;  /* what stayed in A beyond WATCH_UNSEEN_AFTER, and what was used in gaps */
	nanoseconds gap; /* not seen since the last schedstat read */
	/* the ledger's: where its run time stood when last taken, and the tick before the thread was first seen */
	uint64_t taken_ns;
	bool is_taken;
	nanoseconds since;
};

#define WATCH_UNSEEN_AFTER ((nanoseconds)100 * 1000 * 1000)

/* Before all others: how much of the time before this tick was not seen. What was used then belongs to no thread-sample. */
void watch_gap(struct thread_watch *watch, nanoseconds gap);

/*
 * Before the look, for every thread: true when it was blocked at the last tick, its stack was read during this very
 * sleep, and it has not been scheduled in since, so that nothing of it need be read again. Reads schedstat.
 */
bool watch_asleep(struct thread_watch *watch, struct task *task, nanoseconds now);

/* Read its run time unless that was done at this very tick. false: it cannot be told. */
bool watch_schedule(struct thread_watch *watch, struct task *task, nanoseconds now);

/* Ask now what the thread does, before --blocking stops it. */
void watch_activity(struct thread_watch *watch, struct task *task);

/* After the look: decides watch->state. Asks the kernel only where GIL and sleep do not already tell. */
void watch_state(struct thread_watch *watch, struct task *task, const struct py_thread *thread,
		 const struct py_interp *interp, const struct py_layout *layout, nanoseconds now);

/* The thread-sample's cpu_i for weight w, after watch_state. kernel_tick: one tick of the kernel, in ns. */
nanoseconds watch_cpu(struct thread_watch *watch, nanoseconds w, nanoseconds kernel_tick);

#endif
