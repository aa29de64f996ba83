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

#define TRY_EVERY_NS (5 * 1000 * 1000)
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

/* The spawned command, or whichever of its descendants is Python first. */
static enum status try_spawned(struct attachment *a, pid_t pid, struct attach_failure *failure)
{
	pid_t children[CHILDREN_MAX];
	size_t count = CHILDREN_MAX;
	enum status status = try_once(a, pid, failure);

	if (status != ST_NOT_PYTHON || process_children(pid, children, &count) != ST_OK)
		return status;
	for (size_t i = 0; i < count; i++) {
		enum status child = try_once(a, children[i], failure);
		if (child == ST_OK || child == ST_STARTING)
			return child;
	}
	return status;
}

static bool may_change(enum status status, bool spawned)
{
	if (status == ST_STARTING || status == ST_AGAIN)
		return true;
	/* between fork and exec, or in the middle of it, nothing that is read says anything about what comes */
	return spawned && (status == ST_NOT_PYTHON || status == ST_FAULT || status == ST_DENIED ||
			   status == ST_BAD_DATA || status == ST_SYSTEM);
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

enum status attach_open(struct attachment *a, pid_t pid, double wait_s, bool spawned,
			struct attach_failure *failure)
{
	double until = seconds_now() + wait_s, doubt_until = 0;
	enum status status;

	memset(a, 0, sizeof(*a));
	for (;;) {
		failure->what[0] = '\0';
		failure->errnum = 0;
		status = spawned ? try_spawned(a, pid, failure) : try_once(a, pid, failure);
		double now = seconds_now();
		if (status == ST_UNSUPPORTED_BUILD && doubt_until <= 0)
			doubt_until = now + BUILD_DOUBT_S;
		bool doubtful = status == ST_UNSUPPORTED_BUILD && now < doubt_until;
		if (status == ST_OK || !(may_change(status, spawned) || doubtful))
			break;
		if (wait_s >= 0 && now >= until)
			break;
		struct timespec pause = { 0, TRY_EVERY_NS };
		nanosleep(&pause, NULL);
	}
	if (status == ST_AGAIN)
		status = ST_STARTING;
	if (spawned && (status == ST_ENDED || status == ST_NO_PROCESS || status == ST_IS_ZOMBIE)) {
		snprintf(failure->what, sizeof(failure->what), "the command");
		return ST_COMMAND_NOT_PYTHON;
	}
	return explain(pid, status, failure);
}

enum status attach_again(struct attachment *a)
{
	struct attach_failure failure = { "", 0 };

	memory_close(&a->memory);
	memory_open_process(&a->memory, a->process.pid, a->process.proc_fd);
	return find_python(a, &failure);
}
