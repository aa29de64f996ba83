/*
 * interp: one look at a whole CPython: its interpreters, their GILs, their threads and the stacks of these,
 * in one system call in the steady state.
 *
 * The reader remembers from the tick before where everything lies (interpreter list, thread states, stack chunks,
 * frames outside them) and asks for all of it in one batch [list heads][interpreters][GILs]
 * [per thread: state][stack][...][state][stack again]. What turns out to have moved is read by follow-up
 * calls. One thread's trouble never costs the others their sample.
 */
#ifndef PYTOP_PYTHON_INTERP_H
#define PYTOP_PYTHON_INTERP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "python/frames.h"
#include "python/gil.h"
#include "python/runtime.h"
#include "target/memory.h"

#define INTERP_LIMIT 4096         /* interpreters */
#define INTERP_THREAD_LIMIT 65536 /* thread states of all interpreters */

struct py_interp {
	remote_addr address;
	int64_t id;
	struct py_gil gil;
	bool gc_collecting;
	remote_addr gc_frame;     /* 3.15+: frame that triggered it; else 0 */
	uint64_t code_generation; /* 3.14+: changes when a code object dies; else 0 */
};

struct py_thread {
	/* set by the reader */
	remote_addr tstate;
	uint32_t interp; /* index into interps */
	int64_t native_id; /* the kernel's tid as the target sees it; 0: not known (<= 3.10: pthread unreadable) */
	uint64_t thread_id;     /* pthread_self() */
	bool holds_gil;         /* the GIL word names it */
	bool gil_requested;     /* 3.15+: waits, by its own account */
	bool raising, handling; /* an exception is on its way / being handled */
	uint8_t attach;         /* free-threaded: 0 detached 1 attached 2 suspended; else 255 */
	bool is_new;            /* first seen in this look */
	struct py_stack stack;
	void *memo; /* the reader's own */

	/* set by the caller before the next interp_look(), kept with the tstate while it lives */
	bool asleep; /* has not run since the last look: its stack need not be read again */
	void *user;  /* the caller's; NULL when new */
};

struct py_look {
	const struct py_interp *interps;
	size_t interp_count;
	struct py_thread *
		*threads; /* in list order; each stays at its address while its tstate lives */
	size_t thread_count;
	struct py_thread **
		gone; /* threads that were there at the last look and are no more; freed at the next */
	size_t gone_count;
	uint64_t retried; /* follow-up reads because a stack was in motion, this look */
	bool finalizing;  /* the interpreter is going down */
};

struct interp_reader;

enum status interp_open(struct interp_reader **reader, struct py_runtime *runtime,
			struct memory *memory) MUST_CHECK;
void interp_close(struct interp_reader *reader);

/*
 * Look once. *look and what it points to belong to the reader and are valid until the next call.
 * Once warm it allocates nothing. ST_ENDED (gone, exec), ST_FAULT (the roots cannot be read: perhaps an exec),
 * ST_DENIED. Anything wrong with one thread or interpreter is that one's own trouble.
 */
enum status interp_look(struct interp_reader *reader, const struct py_look **look) MUST_CHECK;

/*
 * <= 3.10, which does not keep the kernel's ids of its threads: the ids of the target's threads as the target sees
 * them. Call it before the first look and when a thread with native_id 0 appears; they are copied.
 */
void interp_give_tids(struct interp_reader *reader, const int32_t *tids, size_t n);

#endif
