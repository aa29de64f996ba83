/*
 * activity: what a thread does in the kernel, from the text of its "syscall" file.
 *
 * A thread that has a system call there is blocked in it, so the number names what it waits for:
 * another thread (futex), time, several descriptors, one, or a disk. The table below is by name;
 * a name that the machine does not have is left out. Pure functions, called by tasks.
 */
#include <string.h>
#include <sys/syscall.h>

#include "target/proc.h"
#include "target/tasks.h"

/* Numbers that are newer than some libraries' headers; the same on every machine. */
#define NUMBER_FUTEX_WAITV 449
#define NUMBER_FUTEX_WAIT 455
#define NUMBER_EPOLL_PWAIT2 441

/* Arguments below this are no addresses. */
#define LOWEST_ADDRESS 4096

/* Calls that wait for time or a signal, and nothing else. */
static bool waits_for_time(int64_t number)
{
	switch (number) {
#ifdef SYS_nanosleep
	case SYS_nanosleep:
#endif
#ifdef SYS_clock_nanosleep
	case SYS_clock_nanosleep:
#endif
#ifdef SYS_pause
	case SYS_pause:
#endif
#ifdef SYS_rt_sigsuspend
	case SYS_rt_sigsuspend:
#endif
#ifdef SYS_rt_sigtimedwait
	case SYS_rt_sigtimedwait:
#endif
		return true;
	default:
		return false;
	}
}

/* Calls that wait for any of several descriptors. */
static bool waits_for_many(int64_t number)
{
	switch (number) {
#ifdef SYS_poll
	case SYS_poll:
#endif
#ifdef SYS_ppoll
	case SYS_ppoll:
#endif
#ifdef SYS_select
	case SYS_select:
#endif
#ifdef SYS_pselect6
	case SYS_pselect6:
#endif
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
#ifdef SYS_epoll_pwait
	case SYS_epoll_pwait:
#endif
#ifdef SYS_io_getevents
	case SYS_io_getevents:
#endif
#ifdef SYS_io_pgetevents
	case SYS_io_pgetevents:
#endif
#ifdef SYS_io_uring_enter
	case SYS_io_uring_enter:
#endif
	case NUMBER_EPOLL_PWAIT2:
		return true;
	default:
		return false;
	}
}

/* Calls that wait for another process or machine, never for a disk. */
static bool waits_for_peer(int64_t number)
{
	switch (number) {
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_flock:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_mq_timedreceive:
	case SYS_mq_timedsend:
		return true;
	default:
		return false;
	}
}

/* Calls that wait for a disk and nothing else. */
static bool waits_for_disk(int64_t number)
{
	switch (number) {
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_sync:
	case SYS_syncfs:
	case SYS_msync:
	case SYS_sync_file_range:
		return true;
	default:
		return false;
	}
}

static bool waits_for_thread(int64_t number)
{
	return number == SYS_futex || number == NUMBER_FUTEX_WAIT || number == NUMBER_FUTEX_WAITV;
}

/* Of several descriptors, but none was given: time.sleep() before CPython 3.11, for one. */
static bool waits_for_none(int64_t number, uint64_t argument0)
{
	switch (number) {
#ifdef SYS_poll
	case SYS_poll: /* their address */
#endif
#ifdef SYS_ppoll
	case SYS_ppoll:
#endif
#ifdef SYS_select
	case SYS_select: /* their number */
#endif
#ifdef SYS_pselect6
	case SYS_pselect6:
#endif
		return argument0 == 0;
	default:
		return false;
	}
}

static enum task_doing classify(int64_t number, uint64_t argument0)
{
	if (waits_for_thread(number))
		return TASK_FUTEX;
	if (waits_for_time(number) || waits_for_none(number, argument0))
		return TASK_SLEEP;
	if (waits_for_many(number))
		return TASK_POLL;
	if (waits_for_disk(number))
		return TASK_DISK;
	/* The remainder of an interrupted wait; the arguments are still those of the first call:
	 * a lock's address, or the number of a clock. */
	if (number == SYS_restart_syscall)
		return argument0 >= LOWEST_ADDRESS && argument0 % 4 == 0 ? TASK_FUTEX : TASK_SLEEP;
	return TASK_IO;
}

void task_activity_parse(struct bytes text, struct task_activity *activity)
{
	static const char running[] = "running";
	uint64_t number, argument0;

	*activity = (struct task_activity){ .doing = TASK_UNKNOWN, .syscall = -1 };
	if (text.size >= sizeof(running) - 1 &&
	    memcmp(text.data, running, sizeof(running) - 1) == 0) {
		activity->doing = TASK_RUNNING;
		return;
	}
	if (!proc_number(&text, &number) || number > INT32_MAX)
		return;
	if (!proc_hex(&text, &argument0))
		return;
	activity->syscall = (int64_t)number;
	activity->argument0 = argument0;
	activity->doing = classify(activity->syscall, argument0);
}

bool task_activity_needs_state(const struct task_activity *activity)
{
	if (activity->doing == TASK_UNKNOWN)
		return true;
	return activity->doing == TASK_IO && !waits_for_peer(activity->syscall);
}

void task_activity_add_state(struct task_activity *activity, char state)
{
	switch (state) {
	case 'R':
		activity->doing = TASK_RUNNING;
		activity->syscall = -1;
		return;
	case 'D':
		activity->doing = TASK_DISK;
		return;
	case 'T':
	case 't':
		activity->doing = TASK_STOPPED;
		return;
	case 'Z':
	case 'X':
		activity->doing = TASK_UNKNOWN;
		return;
	}
}

bool task_schedule_parse(struct bytes text, struct task_schedule *schedule)
{
	struct task_schedule parsed;

	if (!proc_number(&text, &parsed.run_ns) || !proc_number(&text, &parsed.delay_ns) ||
	    !proc_number(&text, &parsed.switches))
		return false;
	*schedule = parsed;
	return true;
}

char task_stat_state(struct bytes text)
{
	struct bytes after = proc_after_name(text);

	return after.size > 0 ? (char)after.data[0] : '\0';
}
