/* process: held by number without mistaking it; described, listed, started. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "child.h"
#include "target/process.h"

START_TEST(refusals)
{
	struct process p;

	ck_assert_int_eq(process_open(&p, 0), ST_NO_PROCESS);
	ck_assert_int_eq(process_open(&p, -5), ST_NO_PROCESS);
	ck_assert_int_eq(process_open(&p, 0x3fffffff), ST_NO_PROCESS);
	ck_assert_int_eq(process_open(&p, getpid()), ST_IS_SELF);
	ck_assert_int_eq(process_of_thread(0x3fffffff), 0);
	ck_assert_int_eq(process_of_thread(getpid()), getpid());
}
END_TEST

START_TEST(zombie)
{
	pid_t pid = child_start(child_sleeper, NULL);
	struct process p;

	kill(pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(process_open(&p, pid), ST_IS_ZOMBIE);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(life_and_end)
{
	pid_t pid = child_start(child_sleeper, NULL);
	struct process p;
	struct process_info info;
	int how = 0;

	ck_assert_int_eq(process_open(&p, pid), ST_OK);
	ck_assert_int_eq(process_alive(&p), ST_OK);
	ck_assert(!process_exit_status(&p, &how));
	ck_assert(!process_executed(&p));
	ck_assert_int_eq(process_info(&p, &info), ST_OK);
	ck_assert_int_eq(info.parent, getpid());
	ck_assert_uint_eq(info.uid, getuid());
	ck_assert(!info.is_32_bit && !info.other_pid_namespace);
	ck_assert(info.start_time_ns > (uint64_t)1600000000 * 1000000000);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	ck_assert_int_eq(process_alive(&p), ST_ENDED);
	ck_assert(!process_executed(&p));
	ck_assert(process_exit_status(&p, &how));
	ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
	ck_assert_int_eq(process_info(&p, &info), ST_ENDED);
	ck_assert_int_eq(process_alive(&p), ST_ENDED);
	process_close(&p);
	ck_assert_int_eq(process_open(&p, pid), ST_NO_PROCESS);
}
END_TEST

/* The same without a pidfd, as on an old kernel. */
START_TEST(end_by_stat)
{
	pid_t pid = child_start(child_sleeper, NULL);
	struct process p;

	ck_assert_int_eq(process_open(&p, pid), ST_OK);
	close(p.pidfd);
	p.pidfd = -1;
	ck_assert_int_eq(process_alive(&p), ST_OK);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	ck_assert_int_eq(process_alive(&p), ST_ENDED);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(process_alive(&p), ST_ENDED);
	process_close(&p);
}
END_TEST

static void wait_then_exec(int ready, void *context)
{
	const int *go = context;
	char byte;

	child_ready(ready);
	if (read(*go, &byte, 1) == 1)
		execlp("sleep", "sleep", "1000", (char *)NULL);
}

START_TEST(exec_is_noticed_once)
{
	int ends[2];
	struct process p;

	ck_assert_int_eq(pipe(ends), 0);
	pid_t pid = child_start(wait_then_exec, &ends[0]);

	ck_assert_int_eq(process_open(&p, pid), ST_OK);
	if (p.space_fd < 0) {
		printf("skip process exec: memory may not be read here\n");
		return;
	}
	ck_assert(!process_executed(&p));
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	while (!process_executed(&p))
		poll(NULL, 0, 1);
	ck_assert(!process_executed(&p));
	ck_assert_int_eq(process_alive(&p), ST_OK);
	process_close(&p);
	child_end(pid);
}
END_TEST

static void *report_thread(void *context)
{
	*(volatile pid_t *)context = gettid();
	for (;;)
		pause();
	return NULL;
}

static void with_thread(int ready, void *context)
{
	volatile pid_t *tid = context;
	pthread_t thread;

	pthread_create(&thread, NULL, report_thread, context);
	while (!*tid)
		sched_yield();
	child_sleeper(ready, NULL);
}

