/* What threads do, told of real threads of this process and of a stopped child; and the CPU account. */
#include "unit.h"

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "child.h"
#include "states.h"

#define MS ((nanoseconds)1000000)
#define KERNEL_TICK (4 * MS)

static nanoseconds now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (nanoseconds)t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void rest(nanoseconds ns)
{
	struct timespec t = { ns / (1000 * MS), ns % (1000 * MS) };

	nanosleep(&t, NULL);
}

/* ---- a process with a thread that does one thing */

struct doing {
	pthread_t thread;
	void (*what)(void);
	_Atomic int tid;
};

static int ends[2];
static int word;
static _Atomic bool enough;

static void *doer(void *context)
{
	struct doing *d = context;
	void (*what)(void) = d->what;

	/* from here on the scene may be another's */
	atomic_store(&d->tid, (int)syscall(SYS_gettid));
	what();
	return NULL;
}

static void spin(void)
{
	while (!atomic_load_explicit(&enough, memory_order_relaxed))
		;
}

static void sleep_long(void)
{
	for (;;)
		rest(1000 * 1000 * MS);
}

static void wait_for_word(void)
{
	for (;;)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void poll_pipe(void)
{
	struct pollfd fd = { ends[0], POLLIN, 0 };

	for (;;)
		poll(&fd, 1, -1);
}

static void read_pipe(void)
{
	char byte;

	while (read(ends[0], &byte, 1) == 1)
		;
}

struct scene {
	struct doing doing;
	struct tasks *tasks;
	struct task *task;
	struct thread_watch watch;
	struct py_thread thread;
	struct py_frame frame;
	struct py_interp interp;
	struct py_layout layout;
	nanoseconds at; /* of the last tick */
};

static void open_tasks(struct scene *s, pid_t pid, pid_t tid)
{
	int proc = child_proc(pid);

	ck_assert_int_eq(tasks_open(&s->tasks, pid, proc), ST_OK);
	close(proc);
	s->task = tasks_find(s->tasks, tid);
	ck_assert_ptr_nonnull(s->task);
	s->thread.attach = UINT8_MAX;
	s->thread.stack =
		(struct py_stack){ .state = PY_STACK_GOOD, .depth = 1, .frames = &s->frame };
	s->frame = (struct py_frame){ .code = 0x1000, .instruction = 8 };
	s->layout.gil.size = 64;
}

static void open_scene(struct scene *s, void (*what)(void))
{
	memset(s, 0, sizeof(*s));
	ck_assert_int_eq(pipe(ends), 0);
	s->doing.what = what;
	ck_assert_int_eq(pthread_create(&s->doing.thread, NULL, doer, &s->doing), 0);
	while (!atomic_load(&s->doing.tid))
		rest(MS);
	open_tasks(s, getpid(), atomic_load(&s->doing.tid));
}

static enum thread_state state_now(struct scene *s)
{
	s->at = now_ns();
	watch_state(&s->watch, s->task, &s->thread, &s->interp, &s->layout, s->at);
	return s->watch.state;
}

/* It takes a moment until a thread has gone to sleep, longer on a loaded machine. */
static void becomes(struct scene *s, enum thread_state state)
{
	while (state_now(s) != state)
		rest(MS);
}

static bool tick(struct scene *s)
{
	rest(2 * MS);
	s->at = now_ns();
	s->thread.asleep = watch_asleep(&s->watch, s->task, s->at);
	watch_state(&s->watch, s->task, &s->thread, &s->interp, &s->layout, s->at);
	(void)watch_cpu(&s->watch, 2 * MS, KERNEL_TICK);
	return s->thread.asleep;
}

/* ---- states */

START_TEST(each_reason)
{
	static const struct {
		void (*what)(void);
		enum thread_state state;
	} reasons[] = { { sleep_long, STATE_SLEEP },
			{ wait_for_word, STATE_LOCK },
			{ poll_pipe, STATE_POLL },
			{ read_pipe, STATE_IO },
			{ spin, STATE_RUNNING } };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		struct scene s;

		open_scene(&s, reasons[i].what);
		becomes(&s, reasons[i].state);
		tasks_close(s.tasks);
	}
}
END_TEST

static void child_spinner(int ready, void *context)
{
	(void)context;
	child_ready(ready);
	spin();
}

START_TEST(stopped_process)
{
	struct scene s;
	pid_t pid = child_start(child_spinner, NULL);

	memset(&s, 0, sizeof(s));
	open_tasks(&s, pid, pid);
	becomes(&s, STATE_RUNNING);
	kill(pid, SIGSTOP);
	becomes(&s, STATE_STOPPED);
	s.thread.holds_gil = true;
	kill(pid, SIGCONT);
	becomes(&s, STATE_GIL);
	tasks_close(s.tasks);
	child_end(pid);
}
END_TEST

