/*
 * child: a process of the test's own to look at. It runs a function, and ends when it is told to.
 */
#ifndef PYTOP_TESTS_CHILD_H
#define PYTOP_TESTS_CHILD_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

/* Zeroed memory that a child and its parent share, and other processes can read. */
static inline void *child_share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert(memory != MAP_FAILED);
	return memory;
}

/* Tell the parent that the child is as it should be. */
static inline void child_ready(int ready)
{
	char byte = 1;

	if (write(ready, &byte, 1) != 1)
		_exit(2);
}

/*
 * Fork a child that runs `run`, which calls child_ready when it is as it should be; give its number
 * once it has. It dies with the test.
 */
static inline pid_t child_start(void (*run)(int ready, void *context), void *context)
{
	int ends[2];
	char byte;

	fflush(stdout);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		run(ends[1], context);
		_exit(0);
	}
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

/* Say that it is ready, unless ready is -1, and sleep for good. */
static inline void child_sleeper(int ready, void *context)
{
	(void)context;
	if (ready >= 0)
		child_ready(ready);
	for (;;)
		pause();
}

static inline void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static inline int child_proc(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

#endif
