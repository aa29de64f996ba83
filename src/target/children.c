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

/* A process, and whose it is; 0 where that cannot be told. */
struct kin {
	pid_t pid, parent, session;
	bool is_stored;
};

static void read_kin(int proc, struct kin *kin)
{
	char name[32], buf[1024];
	struct bytes text;
	struct process_stat stat;

	snprintf(name, sizeof(name), "%d/stat", (int)kin->pid);
	if (proc_read(proc, name, buf, sizeof(buf), &text) != ST_OK ||
	    !process_stat_parse(text, &stat))
		return;
	kin->parent = stat.parent;
	kin->session = stat.session;
}

/* All processes with their kin; *all is allocated. */
static enum status list_kin(struct kin **all, size_t *count)
{
	pid_t *pids = NULL;
	enum status status = process_list(&pids, count);

	if (status != ST_OK)
		return status;
	struct kin *found = alloc_zero(*count, sizeof(*found));
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (!found || proc < 0) {
		status = found ? ST_SYSTEM : ST_NO_MEMORY;
		free(found);
		found = NULL;
	}
	for (size_t i = 0; found && i < *count; i++) {
		found[i].pid = pids[i];
		read_kin(proc, &found[i]);
	}
	if (proc >= 0)
		close(proc);
	free(pids);
	if (status == ST_OK)
		*all = found;
	return status;
}

static void store(struct kin *kin, pid_t but, pid_t *to, size_t *stored)
{
	if (kin->is_stored || kin->pid == but)
		return;
	kin->is_stored = true;
	to[(*stored)++] = kin->pid;
}

enum status process_children(pid_t pid, pid_t *children, size_t *count)
{
	struct kin *all = NULL;
	size_t n = 0, stored = 0;
	enum status status = list_kin(&all, &n);

	if (status != ST_OK)
		return status;
	/* Breadth first: what is stored is the queue. At its end come those without a parent in it. */
	for (size_t next = 0; next <= stored; next++) {
		pid_t parent = next == 0 ? pid : children[next - 1];

		for (size_t i = 0; i < n && stored < *count; i++)
			if (all[i].parent == parent)
				store(&all[i], pid, children, &stored);
		for (size_t i = 0; i < n && next == stored && stored < *count; i++)
			if (all[i].session == pid)
				store(&all[i], pid, children, &stored);
	}
	*count = stored;
	free(all);
	return ST_OK;
}
