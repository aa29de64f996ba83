/*
 * attach: one try, and the patience around it.
 *
 * A try holds the process, opens its memory and looks for a CPython in it. An interpreter that is just starting, and a
 * spawned command that is still a shell, are tried again every few milliseconds; everything else is final, and is told as
 * precisely as it can be found out: whose process it is, which rule forbids it, which children are Python instead.
 */
#include "attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRY_EVERY_S 0.005
#define TRY_EVERY_MAX_S 0.1
#define TRY_SLOWER 50                           /* a pause is that part of the time waited so far */
#define STARTS_NS ((int64_t)5000 * 1000 * 1000) /* a Python that is starting, after an exec */
#define BECOMES_NS ((int64_t)750 * 1000 * 1000) /* what may be on its way to one */
#define ORPHAN_S 3.0 /* for what a command left behind to become Python */
#define WATCH_S 0.3  /* what a descendant must live to be no throw-away */
#define BUILD_DOUBT_S \
	1.0 /* how long a build that makes no sense may be one that is just starting */
#define CHILDREN_MAX 256
#define CHILDREN_NAMED 8

const char *attach_self(void)
{
	static char path[4096];

	if (!path[0])
		process_own_path(path, sizeof(path));
	return path;
}

void attach_close(struct attachment *a)
{
	if (!a->is_open)
		return;
	memory_close(&a->memory);
	process_close(&a->process);
	a->is_open = false;
}

static enum status find_python(struct attachment *a, struct attach_failure *failure)
{
	struct process_info info;
	enum status status = process_info(&a->process, &info);

	if (status == ST_OK)
		status = runtime_find(&a->runtime, a->process.proc_fd, &a->memory, failure->what,
				      sizeof(failure->what));
	failure->errnum = errno;
	if (status != ST_OK)
		return process_alive(&a->process) != ST_OK ? ST_ENDED : status;
	a->info = info;
	return ST_OK;
}

static enum status try_once(struct attachment *a, pid_t pid, struct attach_failure *failure)
{
	enum status status = process_open(&a->process, pid);

	if (status == ST_IS_THREAD)
		snprintf(failure->what, sizeof(failure->what), "%d", (int)process_of_thread(pid));
	if (status != ST_OK) {
		failure->errnum = errno;
		return status;
	}
	memory_open_process(&a->memory, pid, a->process.proc_fd);
	a->is_open = true;
	status = find_python(a, failure);
	if (status != ST_OK)
		attach_close(a);
	return status;
}

/* Is pid Python, as far as a glance tells? */
static bool is_python(pid_t pid)
{
	struct process process;
	struct py_version version;

	if (process_open(&process, pid) != ST_OK)
		return false;
	struct memory memory;
	memory_open_process(&memory, pid, process.proc_fd);
	bool is = runtime_probe(&version, process.proc_fd, &memory) == ST_OK;
	memory_close(&memory);
	process_close(&process);
	return is;
}

/* Why not: the kernel's refusal, or children that are Python. */
static enum status explain(pid_t pid, enum status status, struct attach_failure *failure)
{
	pid_t children[CHILDREN_MAX];
	size_t count = CHILDREN_MAX, named = 0, used = 0;

	if (status == ST_DENIED)
		return process_denied(pid, failure->errnum, failure->what, sizeof(failure->what));
	if (status != ST_NOT_PYTHON || process_children(pid, children, &count) != ST_OK)
		return status;
	for (size_t i = 0; i < count && named < CHILDREN_NAMED; i++) {
		if (!is_python(children[i]))
			continue;
		int n = snprintf(failure->what + used, sizeof(failure->what) - used, "%s%d",
				 named ? ", " : "", (int)children[i]);
		if (n < 0 || (size_t)n >= sizeof(failure->what) - used)
			break;
		used += (size_t)n;
		named++;
	}
	return named ? ST_NOT_PYTHON_CHILDREN : status;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Has it been there for a moment? */
static bool is_watched(struct attach_watch *watch, pid_t pid, double seconds)
{
	double now = seconds_now();

	if (watch->pid != pid)
		*watch = (struct attach_watch){ pid, now };
	return now - watch->since_s >= seconds;
}

static bool has_ended(enum status status)
{
	return status == ST_ENDED || status == ST_NO_PROCESS || status == ST_IS_ZOMBIE;
}

/* The spawned command, or whichever of its descendants is Python first, and no throw-away. */
static enum status try_spawned(struct attachment *a, pid_t pid, struct attach_watch *watch,
			       struct attach_failure *failure)
{
	pid_t children[CHILDREN_MAX];
	size_t count = CHILDREN_MAX;
	enum status status = try_once(a, pid, failure);

