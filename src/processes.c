/*
 * processes: which processes are Python, for choosing one: all of them, or the descendants of one.
 *
 * A glance at each: held, its maps looked through for a CPython. What may not be read is listed only when its name says
 * Python, and marked as not readable.
 */
#include "pytop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "python/runtime.h"
#include "target/memory.h"
#include "target/process.h"

#define PROCESSES_MAX 65536
#define DESCENDANTS_MAX 4096

static bool look_at(struct pytop_process *to, const struct process *process)
{
	struct process_info info;
	struct process_usage usage;
	struct py_version version;
	struct memory memory;

	if (process_info(process, &info) != ST_OK || process_usage(process, &usage) != ST_OK)
		return false;
	memory_open_process(&memory, process->pid, process->proc_fd);
	enum status status = runtime_probe(&version, process->proc_fd, &memory);
	memory_close(&memory);
	bool named = status == ST_DENIED && strstr(info.command, "python") != NULL;
	if (status != ST_OK && !named)
		return false;
	memset(to, 0, sizeof(*to));
	to->pid = process->pid;
	to->readable = status == ST_OK;
	if (status == ST_OK)
		runtime_version_text(to->python, sizeof(to->python), &version);
	to->uid = info.uid;
	snprintf(to->command, sizeof(to->command), "%.*s", (int)sizeof(to->command) - 1,
		 info.command);
	to->cpu_ns = usage.cpu_ns;
	to->rss_bytes = usage.rss_bytes;
	to->thread_count = usage.thread_count;
	to->start_time_ns = info.start_time_ns;
	return true;
}

static enum status list_pids(pid_t parent, pid_t **pids, size_t *count)
{
	if (parent == 0)
		return process_list(pids, count);
	*count = DESCENDANTS_MAX;
	*pids = alloc_zero(*count, sizeof(**pids));
	return *pids ? process_children(parent, *pids, count) : ST_NO_MEMORY;
}

enum status pytop_processes(pid_t parent, struct pytop_process **list, size_t *count)
{
	pid_t *pids = NULL;
	size_t pid_count, capacity = 0, n = 0;
	void *items = NULL;
	enum status status = list_pids(parent, &pids, &pid_count);

	for (size_t i = 0; status == ST_OK && i < pid_count; i++) {
		struct process process;
		if (pids[i] == getpid() || process_open(&process, pids[i]) != ST_OK)
			continue;
		status = alloc_grow(&items, &capacity, n + 1, PROCESSES_MAX, sizeof(**list));
		if (status == ST_OK && look_at((struct pytop_process *)items + n, &process))
			n++;
		process_close(&process);
	}
	free(pids);
	if (status != ST_OK) {
		free(items);
		return status;
	}
	*list = items;
	*count = n;
	return ST_OK;
}
