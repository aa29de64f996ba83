/* tasks: which threads there are, what each waits for, and what CPU it used. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "child.h"
#include "target/process.h"
#include "target/tasks.h"

static struct bytes text_of(const char *s)
{
	return (struct bytes){ (const uint8_t *)s, strlen(s) };
}

static struct task_activity parse(const char *s)
{
	struct task_activity activity;

	task_activity_parse(text_of(s), &activity);
	return activity;
}

static enum task_doing doing_of(long number)
{
	char text[64];

	snprintf(text, sizeof(text), "%ld 0x7f00 0x80 0x0 0x0 0x0 0x0 0x7ffd 0x7fff\n", number);
	return parse(text).doing;
}

START_TEST(activity_text)
{
	struct task_activity a = parse("running\n");

	ck_assert_int_eq(a.doing, TASK_RUNNING);
	ck_assert_int_eq(a.syscall, -1);
	a = parse("-1 0x7ffc 0x7f00\n");
	ck_assert_int_eq(a.doing, TASK_UNKNOWN);
	ck_assert_int_eq(a.syscall, -1);
	ck_assert(task_activity_needs_state(&a));
	char text[64];

	snprintf(text, sizeof(text), "%d 0x7f1122334455 0x80 0x0\n", SYS_futex);
	a = parse(text);
	ck_assert_int_eq(a.doing, TASK_FUTEX);
	ck_assert_int_eq(a.syscall, SYS_futex);
	ck_assert_uint_eq(a.argument0, 0x7f1122334455);
	ck_assert(!task_activity_needs_state(&a));
	static const char *const bad[] = {
		"", "runnin", "x", "202", "202 ", "202 zz", "0x1 0x2", "99999999999999999999 0x1"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(parse(bad[i]).doing, TASK_UNKNOWN);
}
END_TEST

START_TEST(calls)
{
	ck_assert_int_eq(doing_of(SYS_clock_nanosleep), TASK_SLEEP);
	ck_assert_int_eq(doing_of(SYS_ppoll), TASK_POLL);
	ck_assert_int_eq(doing_of(SYS_pselect6), TASK_POLL);
	ck_assert_int_eq(doing_of(SYS_epoll_pwait), TASK_POLL);
	ck_assert_int_eq(doing_of(SYS_read), TASK_IO);
	ck_assert_int_eq(doing_of(SYS_wait4), TASK_IO);
	ck_assert_int_eq(doing_of(SYS_accept4), TASK_IO);
	ck_assert_int_eq(doing_of(SYS_fsync), TASK_DISK);
	ck_assert_int_eq(doing_of(455), TASK_FUTEX);
	ck_assert_int_eq(doing_of(SYS_restart_syscall), TASK_FUTEX);
	char text[64];

	snprintf(text, sizeof(text), "%d 0x1 0x0 0x0\n", SYS_restart_syscall);
	ck_assert_int_eq(parse(text).doing, TASK_SLEEP);
	snprintf(text, sizeof(text), "%d 0x0 0x0 0x0\n", SYS_pselect6);
	ck_assert_int_eq(parse(text).doing, TASK_SLEEP);
	snprintf(text, sizeof(text), "%d 0x0 0x0 0x0\n", SYS_ppoll);
	ck_assert_int_eq(parse(text).doing, TASK_SLEEP);
	snprintf(text, sizeof(text), "%d 0x0 0x0 0x0\n", SYS_epoll_pwait); /* descriptor 0 */
	ck_assert_int_eq(parse(text).doing, TASK_POLL);
}
END_TEST

START_TEST(state_corrects)
{
	struct task_activity read_call = { TASK_IO, SYS_read, 0 };
	struct task_activity accept_call = { TASK_IO, SYS_accept4, 0 };
	struct task_activity none = { TASK_UNKNOWN, -1, 0 };
	struct task_activity a = read_call;

	ck_assert(task_activity_needs_state(&read_call));
	ck_assert(!task_activity_needs_state(&accept_call));
	task_activity_add_state(&a, 'D');
	ck_assert_int_eq(a.doing, TASK_DISK);
	a = read_call;
	task_activity_add_state(&a, 'S');
	ck_assert_int_eq(a.doing, TASK_IO);
	task_activity_add_state(&a, '\0');
	ck_assert_int_eq(a.doing, TASK_IO);
	task_activity_add_state(&a, 'T');
	ck_assert_int_eq(a.doing, TASK_STOPPED);
	a = none;
	task_activity_add_state(&a, 'S');
	ck_assert_int_eq(a.doing, TASK_UNKNOWN);
	task_activity_add_state(&a, 'R');
	ck_assert_int_eq(a.doing, TASK_RUNNING);
	task_activity_add_state(&a, 'Z');
	ck_assert_int_eq(a.doing, TASK_UNKNOWN);
}
END_TEST

