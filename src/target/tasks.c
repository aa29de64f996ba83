/*
 * tasks: the target's threads, found by either of their numbers, with the descriptors that are kept
 * open on what the kernel says of each.
 *
 * Invariant: items, by_tid and (with another PID namespace) by_inside hold the same threads;
 * kept counts the descriptors open among them and never passes its budget, so that the rest of
 * pytop always finds room. A kept descriptor fails for good once its thread is gone, so a number
 * that was given to another thread is noticed at the next read. Called by the sampler alone.
 */
#include "target/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "target/proc.h"
#include "target/process.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define TASKS_MAX ((size_t)1 << 18) /* threads; more are left out */
#define KEPT_MAX 32768              /* descriptors, whatever the limit */
#define KEPT_RESERVE 256            /* descriptors that are left to the rest of pytop */
#define NAMES_AT_ONCE 64            /* names read anew at a refresh */
#define FILE_TEXT 1024              /* syscall, schedstat and stat are shorter */
#define STATUS_TEXT 4096

struct task {
	pid_t tid;
	pid_t inside_tid;
	struct tasks *owner;
	int syscall_fd, schedule_fd, status_fd; /* -1: not open */
	uint64_t reads; /* of a schedule that is not there, see task_schedule */
	bool seen;      /* by the refresh that runs */
	char name[64];
	UT_hash_handle hh, hh_inside;
};

struct tasks {
	DIR *directory; /* /proc/PID/task */
	struct task **items;
	size_t count, capacity;
	struct task *by_tid, *by_inside;
	size_t kept, kept_max;
	size_t next_name; /* the item whose name is read anew first */
	bool other_namespace;
	bool has_schedule; /* the kernel keeps schedstat */
};

/* Raise the soft limit to the hard one; returns how many descriptors there may be. */
static size_t raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 1024;
	if (limit.rlim_cur < limit.rlim_max) {
		struct rlimit raised = { limit.rlim_max, limit.rlim_max };

		if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
			limit = raised;
	}
	return limit.rlim_cur < (1u << 30) ? (size_t)limit.rlim_cur : 1u << 30;
}

/* pytop itself runs, so its own schedstat is not all zeros where it is kept. */
static bool kernel_keeps_schedule(void)
{
	char buf[FILE_TEXT];
	struct bytes text;
	struct task_schedule own;

	return proc_read(AT_FDCWD, "/proc/thread-self/schedstat", buf, sizeof(buf), &text) ==
		       ST_OK &&
	       task_schedule_parse(text, &own) && own.switches > 0;
}

/* The innermost of a thread's numbers; outside when there is no other. */
static pid_t read_inside_tid(int directory, const char *name, pid_t outside)
{
	char buf[STATUS_TEXT];
	struct bytes text;
	uint64_t id = (uint64_t)outside;

	if (proc_read(directory, name, buf, sizeof(buf), &text) != ST_OK)
		return outside;
	struct bytes ids = proc_field(text, "NSpid");

	while (proc_number(&ids, &id))
		continue;
	return (pid_t)id;
}

enum status tasks_open(struct tasks **tasks, pid_t pid, int proc_fd)
{
	int fd = openat(proc_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return proc_status(errno);
	struct tasks *opened = alloc_zero(1, sizeof(*opened));
	DIR *directory = opened ? fdopendir(fd) : NULL;

	if (!directory) {
		close(fd);
		free(opened);
		return ST_NO_MEMORY;
	}
	opened->directory = directory;
	size_t limit = raise_descriptor_limit();

	opened->kept_max = limit > 2 * KEPT_RESERVE ? limit - KEPT_RESERVE : limit / 2;
	if (opened->kept_max > KEPT_MAX)
		opened->kept_max = KEPT_MAX;
	opened->other_namespace = read_inside_tid(proc_fd, "status", pid) != pid;
	opened->has_schedule = kernel_keeps_schedule();
	enum status status = tasks_refresh(opened);

	if (status == ST_OK)
		*tasks = opened;
	else
		tasks_close(opened);
	return status;
}

static void forget(struct task *task, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	task->owner->kept--;
}

/* Close and free a thread that is in no table any more. */
static void release(struct task *task)
{
	forget(task, &task->syscall_fd);
	forget(task, &task->schedule_fd);
	forget(task, &task->status_fd);
	free(task);
}

static void unlink_task(struct tasks *tasks, struct task *task)
{
	HASH_DEL(tasks->by_tid, task);
	if (tasks->other_namespace)
		HASH_DELETE(hh_inside, tasks->by_inside, task);
}

void tasks_close(struct tasks *tasks)
{
	if (!tasks)
		return;
	for (size_t i = 0; i < tasks->count; i++) {
		unlink_task(tasks, tasks->items[i]);
		release(tasks->items[i]);
	}
	free(tasks->items);
	closedir(tasks->directory);
	free(tasks);
}

static enum status read_once(const struct task *task, const char *file, char *buf, size_t size,
			     struct bytes *text)
{
	char name[64];

