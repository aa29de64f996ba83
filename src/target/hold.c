/*
 * hold: the target's threads, stopped for the length of a tick.
 *
 * A tick seizes and interrupts each thread, waits until each has stopped, lists the threads again
 * until no new one appears (stopped threads start none), and after the reading detaches from all.
 * Invariant: items are the threads that are attached; after hold_continue only those are left that
 * were too deep in the kernel to stop, and they are let go as soon as they did. An exit of our own
 * child is left for waitpid; that of others is taken, for else their parent would not hear of it.
 * Called by the sampler's thread alone.
 */
#include "target/hold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "target/proc.h"
#include "target/process.h"

#define HELD_MAX ((size_t)1 << 18)
#define ROUNDS_MAX 16               /* listings until no new thread appears */
#define PATIENCE_NS 10000000u       /* for a thread that waits for a disk */
#define PATIENCE_MAX_NS 1000000000u /* for one that waits for a CPU */

struct held {
	pid_t tid;
	int signal; /* to be delivered when it goes on; 0: none */
	bool stopped;
};

struct hold {
	pid_t pid;
	DIR *directory; /* /proc/PID/task */
	bool is_child;
	bool holding;
	struct held *items;
	size_t count, capacity;
	uint64_t since_ns, stopped_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool read_stat(int dir_fd, const char *name, struct process_stat *stat)
{
	char buf[1024];
	struct bytes text;

	return proc_read(dir_fd, name, buf, sizeof(buf), &text) == ST_OK &&
	       process_stat_parse(text, stat);
}

enum status hold_open(struct hold **hold, pid_t pid, int proc_fd)
{
	struct process_stat stat;

	if (!read_stat(proc_fd, "stat", &stat))
		return ST_ENDED;
	int fd = openat(proc_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return proc_status(errno);
	struct hold *opened = alloc_zero(1, sizeof(*opened));
	DIR *directory = opened ? fdopendir(fd) : NULL;

	if (!directory) {
		close(fd);
		free(opened);
		return ST_NO_MEMORY;
	}
	opened->directory = directory;
	opened->pid = pid;
	opened->is_child = stat.parent == getpid();
	*hold = opened;
	return ST_OK;
}

/* Is this thread attached already? Listings keep their order, so it is mostly at *hint. */
static bool is_held(const struct hold *hold, pid_t tid, size_t *hint)
{
	for (size_t i = 0; i < hold->count; i++) {
		size_t at = (*hint + i) % hold->count;

		if (hold->items[at].tid == tid) {
			*hint = at + 1;
			return true;
		}
	}
	return false;
}

/* The kernel refused to attach: is the thread on its way out? */
static bool is_ending(const struct hold *hold, pid_t tid)
{
	char name[32];
	struct process_stat stat;

	snprintf(name, sizeof(name), "%d/stat", (int)tid);
	return !read_stat(dirfd(hold->directory), name, &stat) || stat.state == 'Z' ||
	       stat.state == 'X';
}

static enum status seize(struct hold *hold, pid_t tid)
{
	void *items = hold->items;
	enum status status =
		alloc_grow(&items, &hold->capacity, hold->count + 1, HELD_MAX, sizeof(struct held));

	if (status != ST_OK)
		return status;
	hold->items = items;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		int saved = errno;

		if (saved == ESRCH || is_ending(hold, tid))
			return ST_OK;
		pid_t tracer = process_tracer(tid);

		errno = saved;
		return tracer > 0 && tracer != getpid() ? ST_TRACED : proc_status(saved);
	}
	(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	hold->items[hold->count++] = (struct held){ .tid = tid };
	return ST_OK;
}

/* Attach to the threads that are not yet; *any: there is one that lives, *fresh: a new one. */
static enum status seize_new(struct hold *hold, bool *any, bool *fresh)
{
	struct dirent *entry;
	size_t hint = 0;

