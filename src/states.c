/*
 * states: a thread's state belongs to the stack read beside it.
 *
 * The GIL word of the same look decides first: who holds it is "gil". A thread that sleeps in the kernel is told by
 * its system call: a futex inside the GIL is a wait for the GIL. A waiter just woken shows as running before it has the
 * GIL: while it is not the holder, stands at the same instruction and was scheduled in at most once since, it still waits.
 *
 * Whether a thread that could run is on a CPU is exact: it was scheduled in once more often than out. One that is not, and
 * stands where it slept, was woken and waits for a CPU: it still is what it was.
 *
 * CPU: the kernel's run time moves in jumps (one kernel tick), so differences are no verdict on one thread-sample. They go
 * into an account. A thread-sample seen on a CPU draws its whole weight, up to one kernel tick in advance, since the kernel
 * tells that late; one that was preempted (often by pytop itself) draws what this running stretch has used by then, which is
 * exact; all others draw nothing. What was used while nobody looked is unseen CPU: paid out later it would make shares above 100 %.
 */
#include "states.h"

#define ASK_AGE ((nanoseconds)500 * 1000)

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
	watch->stretch += rise - missed;
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

bool watch_schedule(struct thread_watch *watch, struct task *task, nanoseconds now)
{
	if (!watch->has_schedule || watch->schedule_at != now)
		read_schedule(watch, task, now);
	return watch->has_schedule && watch->schedule_at == now;
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
	if (watch->state != STATE_GIL || now - watch->asked >= ASK_AGE)
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

/* After the look: does it still stand where it slept? Returns whether that is where it was last seen blocked. */
static bool note_sleep(struct thread_watch *watch, const struct py_thread *thread)
{
	if (is_blocked(watch->activity.doing)) {
		watch->slept = watch->has_schedule;
		watch->slept_code = watch->at_code;
		watch->slept_instruction = watch->at_instruction;
		watch->slept_switches = watch->schedule.switches;
		return true;
	}
	bool same = watch->at_code == watch->slept_code &&
		    watch->at_instruction == watch->slept_instruction;
	if (thread->holds_gil || !same)
		watch->slept = false;
	return same;
}

/* Where the thread stands: its leaf frame, or nothing. Returns whether it stood there at the last look. */
static bool note_place(struct thread_watch *watch, const struct py_thread *thread)
{
	remote_addr code = watch->at_code;
	int64_t instruction = watch->at_instruction;

	watch->at_code = 0;
	watch->at_instruction = 0;
	if (thread->stack.depth > 0 && thread->stack.state != PY_STACK_TORN) {
		watch->at_code = thread->stack.frames[0].code;
		watch->at_instruction = thread->stack.frames[0].instruction;
	}
	return watch->at_code == code && watch->at_instruction == instruction;
}

/*
 * Could run and has no CPU: woken, unless it was on one and was preempted. Who slept and was preempted since the last look
 * is taken for woken: to call work what is none would be worse than to miss some.
 */
static bool is_woken(const struct thread_watch *watch, const struct task_departures *before,
		     bool in_since_look)
{
	/* the look saw it where it was before it was scheduled in */
	if (in_since_look)
		return true;
	if (watch->slept && watch->schedule.switches == watch->slept_switches)
		return true;
	if (watch->place != TASK_OFF_CPU)
		return false;
	if (watch->left.slept != before->slept)
		return true;
	return watch->left.preempted == before->preempted && watch->state != STATE_RUNNING &&
	       watch->state != STATE_GIL;
}

static enum thread_state decide(const struct thread_watch *watch, const struct py_thread *thread,
				const struct py_interp *interp, const struct py_layout *layout,
				bool woken)
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
	if (a->doing == TASK_RUNNING && woken)
		return watch->slept_state;
	/* a waiter just woken has not got the GIL yet: at the same place, scheduled in at most once since */
	if (a->doing == TASK_RUNNING && watch->slept && watch->state == STATE_GIL_WAIT &&
	    watch->schedule.switches - watch->slept_switches == 1)
		return STATE_GIL_WAIT;
	return state_of_activity(a->doing);
}