	if ((status != ST_NOT_PYTHON && !has_ended(status)) ||
	    process_children(pid, children, &count) != ST_OK)
		return status;
	for (size_t i = 0; i < count; i++) {
		struct attach_failure ignored = { "", 0 };
		enum status child = try_once(a, children[i], &ignored);

		if (child == ST_STARTING)
			return child;
		if (child != ST_OK)
			continue;
		if (is_watched(watch, children[i], WATCH_S))
			return ST_OK;
		attach_close(a);
		return ST_AGAIN;
	}
	/* what it left behind may be a shim on its way to Python */
	return has_ended(status) && count && !is_watched(watch, children[0], ORPHAN_S) ? ST_AGAIN
										       : status;
}

enum status attach_find(pid_t command, struct attach_watch *watch, pid_t *pid)
{
	struct attach_failure ignored = { "", 0 };
	struct attachment a = { .is_open = false };
	enum status status = try_spawned(&a, command, watch, &ignored);

	if (status != ST_OK)
		return status;
	*pid = a.process.pid;
	attach_close(&a);
	return ST_OK;
}

static bool may_change(enum status status, bool spawned)
{
	if (status == ST_STARTING || status == ST_AGAIN)
		return true;
	/* between fork and exec, or in the middle of it, nothing that is read says anything about what comes */
	return spawned && (status == ST_NOT_PYTHON || status == ST_FAULT || status == ST_DENIED ||
			   status == ST_BAD_DATA || status == ST_SYSTEM);
}

static void pause_after(double waited_s)
{
	double s = waited_s / TRY_SLOWER;

	s = s < TRY_EVERY_S ? TRY_EVERY_S : s > TRY_EVERY_MAX_S ? TRY_EVERY_MAX_S : s;
	struct timespec pause = { 0, (long)(s * 1e9) };
	nanosleep(&pause, NULL);
}

enum status attach_open(struct attachment *a, pid_t pid, double wait_s, bool spawned,
			const volatile int *stop, struct attach_failure *failure)
{
	double begun = seconds_now(), doubt_until = 0;
	struct attach_watch watch = { 0, 0 };
	enum status status;

	memset(a, 0, sizeof(*a));
	for (;;) {
		failure->what[0] = '\0';
		failure->errnum = 0;
		status = spawned ? try_spawned(a, pid, &watch, failure) : try_once(a, pid, failure);
		double now = seconds_now();
		if (status == ST_UNSUPPORTED_BUILD && doubt_until <= 0)
			doubt_until = now + BUILD_DOUBT_S;
		bool doubtful = status == ST_UNSUPPORTED_BUILD && now < doubt_until;
		if (status == ST_OK || !(may_change(status, spawned) || doubtful))
			break;
		if (wait_s >= 0 && now >= begun + wait_s)
			break;
		if (stop && *stop)
			return ST_CANCELLED;
		pause_after(now - begun);
	}
	if (status == ST_AGAIN)
		status = ST_STARTING;
	if (spawned && has_ended(status)) {
		snprintf(failure->what, sizeof(failure->what), "the command");
		return ST_COMMAND_NOT_PYTHON;
	}
	return explain(pid, status, failure);
}

static void describe_change(struct attachment *a, enum status status, const char *version)
{
	struct process_info info;

	a->became[0] = '\0';
	if (status == ST_OLD_VERSION || status == ST_UNSUPPORTED_VERSION)
		snprintf(a->became, sizeof(a->became), "CPython %s", version);
	else if (status != ST_OK && status != ST_ENDED && process_info(&a->process, &info) == ST_OK)
		snprintf(a->became, sizeof(a->became), "%s", info.name);
}

enum status attach_again(struct attachment *a)
{
	struct attach_failure failure = { "", 0 };

	memory_close(&a->memory);
	memory_open_process(&a->memory, a->process.pid, a->process.proc_fd);
	enum status status = find_python(a, &failure);
	describe_change(a, status, failure.what);
	return status;
}

int64_t attach_patience(enum status status)
{
	switch (status) {
	case ST_STARTING:
	case ST_AGAIN:
	case ST_FAULT:
	case ST_BAD_DATA:
	case ST_TORN:
		return STARTS_NS;
	default:
		return BECOMES_NS;
	}
}