START_TEST(the_gil_decides)
{
	struct scene s;

	open_scene(&s, wait_for_word);
	becomes(&s, STATE_LOCK);

	/* a futex inside the GIL's structure, at its first and its last word */
	s.interp.gil.enabled = true;
	s.interp.gil.address = (remote_addr)(uintptr_t)&word;
	ck_assert_int_eq(state_now(&s), STATE_GIL_WAIT);
	s.interp.gil.address = (remote_addr)(uintptr_t)&word - 60;
	ck_assert_int_eq(state_now(&s), STATE_GIL_WAIT);

	/* just before it, just behind it, or of a GIL that is off */
	s.watch = (struct thread_watch){ 0 };
	s.interp.gil.address = (remote_addr)(uintptr_t)&word + 4;
	ck_assert_int_eq(state_now(&s), STATE_LOCK);
	s.interp.gil.address = (remote_addr)(uintptr_t)&word - 64;
	ck_assert_int_eq(state_now(&s), STATE_LOCK);
	s.interp.gil.address = (remote_addr)(uintptr_t)&word;
	s.interp.gil.enabled = false;
	ck_assert_int_eq(state_now(&s), STATE_LOCK);

	/* 3.15 says itself that it waits; the GIL's word is above all */
	s.thread.gil_requested = true;
	ck_assert_int_eq(state_now(&s), STATE_GIL_WAIT);
	s.thread.holds_gil = true;
	ck_assert_int_eq(state_now(&s), STATE_GIL);
	ck_assert_int_eq(s.watch.activity.doing, TASK_RUNNING);
	tasks_close(s.tasks);
}
END_TEST

START_TEST(suspended)
{
	struct scene s;

	open_scene(&s, wait_for_word);
	becomes(&s, STATE_LOCK);
	s.thread.attach = 2;
	ck_assert_int_eq(state_now(&s), STATE_SUSPENDED);
	tasks_close(s.tasks);
}
END_TEST

/* --blocking: what it did before it was stopped counts, once. */
START_TEST(activity_from_before)
{
	struct scene s;

	open_scene(&s, sleep_long);
	becomes(&s, STATE_SLEEP);
	watch_activity(&s.watch, s.task);
	s.watch.activity = (struct task_activity){ TASK_POLL, 7, 0 };
	ck_assert_int_eq(state_now(&s), STATE_POLL);
	ck_assert_int_eq(state_now(&s), STATE_SLEEP);
	tasks_close(s.tasks);
}
END_TEST

/* ---- who need not be read again */

/* Asleep for sure from the third tick on, and never when it has run in between, however short. */
START_TEST(asleep)
{
	struct scene s;

	open_scene(&s, read_pipe);
	becomes(&s, STATE_IO);
	for (int round = 0; round < 20; round++) {
		int ticks = 0;

		while (!tick(&s))
			ticks++;
		ck_assert_int_ge(ticks, round ? 1 : 2);
		ck_assert(tick(&s));
		ck_assert_int_eq(s.watch.state, STATE_IO);

		struct task_schedule before, after = { 0 };
		ck_assert(task_schedule(s.task, &before));
		ck_assert_int_eq(write(ends[1], "x", 1), 1);
		while (after.switches <= before.switches)
			ck_assert(task_schedule(s.task, &after));
		ck_assert(!tick(&s));
	}
	tasks_close(s.tasks);
}
END_TEST

START_TEST(a_spinner_never_sleeps)
{
	struct scene s;

	open_scene(&s, spin);
	for (int i = 0; i < 100; i++)
		ck_assert(!tick(&s));
	tasks_close(s.tasks);
}
END_TEST

/* ---- the account */

/* What the kernel counted is in the thread-samples, in the account or unseen: nothing is lost, nothing invented. */
static nanoseconds check_account(struct scene *s, nanoseconds first, nanoseconds given)
{
	nanoseconds counted = (nanoseconds)s->watch.schedule.run_ns - first;

	ck_assert_int_eq(counted, given + s->watch.account + s->watch.unseen);
	ck_assert_int_ge(s->watch.account, -KERNEL_TICK);
	ck_assert_int_le(s->watch.account, WATCH_UNSEEN_AFTER);
	return counted;
}

static nanoseconds account_of(struct scene *s, bool holds_gil, nanoseconds *seen)
{
	nanoseconds given = 0, first = 0, before = now_ns();

	*seen = 0;
	s->thread.holds_gil = holds_gil;
	for (int i = 0; i < 300; i++) {
		rest(MS);
		nanoseconds at = now_ns(), w = at - before;

		watch_state(&s->watch, s->task, &s->thread, &s->interp, &s->layout, at);
		nanoseconds cpu = watch_cpu(&s->watch, w, KERNEL_TICK);
		if (i == 0)
			first = (nanoseconds)s->watch.schedule.run_ns;
		ck_assert_int_ge(cpu, 0);
		ck_assert_int_le(cpu, w);
		given += cpu;
		*seen += w;
		before = at;
		check_account(s, first, given);
	}
	return given;
}