START_TEST(thread_is_no_process)
{
	pid_t *tid = child_share(sizeof(*tid));
	pid_t pid = child_start(with_thread, tid);
	struct process p;

	ck_assert_int_ne(*tid, pid);
	ck_assert_int_eq(process_open(&p, *tid), ST_IS_THREAD);
	ck_assert_int_eq(process_of_thread(*tid), pid);
	child_end(pid);
}
END_TEST

static void busy(int ready, void *context)
{
	volatile unsigned long n = 0;

	(void)context;
	for (; n < 50000000; n++)
		continue;
	child_sleeper(ready, NULL);
}

START_TEST(usage_of_a_child)
{
	pid_t pid = child_start(busy, NULL);
	struct process p;
	struct process_usage usage;
	uint64_t cpu = 0;

	ck_assert_int_eq(process_open(&p, pid), ST_OK);
	ck_assert_int_eq(process_usage(&p, &usage), ST_OK);
	ck_assert_uint_gt(usage.cpu_ns, 1000000);
	ck_assert_uint_eq(usage.thread_count, 1);
	ck_assert_uint_gt(usage.rss_bytes, 4096);
	ck_assert_int_eq(process_cpu_ns(&p, &cpu), ST_OK);
	ck_assert_uint_ge(cpu, usage.cpu_ns);
	process_close(&p);
	child_end(pid);
	ck_assert_int_eq(process_cpu_ns(&p, &cpu), ST_ENDED);
}
END_TEST

static const struct {
	const char *arguments; /* joined by NULs, as in /proc */
	size_t size;
	const char *name;
} names[] = {
#define ROW(arguments, name) \
	{ \
		arguments, sizeof(arguments) - 1, name \
	}
	ROW("python3\0/srv/app.py\0--token\0secret\0", "app.py"),
	ROW("/usr/bin/python3.11\0-m\0json.tool\0x\0", "json.tool"),
	ROW("python\0-Bum\0http.server\0", "http.server"),
	ROW("python\0-mtimeit\0", "timeit"),
	ROW("python\0-c\0import secret\0", "-c"),
	ROW("python\0-Bc\0import secret\0", "-c"),
	ROW("python\0-X\0dev\0-W\0error\0-Xtracemalloc\0a/b/run\0", "run"),
	ROW("python\0--check-hash-based-pycs\0always\0x.py\0", "x.py"),
	ROW("python\0-\0", "-"),
	ROW("python\0app/__main__.py\0", "app"),
	ROW("python\0__main__.py\0", "__main__.py"),
	ROW("python\0some/directory/\0", "directory"),
	ROW("python\0.\0", "."),
	ROW("python\0some/directory/.\0", "directory"),
	ROW("python3\0", "python3"),
	ROW("python3\0-i\0", "python3"),
	ROW("python3\0-m\0", "python3"),
	ROW("python3\0-X\0", "python3"),
	ROW("/opt/venv/bin/uwsgi\0--ini\0secret\0", "uwsgi"),
	ROW("gunicorn: worker [a/b]\0", "gunicorn: worker [a/b]"),
	ROW("/\0", "/"),
	ROW("", ""),
	ROW("\0\0\0", ""),
	ROW("python\0\0\0x.py", "x.py"),
#undef ROW
};

START_TEST(name_of_a_command)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[256], *copy = malloc(names[i].size ? names[i].size : 1);

		memcpy(copy, names[i].arguments, names[i].size);
		process_name_parse(name, sizeof(name),
				   (struct bytes){ (uint8_t *)copy, names[i].size });
		ck_assert_str_eq(name, names[i].name);
		process_name_parse(name, 4, (struct bytes){ (uint8_t *)copy, names[i].size });
		ck_assert_uint_le(strlen(name), 3);
		free(copy);
	}
}
END_TEST