START_TEST(other_texts)
{
	struct task_schedule s = { 1, 2, 3 };

	ck_assert(!task_schedule_parse(text_of(""), &s));
	ck_assert(!task_schedule_parse(text_of("12 13"), &s));
	ck_assert_uint_eq(s.run_ns, 1);
	ck_assert(task_schedule_parse(text_of("858940 48307 2\n"), &s));
	ck_assert_uint_eq(s.run_ns, 858940);
	ck_assert_uint_eq(s.delay_ns, 48307);
	ck_assert_uint_eq(s.switches, 2);
	ck_assert_int_eq(task_stat_state(text_of("12 (a) R) (b) S 1 2")), 'S');
	ck_assert_int_eq(task_stat_state(text_of("12 (a) ")), '\0');
	ck_assert_int_eq(task_stat_state(text_of("")), '\0');
	ck_assert_int_eq(task_stat_state(text_of("no name")), '\0');
}
END_TEST

/* What the threads of the child do, and where they say who they are. */
enum { LOCKED, SLEEPS, POLLS, READS, SPINS, KINDS };
struct scene {
	volatile pid_t tids[KINDS];
	volatile int quit; /* the one that sleeps ends then */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct scene *scene;

static void act(long kind)
{
	struct timespec moment = { .tv_nsec = 1000000 };
	struct timespec year = { .tv_sec = 31536000 };
	int ends[2];
	char byte;

	switch (kind) {
	case LOCKED:
		pthread_mutex_lock(&lock);
		break;
	case SLEEPS:
		while (!scene->quit)
			nanosleep(&moment, NULL);
		break;
	case POLLS:
		if (pipe(ends) == 0)
			ppoll(&(struct pollfd){ .fd = ends[0], .events = POLLIN }, 1, &year, NULL);
		break;
	case READS:
		if (pipe(ends) == 0 && read(ends[0], &byte, 1) != 1)
			_exit(1);
		break;
	case SPINS:
		for (volatile unsigned n = 0;; n++)
			continue;
	}
}

static void *play(void *context)
{
	long kind = (long)context;
	char name[16];

	snprintf(name, sizeof(name), "player ) %ld", kind);
	pthread_setname_np(pthread_self(), name);
	scene->tids[kind] = gettid();
	act(kind);
	return NULL;
}

static void run_scene(int ready, void *context)
{
	pthread_t thread;

	scene = context;
	pthread_mutex_lock(&lock);
	for (long kind = 0; kind < KINDS; kind++) {
		pthread_create(&thread, NULL, play, (void *)kind);
		while (!scene->tids[kind])
			sched_yield();
	}
	child_sleeper(ready, NULL);
}

/* Wait until that thread is seen doing that; a test that hangs here has failed. */
static struct task_activity wait_for(struct tasks *tasks, pid_t tid, enum task_doing doing)
{
	struct task_activity activity = { 0 };
	struct task *task = tasks_find(tasks, tid);