	snprintf(name, sizeof(name), "%d/%s", (int)task->tid, file);
	return proc_read(dirfd(task->owner->directory), name, buf, size, text);
}

static void read_name(struct task *task)
{
	char buf[sizeof(task->name)];
	struct bytes text;

	if (read_once(task, "comm", buf, sizeof(buf), &text) != ST_OK)
		return;
	size_t n = strcspn(buf, "\n");

	memcpy(task->name, buf, n);
	task->name[n] = '\0';
}

static void read_identity(struct task *task)
{
	char name[64];

	read_name(task);
	task->inside_tid = task->tid;
	if (!task->owner->other_namespace)
		return;
	snprintf(name, sizeof(name), "%d/status", (int)task->tid);
	task->inside_tid = read_inside_tid(dirfd(task->owner->directory), name, task->tid);
}

/* Into both tables or into none. uthash says that it had no memory by leaving hh.tbl empty. */
static bool link_task(struct tasks *tasks, struct task *task)
{
	HASH_ADD_INT(tasks->by_tid, tid, task);
	if (!task->hh.tbl)
		return false;
	if (!tasks->other_namespace)
		return true;
	HASH_ADD(hh_inside, tasks->by_inside, inside_tid, sizeof(task->inside_tid), task);
	if (task->hh_inside.tbl)
		return true;
	HASH_DEL(tasks->by_tid, task);
	return false;
}

static enum status add_task(struct tasks *tasks, pid_t tid)
{
	void *items = tasks->items;
	enum status status = alloc_grow(&items, &tasks->capacity, tasks->count + 1, TASKS_MAX,
					sizeof(struct task *));

	if (status == ST_TOO_BIG)
		return ST_OK;
	if (status != ST_OK)
		return status;
	tasks->items = items;
	struct task *task = alloc_zero(1, sizeof(*task));

	if (!task)
		return ST_NO_MEMORY;
	task->tid = tid;
	task->owner = tasks;
	task->syscall_fd = task->schedule_fd = task->status_fd = -1;
	task->seen = true;
	read_identity(task);
	if (!link_task(tasks, task)) {
		free(task);
		return ST_NO_MEMORY;
	}
	tasks->items[tasks->count++] = task;
	return ST_OK;
}

static void drop_unseen(struct tasks *tasks)
{
	size_t left = 0;

	for (size_t i = 0; i < tasks->count; i++) {
		struct task *task = tasks->items[i];

		if (task->seen) {
			task->seen = false;
			tasks->items[left++] = task;
			continue;
		}
		unlink_task(tasks, task);
		release(task);
	}
	tasks->count = left;
}

static void refresh_names(struct tasks *tasks)
{
	for (size_t i = 0; i < NAMES_AT_ONCE && i < tasks->count; i++) {
		if (tasks->next_name >= tasks->count)
			tasks->next_name = 0;
		read_name(tasks->items[tasks->next_name++]);
	}
}

/* Mark who is there, add who is new. */
static enum status list_tasks(struct tasks *tasks)
{
	struct dirent *entry;

	rewinddir(tasks->directory);
	for (errno = 0; (entry = readdir(tasks->directory)); errno = 0) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct task *task = tid > 0 ? tasks_find(tasks, tid) : NULL;
		enum status status = ST_OK;

		if (task)
			task->seen = true;
		else if (tid > 0)
			status = add_task(tasks, tid);
		if (status != ST_OK)
			return status;
	}
	return errno ? proc_status(errno) : ST_OK;
}

enum status tasks_refresh(struct tasks *tasks)
{
	size_t before = tasks->count;
	enum status status = list_tasks(tasks);
	bool any = false;

	for (size_t i = 0; i < tasks->count; i++)
		any |= tasks->items[i]->seen;
	if (status == ST_OK && !any)
		status = ST_ENDED;
	if (status != ST_OK) {
		for (size_t i = 0; i < tasks->count; i++)
			tasks->items[i]->seen = i < before;
		drop_unseen(tasks);
		return status;
	}
	drop_unseen(tasks);
	refresh_names(tasks);
	return ST_OK;
}

size_t tasks_count(const struct tasks *tasks)
{
	return tasks->count;
}

struct task *tasks_at(const struct tasks *tasks, size_t index)
{
	return index < tasks->count ? tasks->items[index] : NULL;
}

