/*
 * pythons: a real interpreter for the tests that need one: the python3 of the PATH, running a script of the test's. Where there is
 * none the test says so and is skipped.
 */
#ifndef PYTOP_TESTS_PYTHONS_H
#define PYTOP_TESTS_PYTHONS_H

#include <string.h>

#include "child.h"

#define PYTHONS_MAIN(noun, ...) \
	int main(void) \
	{ \
		const TTest *const cases[] = { __VA_ARGS__ }; \
		if (system("exec python3 -c 'import sys, sysconfig; sys.exit(sys.version_info < " \
			   "(3, 8) " \
			   "or bool(sysconfig.get_config_var(\"Py_GIL_DISABLED\")))' " \
			   ">/dev/null 2>&1") != 0) { \
			printf("skip " noun ": no python3 on the PATH that pytop reads\n"); \
			return 77; \
		} \
		return unit_run(noun, cases, sizeof(cases) / sizeof(cases[0])); \
	}

/* A service of a few threads: spinner burns CPU, the others wait. It says "ready" when all of them do what they do. */
#define PYTHONS_SERVICE \
	"import threading, time, sys\n" \
	"def burn(n):\n" \
	"    x = 0\n" \
	"    for i in range(n):\n" \
	"        x += i\n" \
	"    return x\n" \
	"def spinner():\n" \
	"    while True:\n" \
	"        burn(2000)\n" \
	"def sleeper():\n" \
	"    while True:\n" \
	"        time.sleep(1000)\n" \
	"for name, run in ('spinner-1', spinner), ('sleeper-1', sleeper):\n" \
	"    threading.Thread(target=run, name=name, daemon=True).start()\n" \
	"time.sleep(0.05)\n" \
	"print('ready', flush=True)\n" \
	"sys.stdin.read()\n"

struct python {
	pid_t pid;
	int in, out; /* its standard input, on which it waits, and output */
};

static inline void python_expect(struct python *p, const char *line)
{
	char got[64];
	size_t n = 0;

	while (n < sizeof(got) - 1 && read(p->out, got + n, 1) == 1 && got[n] != '\n')
		n++;
	got[n] = '\0';
	ck_assert_str_eq(got, line);
}

/* argv[0] is looked for in the PATH; the process dies with the test. */
static inline void python_start_as(struct python *p, const char *const argv[])
{
	int in[2], out[2];

	fflush(stdout);
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	p->pid = fork();
	ck_assert_int_ge(p->pid, 0);
	if (p->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p->in = in[1];
	p->out = out[0];
}

static inline void python_start(struct python *p, const char *script)
{
	const char *const argv[] = { "python3", "-c", script, NULL };

	python_start_as(p, argv);
	python_expect(p, "ready");
}

static inline void python_end(struct python *p)
{
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	close(p->in);
	close(p->out);
}

#endif
