/*
 * states: a thread's state belongs to the stack read beside it.
 *
 * The GIL word of the same look decides first: who holds it is "gil". A thread that sleeps in the kernel is told by
 * its system call: a futex inside the GIL is a wait for the GIL. A waiter just woken shows as running before it has the
 * GIL: while it is not the holder, stands at the same instruction and was scheduled in at most once since, it still waits.
 *
 * CPU: the kernel's run time moves in jumps (one kernel tick), so differences are no verdict on one thread-sample. They go
 * into an account, and thread-samples in a running state draw from it, at most their weight. The holder of the GIL may draw
 * one kernel tick in advance, since the kernel tells that late; others wait until it has told. What was used while nobody
 * looked is unseen CPU: paid out later it would make shares above 100 %.
 */
#include "states.h"

#define SCHEDULE_AGE ((nanoseconds)1000 * 1000)

void watch_gap(struct thread_watch *watch, nanoseconds gap)
{
	watch->gap += gap;
}

/* A rise of the run time. Nobody saw when in a gap it was used: an even part is the gap's. */
static void book(struct thread_watch *watch, nanoseconds rise, nanoseconds now)
{
	nanoseconds since = now - watch->schedule_at, missed = 0;

	if (watch->gap > 0 && since > 0)
		missed = watch->gap < since
				 ? (nanoseconds)((double)rise * (double)watch->gap / (double)since)
				 : rise;
	watch->unseen += missed;
	watch->account += rise - missed;
}

static void read_schedule(struct thread_watch *watch, struct task *task, nanoseconds now)
{
	struct task_schedule s;
	if (!task_schedule(task, &s))
		return;
	if (watch->has_schedule && s.run_ns > watch->schedule.run_ns)
		book(watch, (nanoseconds)(s.run_ns - watch->schedule.run_ns), now);
	watch->gap = 0;
	watch->schedule = s;
	watch->has_schedule = true;
	watch->schedule_at = now;
}

static bool is_blocked(enum task_doing doing)
{
	return doing != TASK_RUNNING && doing != TASK_UNKNOWN;
}

bool watch_asleep(struct thread_watch *watch, struct task *task, nanoseconds now)
{
	if (!watch->has_schedule)
		return false;
	bool blocked = is_blocked(watch->activity.doing);
	if (blocked)
		read_schedule(watch, task, now);
	/*
	 * The stack of the tick that first saw the thread blocked was read before it was seen so: only a
	 * stack read between two equal counts belongs to the sleep.
	 */
	bool slept = blocked && watch->schedule_at == now &&
		     watch->schedule.switches == watch->base_switches;
	bool asleep = slept && watch->settled;
	watch->settled = slept;
	watch->base_switches = watch->schedule.switches;
	return asleep;
}

static enum thread_state state_of_activity(enum task_doing doing)
{
	switch (doing) {
	case TASK_RUNNING:
		return STATE_RUNNING;
	case TASK_FUTEX:
		return STATE_LOCK;
	case TASK_SLEEP:
		return STATE_SLEEP;
	case TASK_POLL:
		return STATE_POLL;
	case TASK_IO:
		return STATE_IO;
	case TASK_DISK:
		return STATE_DISK;
	case TASK_STOPPED:
		return STATE_STOPPED;
	case TASK_UNKNOWN:
		break;
	}
	return STATE_UNKNOWN;
}

/* Where the thread stands: its leaf frame, or nothing. */
static void leaf(const struct py_thread *thread, remote_addr *code, int64_t *instruction)
{
	*code = 0;
	*instruction = 0;
	if (thread->stack.depth > 0 && thread->stack.state != PY_STACK_TORN) {
		*code = thread->stack.frames[0].code;
		*instruction = thread->stack.frames[0].instruction;
	}
}

/* After the look: does it still stand where it slept? */
static void note_sleep(struct thread_watch *watch, const struct py_thread *thread)
{
	remote_addr code;
	int64_t instruction;

	leaf(thread, &code, &instruction);
	if (is_blocked(watch->activity.doing)) {
		watch->slept = watch->has_schedule;
		watch->slept_code = code;
		watch->slept_instruction = instruction;
		watch->slept_switches = watch->schedule.switches;
	} else if (thread->holds_gil || code != watch->slept_code ||
		   instruction != watch->slept_instruction) {
		watch->slept = false;
	}
}

static enum thread_state decide(const struct thread_watch *watch, const struct py_thread *thread,
				const struct py_interp *interp, const struct py_layout *layout)
{
	const struct task_activity *a = &watch->activity;

	if (a->doing == TASK_STOPPED)
		return STATE_STOPPED;
	if (thread->holds_gil)
		return STATE_GIL;
	if (thread->gil_requested || gil_waits(&interp->gil, layout, a))
		return STATE_GIL_WAIT;
	if (thread->attach == 2)
		return STATE_SUSPENDED;
	/* woken, but not on a CPU since: it is where it was */
	uint64_t since = watch->schedule.switches - watch->slept_switches;
	if (a->doing == TASK_RUNNING && watch->slept && since == 0)
		return watch->state;
	/* a waiter just woken has not got the GIL yet: at the same place, scheduled in at most once since */
	if (a->doing == TASK_RUNNING && watch->slept && watch->state == STATE_GIL_WAIT &&
	    since == 1)
		return STATE_GIL_WAIT;
	return state_of_activity(a->doing);
}

void watch_activity(struct thread_watch *watch, struct task *task)
{
	task_activity(task, &watch->activity);
	watch->activity_is_new = true;
}

void watch_state(struct thread_watch *watch, struct task *task, const struct py_thread *thread,
		 const struct py_interp *interp, const struct py_layout *layout, nanoseconds now)
{
	if (thread->asleep)
		return;
	if (thread->holds_gil)
		watch->activity = (struct task_activity){ TASK_RUNNING, -1, 0 };
	else if (!watch->activity_is_new)
		task_activity(task, &watch->activity);
	watch->activity_is_new = false;
	note_sleep(watch, thread);
	if (watch->slept && watch->schedule_at != now)
		read_schedule(watch, task, now);
	watch->state = decide(watch, thread, interp, layout);
}

nanoseconds watch_cpu(struct thread_watch *watch, struct task *task, nanoseconds w,
		      nanoseconds kernel_tick, nanoseconds now)
{
	bool runs = watch->state == STATE_GIL || watch->state == STATE_RUNNING;

	if (!watch->has_schedule || now - watch->schedule_at >= SCHEDULE_AGE)
		read_schedule(watch, task, now);
	nanoseconds cpu = 0;
	if (runs && watch->has_schedule) {
		/* in advance for the holder only: who runs without the GIL may be ready rather than on a CPU */
		cpu = watch->account + (watch->state == STATE_GIL ? kernel_tick : 0);
		if (cpu > w)
			cpu = w;
		if (cpu < 0)
			cpu = 0;
		watch->account -= cpu;
	}
	if (watch->account > WATCH_UNSEEN_AFTER) {
		watch->unseen += watch->account - WATCH_UNSEEN_AFTER;
		watch->account = WATCH_UNSEEN_AFTER;
	}
	return cpu;
}
