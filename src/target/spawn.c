/*
 * spawn: starting the command that is to be profiled.
 *
 * Between fork and exec the child makes itself as a shell would have made it: its own session, no
 * signal blocked or ignored that pytop ignores, its output where it belongs. A pipe that closes
 * on exec carries the reason when exec fails, so that "no such command" is told apart from a
 * command that fails. Invariant: after a failure no child is left, dead or alive. Called once, at
 * the start.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/process.h"

/* SIGHUP stays as it is: who runs pytop under nohup means the command too. */
static void reset_signals(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		if (i != SIGHUP && i != SIGKILL && i != SIGSTOP)
			(void)sigaction(i, &usual, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool set_streams(const struct spawn_options *options)
{
	if (!options->keep_stdin) {
		int null = open("/dev/null", O_RDONLY);

		if (null < 0 || dup2(null, STDIN_FILENO) < 0)
			return false;
		if (null > STDERR_FILENO)
			close(null);
	}
	if (options->output_fd < 0)
		return true;
	return dup2(options->output_fd, STDOUT_FILENO) >= 0 &&
	       dup2(options->output_fd, STDERR_FILENO) >= 0;
}

/* In the child: becomes the command, or says why not and ends. */
static _Noreturn void become(char *const argv[], const struct spawn_options *options, int report)
{
	(void)setsid();
	reset_signals();
	if (set_streams(options))
		execvp(argv[0], argv);
	int reason = errno;

	while (write(report, &reason, sizeof(reason)) < 0 && errno == EINTR)
		continue;
	_exit(127);
}

/* The child's reason, or 0 when its end of the pipe closed at its exec. */
static int read_reason(int fd)
{
	int reason = 0;
	ssize_t n;

	do {
		n = read(fd, &reason, sizeof(reason));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(reason) ? reason : 0;
}

enum status process_spawn(char *const argv[], const struct spawn_options *options, pid_t *pid,
			  int *errnum)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		*errnum = errno;
		return ST_SYSTEM;
	}
	pid_t child = fork();

	if (child == 0)
		become(argv, options, ends[1]);
	int reason = child < 0 ? errno : 0;

	close(ends[1]);
	if (child > 0)
		reason = read_reason(ends[0]);
	close(ends[0]);
	if (child > 0 && !reason) {
		*pid = child;
		return ST_OK;
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	*errnum = reason;
	return child < 0 ? ST_SYSTEM : ST_NO_COMMAND;
}