static void python_of_here(int ready, void *context)
{
	const int *input = context;

	if (chdir("/usr/lib") != 0)
		_exit(1);
	dup2(*input, 0);
	close(2);
	child_ready(ready);
	execlp("cat", "python", ".", "-", (char *)NULL);
}

/* What "." means depends on where it was started. */
START_TEST(name_of_a_folder)
{
	struct process_info info = { 0 };
	struct process p;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	pid_t pid = child_start(python_of_here, &ends[0]);

	ck_assert_int_eq(process_open(&p, pid), ST_OK);
	while (strcmp(info.command, "python . -") != 0)
		ck_assert_int_eq(process_info(&p, &info), ST_OK);
	ck_assert_str_eq(info.name, "lib");
	process_close(&p);
	child_end(pid);
}
END_TEST

START_TEST(stat_text)
{
	static const char text[] =
		"123 (a) R 1 (b) S 77 123 123 0 -1 4194304 9 0 0 0 11 4 0 0 20 -5 3 0 4711 "
		"999424 256 18446744073709551615 1 1 0";
	struct process_stat stat;
	size_t size = sizeof(text) - 1;

	ck_assert(process_stat_parse((struct bytes){ (const uint8_t *)text, size }, &stat));
	ck_assert_int_eq(stat.state, 'S');
	ck_assert_int_eq(stat.parent, 77);
	ck_assert_uint_eq(stat.flags, 4194304);
	ck_assert_uint_eq(stat.cpu_ticks, 15);
	ck_assert_uint_eq(stat.thread_count, 3);
	ck_assert_uint_eq(stat.start_time, 4711);
	ck_assert_uint_eq(stat.rss_pages, 256);
	stat.parent = 1;
	for (size_t n = 0; n < 60; n++)
		ck_assert(!process_stat_parse((struct bytes){ (const uint8_t *)text, n }, &stat));
	ck_assert_int_eq(stat.parent, 1);
}
END_TEST

static void two_generations(int ready, void *context)
{
	(void)context;
	if (fork() == 0 && fork() == 0)
		child_ready(ready);
	for (;;)
		pause();
}

START_TEST(descendants)
{
	pid_t pid = child_start(two_generations, NULL);
	pid_t found[8], all[64], *list;
	size_t count = 8, none = 0, some = 1, total = 64, listed;

	ck_assert_int_eq(process_children(pid, found, &count), ST_OK);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(process_children(found[0], all, &total), ST_OK);
	ck_assert_uint_eq(total, 1);
	ck_assert_int_eq(all[0], found[1]);
	ck_assert_int_eq(process_children(pid, found, &some), ST_OK);
	ck_assert_uint_eq(some, 1);
	ck_assert_int_eq(process_children(pid, found, &none), ST_OK);
	ck_assert_uint_eq(none, 0);
	ck_assert_int_eq(process_list(&list, &listed), ST_OK);
	for (size_t i = 1; i < listed; i++)
		ck_assert_int_lt(list[i - 1], list[i]);
	free(list);
	kill(all[0], SIGKILL);
	kill(found[0], SIGKILL);
	child_end(pid);
}
END_TEST

/* Start a command, and give what it writes and how it ends. */
static int output_of(char *const argv[], bool keep_stdin, char *text, size_t size)
{
	int ends[2], how, errnum = 0;
	pid_t pid = 0;
	size_t n = 0;
	ssize_t part;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	struct spawn_options options = { .output_fd = ends[1], .keep_stdin = keep_stdin };

	ck_assert_int_eq(process_spawn(argv, &options, &pid, &errnum), ST_OK);
	close(ends[1]);
	while (n < size - 1 && (part = read(ends[0], text + n, size - 1 - n)) > 0)
		n += (size_t)part;
	text[n] = '\0';
	close(ends[0]);
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	return how;
}

static char shell[] = "sh", dash_c[] = "-c";