	ck_assert_ptr_nonnull(task);
	for (;;) {
		task_activity(task, &activity);
		if (activity.doing == doing)
			return activity;
		usleep(1000);
	}
}

START_TEST(what_threads_do)
{
	static const enum task_doing expected[KINDS] = { TASK_FUTEX, TASK_SLEEP, TASK_POLL, TASK_IO,
							 TASK_RUNNING };
	scene = child_share(sizeof(*scene));
	pid_t pid = child_start(run_scene, scene);
	struct tasks *tasks;

	ck_assert_int_eq(tasks_open(&tasks, pid, child_proc(pid)), ST_OK);
	ck_assert_uint_eq(tasks_count(tasks), KINDS + 1);
	for (int kind = 0; kind < KINDS; kind++) {
		char name[16];
		struct task *task = tasks_find(tasks, scene->tids[kind]);

		wait_for(tasks, scene->tids[kind], expected[kind]);
		snprintf(name, sizeof(name), "player ) %d", kind);
		ck_assert_str_eq(task_name(task), name);
		ck_assert_int_eq(task_tid(task), scene->tids[kind]);
		ck_assert_ptr_eq(tasks_find_inside(tasks, scene->tids[kind]), task);
	}
	/* The address of the lock is that of the child's, which is ours. */
	struct task_activity a = wait_for(tasks, scene->tids[LOCKED], TASK_FUTEX);

	ck_assert_uint_ge(a.argument0, (uint64_t)(uintptr_t)&lock);
	ck_assert_uint_lt(a.argument0, (uint64_t)(uintptr_t)(&lock + 1));
	kill(pid, SIGSTOP);
	wait_for(tasks, scene->tids[SPINS], TASK_STOPPED);
	tasks_close(tasks);
	child_end(pid);
}
END_TEST

START_TEST(schedules)
{
	scene = child_share(sizeof(*scene));
	pid_t pid = child_start(run_scene, scene);
	struct tasks *tasks;
	struct task_schedule before, after;

	ck_assert_int_eq(tasks_open(&tasks, pid, child_proc(pid)), ST_OK);
	wait_for(tasks, scene->tids[POLLS], TASK_POLL);
	struct task *idle = tasks_find(tasks, scene->tids[POLLS]);
	struct task *spins = tasks_find(tasks, scene->tids[SPINS]);
	struct task *sleeps = tasks_find(tasks, scene->tids[SLEEPS]);

	ck_assert(task_schedule(spins, &before));
	do {
		ck_assert(task_schedule(spins, &after));
	} while (after.run_ns <= before.run_ns);
	ck_assert(task_schedule(sleeps, &before));
	do {
		ck_assert(task_schedule(sleeps, &after));
	} while (after.switches <= before.switches);
	ck_assert(task_schedule(idle, &before));
	usleep(20000);
	ck_assert(task_schedule(idle, &after));
	ck_assert_uint_eq(after.run_ns, before.run_ns);
	if (access("/proc/self/schedstat", R_OK) == 0)
		ck_assert_uint_eq(after.switches, before.switches);
	tasks_close(tasks);
	child_end(pid);
}
END_TEST

START_TEST(births_and_deaths)
{
	scene = child_share(sizeof(*scene));
	pid_t pid = child_start(run_scene, scene);
	struct tasks *tasks;
	struct task_schedule schedule;
	struct task_activity activity;

	ck_assert_int_eq(tasks_open(&tasks, pid, child_proc(pid)), ST_OK);
	struct task *task = tasks_find(tasks, scene->tids[SLEEPS]);
	struct task *other = tasks_find(tasks, scene->tids[POLLS]);

	ck_assert(task_schedule(task, &schedule));
	scene->quit = 1;
	while (task_schedule(task, &schedule))
		usleep(1000);
	task_activity(task, &activity);
	ck_assert_int_eq(activity.doing, TASK_UNKNOWN);
	ck_assert_int_eq(tasks_refresh(tasks), ST_OK);
	ck_assert_uint_eq(tasks_count(tasks), KINDS);
	ck_assert_ptr_null(tasks_find(tasks, scene->tids[SLEEPS]));
	ck_assert_ptr_eq(tasks_find(tasks, scene->tids[POLLS]), other);
	ck_assert_ptr_null(tasks_at(tasks, KINDS));
	child_end(pid);
	ck_assert_int_eq(tasks_refresh(tasks), ST_ENDED);
	ck_assert_uint_eq(tasks_count(tasks), KINDS);
	tasks_close(tasks);
}
END_TEST

/*
 * In a PID namespace of its own; the number of its first process, as it is outside, is told by
 * fork.
 */
static void start_inside(int ready, void *context)
{
	volatile pid_t *outside = context;

	if (unshare(CLONE_NEWPID) != 0) {
		*outside = -1;
		child_sleeper(ready, NULL);
	}
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_scene(ready, scene);
	}
	*outside = pid;
	child_sleeper(-1, NULL);
}

START_TEST(numbers_of_another_namespace)
{
	volatile pid_t *outside = child_share(sizeof(*outside));

	scene = child_share(sizeof(*scene));
	pid_t pid = child_start(start_inside, (void *)(uintptr_t)outside);

	while (!*outside)
		usleep(1000);
	if (*outside < 0) {
		printf("skip tasks numbers_of_another_namespace: no right to make one\n");
		child_end(pid);
		return;
	}
	struct process p;
	static struct process_info info;
	struct tasks *tasks;

	ck_assert_int_eq(process_open(&p, *outside), ST_OK);
	ck_assert_int_eq(process_info(&p, &info), ST_OK);
	ck_assert(info.other_pid_namespace);
	ck_assert_int_eq(tasks_open(&tasks, *outside, p.proc_fd), ST_OK);
	ck_assert_uint_eq(tasks_count(tasks), KINDS + 1);
	ck_assert_int_eq(task_tid(tasks_find_inside(tasks, 1)), *outside);
	for (int kind = 0; kind < KINDS; kind++) {
		char name[16];
		struct task *task = tasks_find_inside(tasks, scene->tids[kind]);

		ck_assert_ptr_nonnull(task);
		ck_assert_int_ne(task_tid(task), scene->tids[kind]);
		ck_assert_ptr_eq(tasks_find(tasks, task_tid(task)), task);
		snprintf(name, sizeof(name), "player ) %d", kind);
		ck_assert_str_eq(task_name(task), name);
	}
	ck_assert_ptr_null(tasks_find_inside(tasks, *outside));
	pid_t gone = scene->tids[SLEEPS];

	scene->quit = 1;
	do {
		ck_assert_int_eq(tasks_refresh(tasks), ST_OK);
	} while (tasks_find_inside(tasks, gone));
	ck_assert_uint_eq(tasks_count(tasks), KINDS);
	tasks_close(tasks);
	process_close(&p);
	kill(*outside, SIGKILL);
	child_end(pid);
}
END_TEST

