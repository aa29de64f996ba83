/*
 * naming: a threading.Thread has a name of its own, which its outermost frame leads to. Threads made otherwise have at most the
 * kernel's, which says something only where it is not the one that all threads begin with.
 */
#include "naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/threadname.h"

#define MAIN_THREAD_NAME "MainThread"
#define NAME_BYTES_MAX 1024

static const char *kernel_name(const struct tasks *tasks, pid_t pid, const struct task *task)
{
	const struct task *main_task = tasks_find(tasks, pid);
	const char *name = task ? task_name(task) : "";

	return main_task && strcmp(name, task_name(main_task)) == 0 ? "" : name;
}

enum status naming_find(struct names *names, const struct py_runtime *runtime,
			struct memory *memory, const struct tasks *tasks, pid_t pid, pid_t tid,
			const struct task *task, remote_addr root_frame, string_id *name)
{
	char *own = NULL;
	char number[32];

	if (tid == pid)
		return names_string(names, MAIN_THREAD_NAME, strlen(MAIN_THREAD_NAME), name);
	if (root_frame && threadname_read(&own, runtime, memory, root_frame) == ST_OK) {
		enum status status = names_string(names, own, strnlen(own, NAME_BYTES_MAX), name);
		free(own);
		return status;
	}
	snprintf(number, sizeof(number), "Thread-%d", (int)tid);
	const char *given = kernel_name(tasks, pid, task);
	if (!given[0])
		given = number;
	return names_string(names, given, strlen(given), name);
}
