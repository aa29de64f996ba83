/*
 * attach: from a number to a process that can be read: held, its CPython found, or the exact reason why not.
 */
#ifndef PYTOP_ATTACH_H
#define PYTOP_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
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
	char became[256]; /* what it runs since attach_again() failed, raw bytes; "": not known */
	bool is_open;
};

/* A descendant of a command that may be thrown away at once: it is watched for a moment first. */
struct attach_watch {
	pid_t pid; /* 0: none yet */
	double since_s;
};

/* For status_sentence(): what stands for {what} and {errno}. */
struct attach_failure {
	char what[1024];
	int errnum;
};

/*
 * Wait up to wait_s for an interpreter that is just starting. spawned: pid is our child, and may be a shell or a shim that
 * becomes Python, or starts it: descendants count when they live for a moment, and the wait goes on while it or they live
 * (wait_s < 0: as long as that). *stop (may be NULL) not 0: ST_CANCELLED.
 */
enum status attach_open(struct attachment *a, pid_t pid, double wait_s, bool spawned,
			const volatile int *stop, struct attach_failure *failure) MUST_CHECK;

/*
 * One look for the Python in a spawned command: *pid. Zeroed watch before the first. ST_AGAIN and the like: not yet; ST_ENDED,
 * ST_NO_PROCESS, ST_IS_ZOMBIE: there will be none any more.
 */
enum status attach_find(pid_t command, struct attach_watch *watch, pid_t *pid) MUST_CHECK;

/*
 * The same process after an exec: everything is found anew; the pidfd stays, and so does info on failure, when became says
 * what it runs now. ST_STARTING, ST_NOT_PYTHON, ST_ENDED ...
 */
enum status attach_again(struct attachment *a) MUST_CHECK;
/* How long, in ns, it is worth while to try that again after such a failure: longest when a Python is starting. */
int64_t attach_patience(enum status status);

void attach_close(struct attachment *a);

/* pytop's own absolute path, for hints. */
const char *attach_self(void);

#endif
