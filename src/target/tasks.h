/*
 * tasks: the target's threads as the kernel sees them: which exist, what each does, what CPU it
 * used.
 *
 * Descriptors on /proc/PID/task/TID/{syscall,schedstat} are kept open (one read costs 1-2 us), as
 * many as RLIMIT_NOFILE has room for; its soft limit is raised to the hard one by the first
 * tasks_open. Threads beyond that are opened for each read. Threads are born and die all the
 * time: a read of one that is gone is no error.
 */
#ifndef PYTOP_TARGET_TASKS_H
#define PYTOP_TARGET_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/status.h"

struct tasks; /* of one process */
struct task;  /* one thread; owned by tasks, valid until tasks_refresh says it is gone */

enum status tasks_open(struct tasks **tasks, pid_t pid, int proc_fd) MUST_CHECK;
void tasks_close(struct tasks *tasks);

/*
 * List /proc/PID/task anew. Costs ~1 us a thread: call it when an unknown tid appears, and about
 * once a second. Names are read anew for a part of the threads at a time. ST_ENDED, ST_NO_MEMORY;
 * after a failure the threads are as they were.
 */
enum status tasks_refresh(struct tasks *tasks) MUST_CHECK;
size_t tasks_count(const struct tasks *tasks);
struct task *tasks_at(const struct tasks *tasks, size_t index);

/*
 * The thread whose id is tid outside (as /proc shows it), or inside its own PID namespace; or
 * NULL.
 */
struct task *tasks_find(const struct tasks *tasks, pid_t tid);
struct task *tasks_find_inside(const struct tasks *tasks, pid_t inside_tid);

pid_t task_tid(const struct task *task);
/* Its id as the target itself sees it. */
pid_t task_inside_tid(const struct task *task);
/* comm, at most 15 bytes, raw; read when the task was first seen and now and then at a refresh. */
const char *task_name(const struct task *task);

/* What it does in the kernel, design 4.3. */
enum task_doing {
	TASK_UNKNOWN, /* could not be told */
	TASK_RUNNING, /* on a CPU or ready to be */
	TASK_FUTEX,   /* futex: argument 0 is its address */
	TASK_SLEEP,   /* nanosleep, clock_nanosleep, pause, select of nothing ... */
	TASK_POLL,    /* poll, select, epoll_wait ... */
	TASK_IO, /* read, recv, accept, wait4, connect, flock ... and all other calls that block */
	TASK_DISK,    /* in D: fsync, page fault from disk */
	TASK_STOPPED, /* SIGSTOP or a tracer */
};
struct task_activity {
	enum task_doing doing;
	int64_t syscall; /* its number, -1: none */
	uint64_t argument0;
};
/*
 * Parses the text of "syscall": "running", "-1 sp pc", "202 0x7f.. 0x80 ...". The numbers are
 * those of the machine pytop was built for. "-1", and what is no such text: TASK_UNKNOWN.
 */
void task_activity_parse(struct bytes text, struct task_activity *activity);

/*
 * Does it take the letter of stat to tell? Blocked outside a call, or in one that may wait for a
 * disk.
 */
bool task_activity_needs_state(const struct task_activity *activity);
/* Correct doing by that letter. */
void task_activity_add_state(struct task_activity *activity, char state);

/*
 * Ask the kernel. TASK_UNKNOWN when the thread is gone. Where the call may not be read, or does
 * not tell, the run state from stat decides. Under ptrace (--blocking) ask before the threads are
 * stopped: a stopped one is TASK_STOPPED.
 */
void task_activity(struct task *task, struct task_activity *activity);

/*
 * schedstat: ns on a CPU (moves with the kernel's tick), ns runnable but waiting, times scheduled
 * in (exact).
 */
/*
 * Where the kernel keeps no schedstat, run_ns is utime + stime (10 ms), and switches grows with
 * each call: such a thread always seems to have run.
 */
struct task_schedule {
	uint64_t run_ns, delay_ns, switches;
};
bool task_schedule_parse(struct bytes text, struct task_schedule *schedule);
bool task_schedule(struct task *task, struct task_schedule *schedule);

/*
 * Is it on a CPU, or only ready to be? A thread on a CPU was scheduled in once more than out: schedule is what
 * task_schedule has just told, the times out are counted in "status" (exact both): when it went to sleep, and when it was
 * preempted.
 */
struct task_departures {
	uint64_t slept, preempted;
};
enum task_place { TASK_PLACE_UNKNOWN, TASK_OFF_CPU, TASK_ON_CPU };
enum task_place task_place(struct task *task, const struct task_schedule *schedule,
			   struct task_departures *departures);
/* The same, of the text of "status". */
enum task_place task_place_parse(struct bytes status, const struct task_schedule *schedule,
				 struct task_departures *departures);

/* The state letter of a stat file, parsed after the LAST ')'; 0: could not. */
char task_stat_state(struct bytes text);

#endif
