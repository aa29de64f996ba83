/*
 * Line tables against the interpreters themselves: targets/lines.py compiles a part of the
 * standard library in each real Python that tests/pythons.sh knows and tells the line of every
 * instruction; the same code objects are read from outside, and every line must be the same.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "python/code.h"
#include "python/runtime.h"
#include "target/process.h"

enum { SKIP = 77, BAD_SHOWN = 5 };

struct check {
	const char *name;
	struct process process;
	struct memory memory;
	struct py_runtime runtime;
	struct code code;
	long codes, lines, bad;
};

/* Start `command - < targets/lines.py`; what it tells comes from *output. */
static pid_t start(const char *command, FILE **output)
{
	const char *srcdir = getenv("srcdir");
	char script[4096];
	int ends[2];
	pid_t pid;

	snprintf(script, sizeof(script), "exec %s - <'%s/tests/live/targets/lines.py'", command,
		 srcdir ? srcdir : ".");
	if (pipe(ends))
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	*output = fdopen(ends[0], "r");
	return pid;
}

static void complain(struct check *c, const char *what, long wanted, long got)
{
	if (c->bad++ < BAD_SHOWN)
		printf("# %s %s: %s %ld, not %ld\n", c->name,
		       c->code.function ? c->code.function : "?", what, got, wanted);
}

/* "C ADDRESS FIRST_LINE NAME" */
static void take_code(struct check *c, const char *line)
{
	unsigned long address = 0;
	int first_line = 0, at = 0;
	enum status status;

	code_free(&c->code);
	if (sscanf(line, "C %lu %d %n", &address, &first_line, &at) < 2)
		return complain(c, "words", 3, 0);
	status = code_read(&c->code, &c->runtime, &c->memory, address);
	c->codes++;
	if (status != ST_OK)
		return complain(c, status_name(status), ST_OK, (long)status);
	if (c->code.first_line != first_line)
		complain(c, "first line", first_line, c->code.first_line);
	if (strcmp(c->code.function, line + at) != 0)
		complain(c, line + at, 0, 1);
}

/* "OFFSET LINE" */
static void take_line(struct check *c, const char *line)
{
	long offset, wanted, got;

	if (sscanf(line, "%ld %ld", &offset, &wanted) != 2)
		return complain(c, "words", 2, 0);
	got = code_line(&c->code, offset);
	c->lines++;
	if (got != wanted)
		complain(c, "line", wanted, got);
}

/* False when the target cannot be looked at: it said nothing, or is not ours to read. */
static bool look(struct check *c, pid_t pid, FILE *output)
{
	char *line = NULL;
	size_t room = 0;
	bool found = false, whole = false;

	while (!whole && getline(&line, &room, output) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!found) {
			if (process_open(&c->process, pid) != ST_OK)
				break;
			memory_open_process(&c->memory, pid, c->process.proc_fd);
			found = true;
			if (runtime_find(&c->runtime, c->process.proc_fd, &c->memory, NULL, 0) !=
			    ST_OK)
				break;
		}
		whole = strcmp(line, "END") == 0;
		if (*line == 'C')
			take_code(c, line);
		else if (!whole)
			take_line(c, line);
	}
	free(line);
	code_free(&c->code);
	if (found) {
		memory_close(&c->memory);
		process_close(&c->process);
	}
	return whole;
}

/* One interpreter: 0 good, 1 bad, SKIP. */
static int check_python(const char *name, const char *command)
{
	struct check c = { .name = name };
	FILE *output = NULL;
	pid_t pid = start(command, &output);
	bool whole = pid > 0 && output && look(&c, pid, output);

	if (output)
		fclose(output);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	if (!whole) {
		printf("skip lines %s: could not be run or read\n", name);
		return SKIP;
	}
	printf("%s lines %s: %ld code objects, %ld instructions, %ld different\n",
	       c.bad ? "not ok" : "ok", name, c.codes, c.lines, c.bad);
	fflush(stdout);
	return c.bad != 0;
}

int main(void)
{
	const char *srcdir = getenv("srcdir");
	char command[4096], line[4096], name[64], version[64];
	int good = 0, bad = 0, at, minor;
	FILE *list;

	snprintf(command, sizeof(command), "sh '%s/tests/pythons.sh' list", srcdir ? srcdir : ".");
	list = popen(command, "r");
	while (list && fgets(line, sizeof(line), list)) {
		int result;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%63s %63s %n", name, version, &at) < 2 ||
		    sscanf(version, "3.%d", &minor) != 1 || minor < 8)
			continue;
		result = check_python(name, line + at);
		good += result == 0;
		bad += result == 1;
	}
	if (list)
		pclose(list);
	return bad ? 1 : good ? 0 : SKIP;
}
