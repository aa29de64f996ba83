/*
 * child: a command that was started to be looked at ends with the look: SIGTERM to its group, then patience, then a
 * word if it stays. Its output is kept in an unnamed file while the screen is up, and the end of it printed after.
 */
#include "ui/child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

#define PATIENCE_MS 3000
#define TAIL_BYTES 4096
#define TAIL_LINES 10

enum status child_start(struct child *child, char *const argv[], bool has_screen,
			struct status_args *args)
{
	child->output_fd = -1;
	if (has_screen) {
		FILE *unnamed = tmpfile();
		child->output_fd = unnamed ? fcntl(fileno(unnamed), F_DUPFD_CLOEXEC, 3) : -1;
		if (unnamed)
			fclose(unnamed);
		if (child->output_fd < 0)
			child->output_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	}
	return pytop_spawn(argv, has_screen ? child->output_fd : STDERR_FILENO, &child->pid, args);
}

bool child_goes_on(void *context)
{
	struct child *child = context;

	return child->pid > 0 &&
	       pytop_find_python(child->pid, &child->watch, &child->next) == ST_OK;
}

static bool has_ended(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) != 0;
}

bool child_has_ended(const struct child *child)
{
	siginfo_t info = { 0 };

	/* only looked at: how it ended is for pytop_snapshot() */
	return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       info.si_pid != 0;
}

static void print_tail(int fd)
{
	char raw[TAIL_BYTES], safe[TAIL_BYTES * 4];
	off_t size = lseek(fd, 0, SEEK_END);
	off_t from = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
	ssize_t n = size > 0 ? pread(fd, raw, sizeof(raw), from) : 0;
	size_t start = n > 0 ? (size_t)n : 0, lines = 0;

	while (start > 0 && !(raw[start - 1] == '\n' && start < (size_t)n && ++lines >= TAIL_LINES))
		start--;
	if (n > 0)
		fprintf(stderr, "the end of what it printed:\n");
	while (n > 0 && start < (size_t)n) {
		const char *end = memchr(raw + start, '\n', (size_t)n - start);
		size_t length = end ? (size_t)(end - raw) - start : (size_t)n - start;
		text_escape(safe, sizeof(safe), raw + start, length, false);
		fprintf(stderr, "  %s\n", safe);
		start += length + 1;
	}
}

void child_end(struct child *child)
{
	struct timespec pause = { 0, 10 * 1000 * 1000 };
	bool ended = child->pid <= 0 || has_ended(child->pid);

	if (!ended) {
		(void)kill(-child->pid, SIGTERM);
		for (int i = 0; !ended && i < PATIENCE_MS / 10; i++) {
			nanosleep(&pause, NULL);
			ended = has_ended(child->pid);
		}
		if (!ended)
			fprintf(stderr, "the command still runs as process %d\n", (int)child->pid);
	}
	if (child->output_fd > STDERR_FILENO) {
		print_tail(child->output_fd);
		close(child->output_fd);
	}
	child->pid = 0;
}
