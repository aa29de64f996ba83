/*
 * children: which processes there are, and which descend from one.
 *
 * Invariant: what is given was true when its line was read; a process that ends meanwhile is left
 * out. Called for the picker, for a target that is not Python itself, for commands that start the
 * interpreter through others; about once a second, never in a tick.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "target/proc.h"
#include "target/process.h"

#define PROCESSES_MAX ((size_t)1 << 22) /* the kernel's own limit of pids */

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a;
	pid_t y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static enum status add_pid(void **pids, size_t *capacity, size_t *count, const char *name)
{
	if (name[0] < '1' || name[0] > '9')
		return ST_OK;
	enum status status = alloc_grow(pids, capacity, *count + 1, PROCESSES_MAX, sizeof(pid_t));

	if (status == ST_OK)
		((pid_t *)*pids)[(*count)++] = (pid_t)strtol(name, NULL, 10);
	return status;
}

enum status process_list(pid_t **pids, size_t *count)
{
	DIR *dir = opendir("/proc");
	enum status status = ST_OK;
	void *found = NULL;
	size_t capacity = 0;
	size_t n = 0;

	if (!dir)
		return ST_SYSTEM;
	for (struct dirent *entry; status == ST_OK && (entry = readdir(dir));)
		status = add_pid(&found, &capacity, &n, entry->d_name);
	closedir(dir);
	if (status != ST_OK) {
		free(found);
		return status;
	}
	if (n > 0)
		qsort(found, n, sizeof(pid_t), compare_pids);
	*pids = found;
	*count = n;
	return ST_OK;
}

static pid_t read_parent(int proc, pid_t pid)
{
	char name[32], buf[1024];
	struct bytes text;
	struct process_stat stat;

	snprintf(name, sizeof(name), "%d/stat", (int)pid);
	if (proc_read(proc, name, buf, sizeof(buf), &text) != ST_OK ||
	    !process_stat_parse(text, &stat))
		return 0;
	return stat.parent;
}

/* parents[i] is the parent of pids[i], 0 where it cannot be told. */
static enum status read_parents(const pid_t *pids, size_t count, pid_t **parents)
{
	pid_t *found = alloc_zero(count, sizeof(*found));
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (!found || proc < 0) {
		enum status status = found ? ST_SYSTEM : ST_NO_MEMORY;

		if (proc >= 0)
			close(proc);
		free(found);
		return status;
	}
	for (size_t i = 0; i < count; i++)
		found[i] = read_parent(proc, pids[i]);
	close(proc);
	*parents = found;
	return ST_OK;
}

enum status process_children(pid_t pid, pid_t *children, size_t *count)
{
	pid_t *pids = NULL, *parents = NULL;
	size_t all = 0, stored = 0;
	enum status status = process_list(&pids, &all);

	if (status == ST_OK)
		status = read_parents(pids, all, &parents);
	if (status != ST_OK) {
		free(pids);
		return status;
	}
	/*
	 * Breadth first: what is stored is the queue. Each process has one parent, so none twice.
	 */
	for (size_t next = 0; next <= stored && stored < *count; next++) {
		pid_t parent = next == 0 ? pid : children[next - 1];

		for (size_t i = 0; i < all && stored < *count; i++)
			if (parents[i] == parent && pids[i] != pid)
				children[stored++] = pids[i];
	}
	*count = stored;
	free(parents);
	free(pids);
	return ST_OK;
}