static void orphan_maker(int ready, void *context)
{
	pid_t *orphan = context;
	int ends[2];
	char byte;

	setsid();
	if (pipe(ends) != 0 || fork() != 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			child_ready(ready);
		child_sleeper(-1, NULL);
	}
	pid_t middle = getpid();

	if (fork() != 0)
		_exit(0);
	while (getppid() == middle)
		sched_yield();
	*orphan = getpid();
	if (write(ends[1], "x", 1) != 1)
		_exit(1);
	child_sleeper(-1, NULL);
}

/* What lost its parent is still known by the session. */
START_TEST(orphans)
{
	volatile pid_t *orphan = child_share(sizeof(*orphan));
	pid_t pid = child_start(orphan_maker, (void *)(uintptr_t)orphan), found[8];
	size_t n = 8, times = 0;

	ck_assert_int_eq(process_children(pid, found, &n), ST_OK);
	for (size_t i = 0; i < n; i++)
		times += found[i] == *orphan;
	ck_assert_uint_eq(times, 1);
	ck_assert_int_eq(kill(*orphan, SIGKILL), 0);
	child_end(pid);
}
END_TEST

START_TEST(spawn_streams)
{
	char script[] = "cat; echo out; echo err >&2; exit 3";
	char *const argv[] = { shell, dash_c, script, NULL };
	char text[256];
	int ends[2];

	ck_assert_int_eq(WEXITSTATUS(output_of(argv, false, text, sizeof(text))), 3);
	ck_assert_str_eq(text, "out\nerr\n");
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "in\n", 3), 3);
	close(ends[1]);
	dup2(ends[0], 0);
	ck_assert_int_eq(WEXITSTATUS(output_of(argv, true, text, sizeof(text))), 3);
	ck_assert_str_eq(text, "in\nout\nerr\n");
}
END_TEST

/* The child leads its session, and no signal is blocked or ignored. */
START_TEST(spawn_state)
{
	char script[] =
		"grep -E '^Sig(Blk|Ign)' /proc/self/status; cut -d' ' -f1,5,6 /proc/$$/stat; "
		"ls -l /proc/self/fd | grep -c pipe";
	char *const argv[] = { shell, dash_c, script, NULL };
	char text[512];
	unsigned long long blocked, ignored;
	int pid, group, session, pipes;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	ck_assert_int_eq(WEXITSTATUS(output_of(argv, false, text, sizeof(text))), 0);
	ck_assert_int_eq(sscanf(text, "SigBlk: %llx SigIgn: %llx %d %d %d %d", &blocked, &ignored,
				&pid, &group, &session, &pipes),
			 6);
	ck_assert_uint_eq(blocked, 0);
	/* The C library's own two signals: make leaves them ignored, and nobody can change that. */
	ignored &= ~(3ULL << 31);
	ck_assert_uint_eq(ignored, 0);
	ck_assert_int_eq(pid, group);
	ck_assert_int_eq(pid, session);
	ck_assert_int_ne(session, getsid(0));
}
END_TEST

START_TEST(spawn_failures)
{
	char missing[] = "no-such-command-at-all", directory[] = "/", plain[] = "/proc/self/status";
	char *const commands[] = { missing, directory, plain };
	const int reasons[] = { ENOENT, EACCES, EACCES };
	struct spawn_options options = { .output_fd = -1 };

	for (size_t i = 0; i < 3; i++) {
		char *const argv[] = { commands[i], NULL };
		int errnum = 0;
		pid_t pid = 77;

		ck_assert_int_eq(process_spawn(argv, &options, &pid, &errnum), ST_NO_COMMAND);
		ck_assert_int_eq(errnum, reasons[i]);
		ck_assert_int_eq(pid, 77);
	}
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

UNIT_MAIN("process", refusals, zombie, life_and_end, end_by_stat, exec_is_noticed_once,
	  thread_is_no_process, usage_of_a_child, name_of_a_command, name_of_a_folder, stat_text,
	  descendants, orphans, spawn_streams, spawn_state, spawn_failures)
