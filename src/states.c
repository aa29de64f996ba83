/*
 * states: a thread's state belongs to the stack read beside it.
 *
 * The GIL word of the same look decides first: who holds it is "gil". A thread that sleeps in the kernel is told by
 * its system call: a futex inside the GIL is a wait for the GIL. A waiter just woken shows as running before it has the
 * GIL: while it is not the holder, stands at the same instruction and was scheduled in at most once since, it still waits.
 *
 * CPU: the kernel's run time moves in jumps (one kernel tick), so differences are no verdict on one thread-sample. They go
 * into an account, and thread-samples in a running state draw from it, at most their weight and at most one kernel tick in advance.
 */
#include "states.h"

#define SCHEDULE_AGE ((nanoseconds)1000 * 1000)

static void read_schedule(struct thread_watch *watch, struct task *task, nanoseconds now)
{
	struct task_schedule s;
	if (!task_schedule(task, &s))
		return;
	if (watch->has_schedule && s.run_ns > watch->schedule.run_ns)
		watch->account += (nanoseconds)(s.run_ns - watch->schedule.run_ns);
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

static bool just_woken(const struct thread_watch *watch, const struct py_thread *thread)
{
	remote_addr code;
	int64_t instruction;
	leaf(thread, &code, &instruction);
	return watch->state == STATE_GIL_WAIT && watch->has_schedule && code == watch->wait_code &&
	       instruction == watch->wait_instruction &&
	       watch->schedule.switches - watch->wait_switches <= 1;
}

/* Made ready by a wake-up, and not on a CPU since: it has used none. */
static bool only_ready(struct thread_watch *watch, struct task *task, nanoseconds now)
{
	if (!watch->slept || watch->state != STATE_RUNNING)
		return false;
	if (watch->schedule_at != now)
		read_schedule(watch, task, now);
	watch->slept = watch->schedule.switches == watch->slept_switches;
	return watch->slept;
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
	if (a->doing == TASK_RUNNING && just_woken(watch, thread))
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
	if (thread->holds_gil) {
		watch->activity = (struct task_activity){ TASK_RUNNING, -1, 0 };
	} else {
		if (!watch->activity_is_new)
			task_activity(task, &watch->activity);
		if (watch->state == STATE_GIL_WAIT && watch->activity.doing == TASK_RUNNING)
			read_schedule(watch, task, now);
	}
	watch->activity_is_new = false;
	enum thread_state state = decide(watch, thread, interp, layout);
	if (state == STATE_GIL_WAIT && watch->activity.doing != TASK_RUNNING) {
		leaf(thread, &watch->wait_code, &watch->wait_instruction);
		if (watch->state != STATE_GIL_WAIT || watch->schedule_at != now)
			read_schedule(watch, task, now);
		watch->wait_switches = watch->schedule.switches;
	}
	if (is_blocked(watch->activity.doing) && watch->has_schedule) {
		watch->slept = true;
		watch->slept_switches = watch->schedule.switches;
	}
	watch->state = state;
}

nanoseconds watch_cpu(struct thread_watch *watch, struct task *task, nanoseconds w,
		      nanoseconds kernel_tick, nanoseconds now)
{
	bool runs = watch->state == STATE_GIL || watch->state == STATE_RUNNING;

	if (!watch->has_schedule || (now - watch->schedule_at >= SCHEDULE_AGE))
		read_schedule(watch, task, now);
	nanoseconds cpu = 0;
	if (runs && !only_ready(watch, task, now) && watch->has_schedule) {
		cpu = watch->account + kernel_tick;
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