START_TEST(account_of_a_spinner)
{
	for (int holds = 0; holds < 2; holds++) {
		struct scene s;
		nanoseconds seen;

		open_scene(&s, spin);
		ck_assert_int_gt(account_of(&s, holds, &seen), 0);
		ck_assert_int_eq(s.watch.unseen, 0);
		tasks_close(s.tasks);
	}
}
END_TEST

START_TEST(account_of_a_sleeper)
{
	struct scene s;
	nanoseconds seen;

	open_scene(&s, sleep_long);
	becomes(&s, STATE_SLEEP);
	ck_assert_int_eq(account_of(&s, false, &seen), 0);
	tasks_close(s.tasks);
}
END_TEST

/* CPU that no thread-sample may be given is not lost: beyond 100 ms it is unseen. */
START_TEST(unseen)
{
	struct scene s;

	open_scene(&s, sleep_long);
	becomes(&s, STATE_SLEEP);
	(void)watch_cpu(&s.watch, MS, KERNEL_TICK);
	s.watch.account = WATCH_UNSEEN_AFTER + 7 * MS;
	ck_assert_int_eq(watch_cpu(&s.watch, MS, KERNEL_TICK), 0);
	ck_assert_int_eq(s.watch.unseen, 7 * MS);
	ck_assert_int_eq(s.watch.account, WATCH_UNSEEN_AFTER);

	tasks_close(s.tasks);
}
END_TEST

/* Who may draw how much: told of a watch alone. */
START_TEST(drawing)
{
	struct thread_watch w = { .has_schedule = true, .state = STATE_GIL, .place = TASK_ON_CPU };

	/* on a CPU: its weight, one kernel tick in advance, and no more */
	ck_assert_int_eq(watch_cpu(&w, 3 * MS, KERNEL_TICK), 3 * MS);
	ck_assert_int_eq(watch_cpu(&w, 3 * MS, KERNEL_TICK), MS);
	ck_assert_int_eq(watch_cpu(&w, 3 * MS, KERNEL_TICK), 0);
	ck_assert_int_eq(w.account, -KERNEL_TICK);

	/* preempted: what this stretch has used, not what was left from before */
	w = (struct thread_watch){ .has_schedule = true,
				   .state = STATE_GIL,
				   .place = TASK_OFF_CPU,
				   .account = 50 * MS,
				   .stretch = 2 * MS };
	ck_assert_int_eq(watch_cpu(&w, 3 * MS, KERNEL_TICK), 2 * MS);
	ck_assert_int_eq(watch_cpu(&w, 3 * MS, KERNEL_TICK), 0);
	ck_assert_int_eq(w.account, 48 * MS);

	/* woken, or got its CPU only after the look: nothing, whatever the account */
	w = (struct thread_watch){ .has_schedule = true,
				   .state = STATE_RUNNING,
				   .place = TASK_ON_CPU,
				   .account = 50 * MS,
				   .woken = true };
	ck_assert_int_eq(watch_cpu(&w, 3 * MS, KERNEL_TICK), 0);
	w.woken = false;
	ck_assert_int_eq(watch_cpu(&w, 3 * MS, KERNEL_TICK), 3 * MS);
	w.state = STATE_SLEEP;
	ck_assert_int_eq(watch_cpu(&w, 3 * MS, KERNEL_TICK), 0);

	/* where the kernel does not tell the place: in advance for the holder of the GIL only */
	w = (struct thread_watch){ .has_schedule = true, .state = STATE_RUNNING, .account = MS };
	ck_assert_int_eq(watch_cpu(&w, 3 * MS, KERNEL_TICK), MS);
	w.state = STATE_GIL;
	ck_assert_int_eq(watch_cpu(&w, 3 * MS, KERNEL_TICK), 3 * MS);
}
END_TEST

/* Seen asleep at both ticks, it has run in between: nothing of that is given to the sleep, nor to the next stretch's place. */
START_TEST(run_unseen)
{
	struct scene s;

	open_scene(&s, read_pipe);
	becomes(&s, STATE_IO);
	s.watch.stretch = 5 * MS;
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(write(ends[1], "x", 1), 1);
		becomes(&s, STATE_IO);
		ck_assert_int_eq(watch_cpu(&s.watch, MS, KERNEL_TICK), 0);
		ck_assert_int_eq(s.watch.stretch, 0);
	}
	tasks_close(s.tasks);
}
END_TEST

UNIT_MAIN("states", each_reason, stopped_process, the_gil_decides, suspended, activity_from_before,
	  asleep, a_spinner_never_sleeps, account_of_a_spinner, account_of_a_sleeper, unseen,
	  drawing, run_unseen)
