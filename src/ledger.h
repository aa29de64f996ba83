/*
 * ledger: whose CPU time was it? The process' clock, divided among Python threads that are recorded, those that are left
 * out (-t, -M), and threads without Python. For observer.c alone.
 *
 * In each look: ledger_begin before any thread's run time is read, ledger_thread for every kernel thread with a thread
 * state, ledger_gone for those that went, ledger_end.
 */
#ifndef PYTOP_LEDGER_H
#define PYTOP_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "record/sample.h"
#include "states.h"
#include "target/process.h"
#include "target/tasks.h"

struct ledger {
	const struct process *process;
	nanoseconds kernel_tick;
	nanoseconds began_at; /* the first look */
	/* the header's */
	uint64_t process_ns; /* as read last, at read_at */
	bool has_process;
	nanoseconds read_at;
	nanoseconds
		advance; /* drawn by thread-samples before the kernel told of it, as of the last look */
	nanoseconds advance_now; /* so far in this look */
	nanoseconds rest;        /* of the process' CPU, not yet given to a tick; signed */
	/* the division; all since it was made last */
	bool dividing, is_divided;
	nanoseconds divided_at;
	uint64_t divided_ns;     /* the process' clock then */
	nanoseconds weight, gap; /* of the ticks */
	nanoseconds python,
		others; /* run time of threads with a thread state; of them, those left out */
	nanoseconds unsure,
		unsure_before; /* at most so much was used by threads that went, after they were last read */
	bool unknown;          /* a new thread state whose kernel thread is not known yet */
	nanoseconds native; /* carried over; <= 0 */
};

void ledger_open(struct ledger *l, const struct process *process, nanoseconds kernel_tick);

/* Reads the process' clock when it is time. */
void ledger_begin(struct ledger *l, const struct tick *tick);
void ledger_thread(struct ledger *l, struct thread_watch *watch, struct task *task, bool recorded,
		   nanoseconds now);
/* A thread state that is born must be known to the kernel soon. */
void ledger_unknown(struct ledger *l, const struct thread_watch *watch, nanoseconds now);
void ledger_gone(struct ledger *l, const struct thread_watch *watch, nanoseconds now);
/* Sets process_cpu, native_cpu and others_cpu. */
void ledger_end(struct ledger *l, struct tick *tick);

#endif