void watch_activity(struct thread_watch *watch, struct task *task)
{
	task_activity(task, &watch->activity);
	watch->activity_is_new = true;
}

static void find_place(struct thread_watch *watch, struct task *task, bool held)
{
	watch->place = TASK_PLACE_UNKNOWN;
	if (watch->activity.doing != TASK_STOPPED && !held && watch->has_schedule)
		watch->place = task_place(task, &watch->schedule, &watch->left);
}

/* Above 2 kHz the kernel is not asked at each tick about a thread that goes on holding the GIL. */
static bool still_holds(struct thread_watch *watch, const struct py_thread *thread, nanoseconds now)
{
	if (!thread->holds_gil || watch->state != STATE_GIL || now - watch->asked >= ASK_AGE)
		return false;
	watch->activity_is_new = false;
	return true;
}

void watch_state(struct thread_watch *watch, struct task *task, const struct py_thread *thread,
		 const struct py_interp *interp, const struct py_layout *layout, nanoseconds now)
{
	if (thread->asleep)
		return;
	if (still_holds(watch, thread, now))
		return;
	/* stopped for the look, it was scheduled out by pytop: where it is now says nothing */
	bool held = watch->activity_is_new;
	watch->asked = now;
	struct task_departures before = watch->left;

	if (thread->holds_gil)
		watch->activity = (struct task_activity){ TASK_RUNNING, -1, 0 };
	else if (!watch->activity_is_new)
		task_activity(task, &watch->activity);
	watch->activity_is_new = false;
	bool in_since_look = false;
	if (watch->schedule_at == now && watch->activity.doing == TASK_RUNNING &&
	    !thread->holds_gil) {
		uint64_t switches = watch->schedule.switches;
		read_schedule(watch, task, now);
		in_since_look = watch->schedule.switches != switches;
	} else {
		watch_schedule(watch, task, now);
	}
	find_place(watch, task, held);
	bool stays = note_place(watch, thread);
	bool slept_here = note_sleep(watch, thread), blocked = is_blocked(watch->activity.doing);
	watch->woken = !thread->holds_gil && is_woken(watch, &before, in_since_look);
	watch->state = decide(watch, thread, interp, layout, watch->woken && slept_here);
	if (blocked)
		watch->slept_state = watch->state;
	/* what was used on the way here was used elsewhere: who lets go of the GIL is often preempted just then */
	if (blocked || watch->woken || (!thread->holds_gil && !stays))
		watch->stretch = 0;
}

/* The most that a thread-sample may draw. */
static nanoseconds to_draw(const struct thread_watch *watch, nanoseconds kernel_tick)
{
	nanoseconds advanced = watch->account + kernel_tick;

	if ((watch->state != STATE_GIL && watch->state != STATE_RUNNING) || watch->woken)
		return 0;
	if (watch->place == TASK_ON_CPU)
		return advanced;
	if (watch->place == TASK_OFF_CPU)
		return watch->stretch < advanced ? watch->stretch : advanced;
	/* in advance for the holder only: who runs without the GIL may be ready rather than on a CPU */
	return watch->state == STATE_GIL ? advanced : watch->account;
}

nanoseconds watch_cpu(struct thread_watch *watch, nanoseconds w, nanoseconds kernel_tick)
{
	nanoseconds cpu = watch->has_schedule ? to_draw(watch, kernel_tick) : 0;

	if (cpu > w)
		cpu = w;
	if (cpu < 0)
		cpu = 0;
	watch->account -= cpu;
	watch->stretch -= cpu;
	if (watch->account > WATCH_UNSEEN_AFTER) {
		watch->unseen += watch->account - WATCH_UNSEEN_AFTER;
		watch->account = WATCH_UNSEEN_AFTER;
	}
	return cpu;
}
