/*
 * sample: what one tick says: the vocabulary of record, profile, export and the screen.
 */
#ifndef PYTOP_RECORD_SAMPLE_H
#define PYTOP_RECORD_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* Ids of names.h; 0 is "none" in each. */
typedef uint32_t string_id;
typedef uint32_t func_id;
typedef uint32_t frame_id;
typedef uint32_t stack_id;
typedef uint32_t
	thread_id; /* a thread of the log, not the kernel's tid: never reused within a log */

typedef int64_t nanoseconds;

/* Kinds of value, design part 5. X(NAME, name in JSON and options, what it is) */
#define KIND_TABLE(X) \
	X(WALL, "wall", "time on the stack, whatever the thread did") \
	X(CPU, "cpu", "time on a CPU") \
	X(GIL, "gil", "time holding the GIL") \
	X(WAIT, "wait", "time waiting for the GIL")
enum kind {
#define X(name, text, help) KIND_##name,
	KIND_TABLE(X)
#undef X
		KIND_COUNT
};

/*
 * States of a thread, design part 5. X(NAME, name in JSON and on screen, marker name of the
 * Gecko file)
 */
#define STATE_TABLE(X) \
	X(UNKNOWN, "unknown", NULL) \
	X(GIL, "gil", "Has GIL") \
	X(RUNNING, "running", "Native code") \
	X(GIL_WAIT, "gil-wait", "Waiting for GIL") \
	X(SUSPENDED, "suspended", "Suspended") \
	X(LOCK, "lock", "Lock") \
	X(SLEEP, "sleep", "Sleep") \
	X(POLL, "poll", "Poll") \
	X(IO, "io", "I/O") \
	X(DISK, "disk", "Disk") \
	X(STOPPED, "stopped", "Stopped")
enum thread_state {
#define X(name, text, marker) STATE_##name,
	STATE_TABLE(X)
#undef X
		STATE_COUNT
};

/* Flags of a thread-sample. */
#define SAMPLE_GIL 0x10       /* holds the GIL (gil_i = w), whatever the state says */
#define SAMPLE_GC 0x20        /* its interpreter collects garbage and it is the collecting thread */
#define SAMPLE_EXCEPTION 0x40 /* handles or raises an exception */
#define SAMPLE_TORN 0x80      /* the stack could not be verified: its leaf is <torn> */

/* One thread-sample. */
struct sample {
	thread_id thread;
	stack_id stack;
	uint8_t state;      /* enum thread_state */
	uint8_t flags;      /* SAMPLE_* */
	uint16_t cpu_mille; /* cpu_i in per mille of the tick's weight, 0-1000 */
	int32_t syscall;    /* number, -1: none */
};

#define TICK_INTERPRETERS_MAX 64 /* interpreters a tick tells apart; the rest count as the last */

/* One interpreter at one tick. */
struct tick_interpreter {
	int64_t id;
	thread_id holder; /* who holds its GIL; 0: nobody, or not a thread we know */
	bool locked;
	bool has_gil; /* false: free-threaded */
	bool gc;
};

/* One tick: all threads seen at one time. */
struct tick {
	nanoseconds time;        /* CLOCK_MONOTONIC at which it was read */
	nanoseconds weight;      /* w_s: min(since the tick before, 4T) */
	nanoseconds gap;         /* the rest: in no sum and no denominator */
	nanoseconds process_cpu; /* CPU time of the whole process since the tick before */
	nanoseconds native_cpu;  /* of it, of threads without Python; told now and then */
	nanoseconds others_cpu;  /* of Python threads that are not recorded (-t, -M); likewise */
	uint64_t rss_bytes;      /* as last known; 0: not known */
	uint32_t missed; /* deadlines that passed unused before this tick (gap time not counted) */
	uint32_t interpreter_count;
	struct tick_interpreter interpreters[TICK_INTERPRETERS_MAX];
};

/* Names as JSON and the screen show them; "?" for a number outside. */
const char *kind_name(enum kind kind);
const char *state_name(enum thread_state state);

/*
 * What a thread-sample adds to each kind, in ns: wall, cpu, gil, wait. The one home of design part
 * 5's values.
 */
void sample_values(const struct sample *s, nanoseconds weight, nanoseconds values[KIND_COUNT]);

#endif