struct task *tasks_find(const struct tasks *tasks, pid_t tid)
{
	struct task *task = NULL;

	HASH_FIND_INT(tasks->by_tid, &tid, task);
	return task;
}

struct task *tasks_find_inside(const struct tasks *tasks, pid_t inside_tid)
{
	struct task *task = NULL;

	if (!tasks->other_namespace)
		return tasks_find(tasks, inside_tid);
	HASH_FIND(hh_inside, tasks->by_inside, &inside_tid, sizeof(inside_tid), task);
	return task;
}

pid_t task_inside_tid(const struct task *task)
{
	return task->inside_tid;
}

pid_t task_tid(const struct task *task)
{
	return task->tid;
}

const char *task_name(const struct task *task)
{
	return task->name;
}

/* Open a thread's file to be kept in *fd; false: no room for it, or it is not there. */
static bool keep_open(struct task *task, int *fd, const char *file)
{
	struct tasks *tasks = task->owner;
	char name[64];

	if (tasks->kept >= tasks->kept_max)
		return false;
	snprintf(name, sizeof(name), "%d/%s", (int)task->tid, file);
	*fd = openat(dirfd(tasks->directory), name, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return false;
	tasks->kept++;
	return true;
}

/* A thread's file, by the descriptor kept in *fd where there is room for one. */
static enum status read_kept(struct task *task, int *fd, const char *file, char *buf, size_t size,
			     struct bytes *text)
{
	if (*fd >= 0) {
		enum status status = proc_reread(*fd, buf, size, text);

		if (status != ST_ENDED)
			return status;
		/* That thread is gone; another may have its number by now. */
		forget(task, &task->syscall_fd);
		forget(task, &task->schedule_fd);
		forget(task, &task->status_fd);
		read_name(task);
	}
	if (keep_open(task, fd, file))
		return proc_reread(*fd, buf, size, text);
	return read_once(task, file, buf, size, text);
}

static char read_state(struct task *task)
{
	char buf[FILE_TEXT];
	struct bytes text;

	if (read_once(task, "stat", buf, sizeof(buf), &text) != ST_OK)
		return '\0';
	return task_stat_state(text);
}

void task_activity(struct task *task, struct task_activity *activity)
{
	char buf[FILE_TEXT];
	struct bytes text = { 0 };

	if (read_kept(task, &task->syscall_fd, "syscall", buf, sizeof(buf), &text) != ST_OK)
		text = (struct bytes){ 0 };
	task_activity_parse(text, activity);
	if (task_activity_needs_state(activity))
		task_activity_add_state(activity, read_state(task));
}

static bool schedule_from_stat(struct task *task, struct task_schedule *schedule)
{
	char buf[FILE_TEXT];
	struct bytes text;
	struct process_stat stat;
	long hz = sysconf(_SC_CLK_TCK);

	if (read_once(task, "stat", buf, sizeof(buf), &text) != ST_OK ||
	    !process_stat_parse(text, &stat))
		return false;
	*schedule = (struct task_schedule){
		.run_ns = stat.cpu_ticks * (1000000000u / (uint64_t)(hz > 0 ? hz : 100)),
		.switches = ++task->reads,
	};
	return true;
}

bool task_schedule(struct task *task, struct task_schedule *schedule)
{
	char buf[FILE_TEXT];
	struct bytes text;

	if (!task->owner->has_schedule)
		return schedule_from_stat(task, schedule);
	return read_kept(task, &task->schedule_fd, "schedstat", buf, sizeof(buf), &text) == ST_OK &&
	       task_schedule_parse(text, schedule);
}

enum task_place task_place_parse(struct bytes status, const struct task_schedule *schedule,
				 struct task_departures *departures)
{
	struct bytes by_itself = proc_field(status, "voluntary_ctxt_switches");
	struct bytes forced = proc_field(status, "nonvoluntary_ctxt_switches");
	struct task_departures out;

	if (!proc_number(&by_itself, &out.slept) || !proc_number(&forced, &out.preempted))
		return TASK_PLACE_UNKNOWN;
	*departures = out;
	return schedule->switches > out.slept + out.preempted ? TASK_ON_CPU : TASK_OFF_CPU;
}

enum task_place task_place(struct task *task, const struct task_schedule *schedule,
			   struct task_departures *departures)
{
	char buf[STATUS_TEXT];
	struct bytes text;

	if (!task->owner->has_schedule ||
	    read_kept(task, &task->status_fd, "status", buf, sizeof(buf), &text) != ST_OK)
		return TASK_PLACE_UNKNOWN;
	return task_place_parse(text, schedule, departures);
}
