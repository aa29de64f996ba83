/*
 * runtime: finds the CPython in a process: which image has it, where its roots are, which
 * version it is, and the layout to read it with.
 */
#ifndef PYTOP_PYTHON_RUNTIME_H
#define PYTOP_PYTHON_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "python/layout.h"
#include "target/maps.h"
#include "target/memory.h"

struct py_runtime {
	remote_addr address;     /* of _PyRuntime */
	remote_addr interp_head; /* address of the pointer to the first interpreter */
	struct py_layout layout;
	char version_text[64]; /* "3.13.1", "3.14.0rc1", "3.13.5 free-threaded" */
	remote_addr code_type; /* PyCode_Type, learnt from the first good code object; 0: not yet */
	uint32_t tid_offset; /* <= 3.10: of the tid in struct pthread; LAYOUT_NONE: not known yet */
};

/*
 * Find it. ST_NOT_PYTHON (also IS_PYPY, IS_GRAALPY), ST_UNSUPPORTED_VERSION, ST_OLD_VERSION,
 * ST_UNSUPPORTED_BUILD (what = version), ST_STARTING when the image is there but has no
 * interpreter yet (the caller waits and tries again), ST_DENIED (errno kept), ST_ENDED. what
 * (may be NULL) gets the text for {what}.
 */
enum status runtime_find(struct py_runtime *runtime, int proc_fd, struct memory *memory, char *what,
			 size_t what_size) MUST_CHECK;

/*
 * Cheap look whether a process could be CPython at all and which version, for the picker: never
 * ST_STARTING.
 */
enum status runtime_probe(struct py_version *version, int proc_fd,
			  struct memory *memory) MUST_CHECK;

/*
 * Learn runtime->tid_offset (<= 3.10, which does not keep the kernel's tid): the one place in
 * pthreads' control blocks (thread_id of the thread states, addresses in the target) that holds
 * one of tids, the kernel's ids of the target's threads as the target itself sees them.
 * ST_AGAIN when none does; call again when threads have changed.
 */
enum status runtime_learn_tid(struct py_runtime *runtime, struct memory *memory,
			      const uint64_t *pthreads, size_t n, const int32_t *tids,
			      size_t m) MUST_CHECK;

void runtime_version_text(char *buf, size_t size, const struct py_version *version);

#endif
