/*
 * observer: one look at the target, turned into a tick and its thread-samples: stacks as ids, states, CPU, threads' names.
 * Used by the sampler's thread, and once without it for a dump.
 */
#ifndef PYTOP_OBSERVER_H
#define PYTOP_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"
#include "python/runtime.h"
#include "record/names.h"
#include "record/sample.h"
#include "target/memory.h"
#include "target/process.h"

struct observer;

struct observer_options {
	const pid_t
		*threads; /* record only these tids; NULL: all. Borrowed for the observer's life. */
	size_t thread_count;
	bool main_thread_only;
	bool blocking; /* stop the target's threads around each look */
};

enum status observer_open(struct observer **observer, const struct process *process,
			  struct memory *memory, struct py_runtime *runtime, struct names *names,
			  const struct observer_options *options) MUST_CHECK;
void observer_close(struct observer *o);

/* Its threads are no more: the process ended, or is another program now. */
void observer_bury(struct observer *o, nanoseconds now);

/* One look's result; owned by the observer, valid until the next look. */
struct observation {
	struct tick
		tick; /* time, interpreters, process_cpu, rss; the caller sets weight, gap and missed before */
	const struct sample *samples;
	const nanoseconds *
		unseen; /* of each sample's thread: CPU that the kernel counted and no thread-sample could be given */
	size_t count;
	uint64_t retried;
	bool stopped; /* SIGSTOP */
	bool finalizing;
};

/*
 * Look now. tick->time, weight, gap and missed are the caller's; the rest is filled. ST_ENDED, ST_FAULT (the runtime is
 * not there any more: an exec?), ST_DENIED, ST_NO_MEMORY, ST_TOO_BIG (names are full: renew them, call
 * observer_renewed, look again).
 */
enum status observer_look(struct observer *o, const struct tick *when,
			  const struct observation **seen) MUST_CHECK;

void observer_renewed(struct observer *o);

/* --blocking: how long the target was held so far, in ns. */
uint64_t observer_held_ns(const struct observer *o);

#endif
