/* From a number to a process that can be read, or the reason why not. */
#include "pythons.h"

#include <pthread.h>
#include <time.h>

#include "attach.h"

static struct attachment a;
static struct attach_failure failure;

static enum status attach(pid_t pid, double wait_s, bool spawned)
{
	return attach_open(&a, pid, wait_s, spawned, NULL, &failure);
}

START_TEST(a_python)
{
	struct python p;

	python_start(&p, PYTHONS_SERVICE);
	ck_assert_int_eq(attach(p.pid, 5, false), ST_OK);
	ck_assert_int_eq(a.process.pid, p.pid);
	ck_assert_str_eq(a.info.name, "-c");
	ck_assert_ptr_nonnull(strstr(a.info.command, " -c import threading"));
	ck_assert_int_eq(a.runtime.version_text[0], '3');
	ck_assert_int_eq(a.runtime.layout.version.major, 3);
	ck_assert(a.is_open);
	ck_assert_int_eq(attach_again(&a), ST_OK);
	attach_close(&a);
	attach_close(&a);
	python_end(&p);
}
END_TEST

START_TEST(absent)
{
	pid_t pid = child_start(child_sleeper, NULL);

	child_end(pid);
	ck_assert_int_eq(attach(pid, 5, false), ST_NO_PROCESS);
	ck_assert(!a.is_open);
	ck_assert_int_eq(attach(getpid(), 5, false), ST_IS_SELF);
	attach_close(&a);
}
END_TEST

static void *sleep_long(void *context)
{
	for (;;)
		pause();
	return context;
}

static void child_thread(int ready, void *context)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_long, context);
	child_ready(ready);
	pause();
}

START_TEST(not_python)
{
	char path[64], expected[16];
	pid_t pid = child_start(child_sleeper, NULL), tid;

	ck_assert_int_eq(attach(pid, 5, false), ST_NOT_PYTHON);
	child_end(pid);

	/* a thread of it */
	pid = child_start(child_thread, NULL);
	for (tid = pid + 1;; tid++) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
		if (access(path, F_OK) == 0)
			break;
	}
	ck_assert_int_eq(attach(tid, 5, false), ST_IS_THREAD);
	snprintf(expected, sizeof(expected), "%d", (int)pid);
	ck_assert_str_eq(failure.what, expected);
	child_end(pid);
}
END_TEST

/* A shell with a Python child: which one it is. */
START_TEST(python_children)
{
	static const char *const argv[] = {
		"sh", "-c", "python3 -c \"print('ready', flush=True); input()\"; :", NULL
	};
	struct python p;

	python_start_as(&p, argv);
	python_expect(&p, "ready");
	ck_assert_int_eq(attach(p.pid, 5, false), ST_NOT_PYTHON_CHILDREN);
	pid_t child = atoi(failure.what);
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(attach(child, 5, false), ST_OK);
	attach_close(&a);

	/* of a command of our own the child is followed */
	ck_assert_int_eq(attach(p.pid, 5, true), ST_OK);
	ck_assert_int_eq(a.process.pid, child);
	attach_close(&a);
	kill(child, SIGKILL);
	python_end(&p);
}
END_TEST

/* A shim that becomes Python after a while, by exec or by fork. */
START_TEST(spawned_shims)
{
	static const char *const scripts[] = { "sleep 0.2; exec python3 -c 'input()'",
					       "sleep 0.2; python3 -c 'input()'; :" };

	for (size_t i = 0; i < 2; i++) {
		const char *const argv[] = { "sh", "-c", scripts[i], NULL };
		struct python p;

		python_start_as(&p, argv);
		ck_assert_int_eq(attach(p.pid, -1, true), ST_OK);
		ck_assert_int_eq(a.process.pid == p.pid, i == 0);
		kill(a.process.pid, SIGKILL);
		attach_close(&a);
		python_end(&p);
	}
}
END_TEST

/* One that is thrown away is waited out, and one that lost its parent is found. */
START_TEST(spawned_throw_away)
{
	static const char *const scripts[] = {
		"python3 -c 'pass'; python3 -c 'pass'; exec python3 -c "
		"'__import__(\"time\").sleep(1000)'",
		"(python3 -c '__import__(\"time\").sleep(1000)' &); sleep 0.1"
	};

	for (size_t i = 0; i < 2; i++) {
		const char *const argv[] = { "setsid", "sh", "-c", scripts[i], NULL };
		struct python p;

		python_start_as(&p, argv);
		ck_assert_int_eq(attach(p.pid, -1, true), ST_OK);
		ck_assert_int_eq(a.process.pid == p.pid, i == 0);
		ck_assert_ptr_nonnull(strstr(a.info.command, "sleep(1000)"));
		kill(a.process.pid, SIGKILL);
		attach_close(&a);
		python_end(&p);
	}
}
END_TEST

START_TEST(wait_is_cancelled)
{
	volatile int stop = 1;
	pid_t pid = child_start(child_sleeper, NULL);

	ck_assert_int_eq(attach_open(&a, pid, -1, true, &stop, &failure), ST_CANCELLED);
	child_end(pid);
}
END_TEST

START_TEST(spawned_ends)
{
	static const char *const argv[] = { "sh", "-c", "sleep 0.1", NULL };
	struct python p;

	python_start_as(&p, argv);
	ck_assert_int_eq(attach(p.pid, -1, true), ST_COMMAND_NOT_PYTHON);
	ck_assert_str_ne(failure.what, "");
	python_end(&p);
}
END_TEST

/* Patience has an end, and who is not ours is not waited for. */
START_TEST(patience)
{
	struct timespec begun, ended;
	pid_t pid = child_start(child_sleeper, NULL);

	ck_assert_int_eq(attach(pid, 0.2, true), ST_NOT_PYTHON);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	ck_assert_int_eq(attach(pid, 1e6, false), ST_NOT_PYTHON);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	ck_assert_int_lt(ended.tv_sec - begun.tv_sec, 1000);
	child_end(pid);
}
END_TEST

/* The process became something else: what is known of the Python that it was stays as it is. */
START_TEST(exec)
{
	struct python p;
	char command[sizeof(a.info.command)];

	python_start(&p, "import os\n"
			 "print('ready', flush=True)\n"
			 "input()\n"
			 "os.execvp('sleep', ['sleep', '1000'])\n");
	ck_assert_int_eq(attach(p.pid, 5, false), ST_OK);
	strcpy(command, a.info.command);
	ck_assert(!process_executed(&a.process));
	ck_assert_int_eq(write(p.in, "\n", 1), 1);
	while (!process_executed(&a.process))
		usleep(1000);
	ck_assert_int_eq(attach_again(&a), ST_NOT_PYTHON);
	ck_assert_str_eq(a.info.command, command);
	ck_assert_str_eq(a.became, "sleep");
	python_end(&p);
	ck_assert_int_eq(attach_again(&a), ST_ENDED);
	attach_close(&a);
}
END_TEST

PYTHONS_MAIN("attach", a_python, absent, not_python, python_children, spawned_shims,
	     spawned_throw_away, wait_is_cancelled, spawned_ends, patience, exec)