enum { CROWD = 1200 };

static void *stand(void *context)
{
	__atomic_add_fetch((int *)context, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return NULL;
}

static void run_crowd(int ready, void *context)
{
	pthread_attr_t small;
	pthread_t thread;
	int stands = 0, made = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	while (made < CROWD && pthread_create(&thread, &small, stand, &stands) == 0)
		made++;
	while (__atomic_load_n(&stands, __ATOMIC_SEQ_CST) < made)
		sched_yield();
	*(int *)context = made;
	child_sleeper(ready, NULL);
}

static size_t open_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

/* More threads than there may be descriptors: all are seen, and room is left for others. */
START_TEST(more_threads_than_descriptors)
{
	int *made = child_share(sizeof(*made));
	pid_t pid = child_start(run_crowd, made);
	struct rlimit limit = { 300, 700 };
	struct tasks *tasks;
	struct task_activity activity;
	struct task_schedule schedule;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(tasks_open(&tasks, pid, child_proc(pid)), ST_OK);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_uint_eq(limit.rlim_cur, 700);
	ck_assert_uint_eq(tasks_count(tasks), (size_t)*made + 1);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < tasks_count(tasks); i++) {
			task_activity(tasks_at(tasks, i), &activity);
			ck_assert_int_eq(activity.doing, TASK_SLEEP);
			ck_assert(task_schedule(tasks_at(tasks, i), &schedule));
		}
	}
	size_t used = open_descriptors();

	ck_assert_uint_gt(used, 300);
	ck_assert_uint_le(used, 700 - 200);
	tasks_close(tasks);
	ck_assert_uint_lt(open_descriptors(), 100);
	child_end(pid);
}
END_TEST

/* Told of a status file: on a CPU is who was scheduled in once more than out. */
START_TEST(places)
{
	static const char status[] =
		"Name:\tvoluntary_ctxt_switches\nThreads:\t1\n"
		"voluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t4\n";
	struct task_schedule in = { 1, 2, 12 };
	struct task_departures out = { 0 };

	ck_assert_int_eq(task_place_parse(text_of(status), &in, &out), TASK_ON_CPU);
	ck_assert_uint_eq(out.slept, 7);
	ck_assert_uint_eq(out.preempted, 4);
	in.switches = 11;
	ck_assert_int_eq(task_place_parse(text_of(status), &in, &out), TASK_OFF_CPU);
	ck_assert_int_eq(task_place_parse(text_of("voluntary_ctxt_switches:\t7\n"), &in, &out),
			 TASK_PLACE_UNKNOWN);
	ck_assert_int_eq(task_place_parse(text_of(""), &in, &out), TASK_PLACE_UNKNOWN);
}
END_TEST

/* This thread asks, so it is on a CPU; one that waits for a lock is not. */
START_TEST(places_of_threads)
{
	scene = child_share(sizeof(*scene));
	pid_t pid = child_start(run_scene, scene);
	struct tasks *tasks, *own;
	struct task_schedule schedule;
	struct task_departures out = { 0 };
	uint64_t before = 0;

	if (access("/proc/self/schedstat", R_OK) != 0)
		return;
	ck_assert_int_eq(tasks_open(&own, getpid(), child_proc(getpid())), ST_OK);
	struct task *me = tasks_find(own, getpid());
	for (int i = 0; i < 20; i++) {
		ck_assert(task_schedule(me, &schedule));
		/* it may be scheduled out between the two; then it was scheduled in again */
		enum task_place place = task_place(me, &schedule, &out);
		struct task_schedule after;
		ck_assert(task_schedule(me, &after));
		if (after.switches == schedule.switches)
			ck_assert_int_eq(place, TASK_ON_CPU);
		ck_assert_uint_ge(out.slept, before);
		before = out.slept;
		usleep(1000);
	}
	tasks_close(own);
	ck_assert_int_eq(tasks_open(&tasks, pid, child_proc(pid)), ST_OK);
	wait_for(tasks, scene->tids[POLLS], TASK_POLL);
	struct task *idle = tasks_find(tasks, scene->tids[POLLS]);
	usleep(20000);
	ck_assert(task_schedule(idle, &schedule));
	ck_assert_int_eq(task_place(idle, &schedule, &out), TASK_OFF_CPU);
	tasks_close(tasks);
	child_end(pid);
}
END_TEST

UNIT_MAIN("tasks", places, places_of_threads, activity_text, calls, state_corrects, other_texts,
	  what_threads_do, schedules, births_and_deaths, numbers_of_another_namespace,
	  more_threads_than_descriptors)