	*fresh = false;
	rewinddir(hold->directory);
	while ((entry = readdir(hold->directory))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		if (is_held(hold, tid, &hint)) {
			*any = true;
			continue;
		}
		size_t before = hold->count;
		enum status status = seize(hold, tid);

		if (status != ST_OK)
			return status;
		*fresh |= hold->count > before;
		*any |= *fresh;
	}
	return ST_OK;
}

static void forget(struct hold *hold, size_t index)
{
	hold->items[index] = hold->items[--hold->count];
}

/* Has this thread stopped, or ended? Then it is marked, or forgotten and false is given. */
static bool check(struct hold *hold, size_t index)
{
	struct held *held = &hold->items[index];
	bool takes_exit = held->tid != hold->pid || !hold->is_child;
	siginfo_t info = { 0 };
	int options = WSTOPPED | WNOHANG | __WALL | (takes_exit ? WEXITED : 0);

	if (waitid(P_PID, (id_t)held->tid, &info, options) != 0) {
		if (errno == EINTR)
			return true;
		forget(hold, index);
		return false;
	}
	if (info.si_pid == 0)
		return true;
	if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) {
		forget(hold, index);
		return false;
	}
	held->stopped = true;
	/* What is above the signal's byte says that ptrace itself is the cause, not a signal. */
	held->signal = info.si_status >> 8 ? 0 : info.si_status;
	return true;
}

/* Are all that have not stopped yet deep in the kernel, where they run no code of the target? */
static bool all_others_in_kernel(const struct hold *hold)
{
	for (size_t i = 0; i < hold->count; i++) {
		char name[32];
		struct process_stat stat;

		snprintf(name, sizeof(name), "%d/stat", (int)hold->items[i].tid);
		if (!hold->items[i].stopped && read_stat(dirfd(hold->directory), name, &stat) &&
		    stat.state != 'D')
			return false;
	}
	return true;
}

/* One look at all that have not stopped yet; true: there is none left. */
static bool check_all(struct hold *hold)
{
	bool all = true;

	for (size_t i = 0; i < hold->count;) {
		if (!hold->items[i].stopped && !check(hold, i))
			continue;
		all &= hold->items[i++].stopped;
	}
	return all;
}

/* Wait for all that have not stopped yet, as long as patience lasts; at the end it lasts longer. */
static void wait_for_all(struct hold *hold, bool closing)
{
	uint64_t begin = now_ns();
	struct timespec pause = { .tv_nsec = 20000 };

	for (unsigned round = 0; !check_all(hold); round++) {
		uint64_t waited = now_ns() - begin;

		if (waited > PATIENCE_MAX_NS ||
		    (waited > PATIENCE_NS && !closing && all_others_in_kernel(hold)))
			return;
		if (round < 16)
			(void)sched_yield();
		else
			(void)nanosleep(&pause, NULL);
	}
}

/* Detach from what has stopped; what has not, or is dying, is left for the next call. */
static void release(struct hold *hold)
{
	for (size_t i = 0; i < hold->count;) {
		struct held *held = &hold->items[i];

		if (!held->stopped && !check(hold, i))
			continue;
		if (held->stopped &&
		    ptrace(PTRACE_DETACH, held->tid, NULL, (void *)(intptr_t)held->signal) == 0) {
			forget(hold, i);
			continue;
		}
		held->stopped = false;
		i++;
	}
}

static void let_go(struct hold *hold)
{
	release(hold);
	hold->holding = false;
	hold->stopped_ns += now_ns() - hold->since_ns;
}

enum status hold_stop(struct hold *hold)
{
	enum status status = ST_OK;
	bool any = false, fresh = true;

	if (hold->holding)
		return ST_OK;
	hold->holding = true;
	hold->since_ns = now_ns();
	for (int round = 0; status == ST_OK && fresh && round < ROUNDS_MAX; round++) {
		status = seize_new(hold, &any, &fresh);
		if (status == ST_OK)
			wait_for_all(hold, false);
	}
	if (status == ST_OK && !any)
		status = ST_ENDED;
	if (status == ST_OK)
		return ST_OK;
	int saved = errno;

	let_go(hold);
	errno = saved;
	return status;
}

enum status hold_continue(struct hold *hold)
{
	if (!hold->holding)
		return ST_OK;
	bool any = hold->count > 0;

	let_go(hold);
	return any ? ST_OK : ST_ENDED;
}

uint64_t hold_stopped_ns(const struct hold *hold)
{
	return hold->stopped_ns;
}

void hold_close(struct hold *hold)
{
	if (!hold)
		return;
	if (hold->holding)
		let_go(hold);
	if (hold->count > 0) {
		wait_for_all(hold, true);
		release(hold);
	}
	closedir(hold->directory);
	free(hold->items);
	free(hold);
}
