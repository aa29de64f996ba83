/*
 * attach: from a number to a process that can be read: held, its CPython found, or the exact reason why not.
 */
#ifndef PYTOP_ATTACH_H
#define PYTOP_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "python/runtime.h"
#include "target/memory.h"
#include "target/process.h"

struct attachment {
	struct process process;
	struct process_info info;
	struct memory memory;
	struct py_runtime runtime;
	bool is_open;
};

/* For status_sentence(): what stands for {what} and {errno}. */
struct attach_failure {
	char what[1024];
	int errnum;
};

/*
 * Wait up to wait_s for an interpreter that is just starting. spawned: pid is our child, and may be a shell or a shim that
 * becomes Python, or starts it: descendants count, and the wait goes on while it lives (wait_s < 0: as long as that).
 */
enum status attach_open(struct attachment *a, pid_t pid, double wait_s, bool spawned,
			struct attach_failure *failure) MUST_CHECK;

/* The same process after an exec: everything is found anew; the pidfd stays, and so does info on failure. ST_STARTING, ST_NOT_PYTHON, ST_ENDED ... */
enum status attach_again(struct attachment *a) MUST_CHECK;

void attach_close(struct attachment *a);

/* pytop's own absolute path, for hints. */
const char *attach_self(void);

#endif
