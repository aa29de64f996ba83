/*
 * keep: the log of a pytop whose terminal was lost gets a name below the user's state directory, and the next pytop says
 * so, once.
 */
#include "front.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* $XDG_STATE_HOME/pytop, or ~/.local/state/pytop. */
static enum status state_directory(char *path, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = state && state[0] == '/' ? snprintf(path, size, "%s/pytop", state)
		: home                   ? snprintf(path, size, "%s/.local/state/pytop", home)
					 : -1;

	return n < 0 || (size_t)n >= size ? ST_NOWHERE_TO_WRITE : ST_OK;
}

static enum status make_directory(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST ? ST_OK : ST_CANNOT_WRITE;
}

enum status pytop_keep_log(struct pytop *p, char *path, size_t size)
{
	char state[4096];

	if (!p->log)
		return ST_NO_LOG;
	pytop_stop(p);
	enum status status = state_directory(state, sizeof(state));
	if (status == ST_OK)
		status = make_directory(state);
	return status == ST_OK ? log_keep(p->log, state, path, size) : status;
}

#define TOLD ".told" /* an empty file in a log's directory: its user was told that it is there */

/* Is it a log that was not told of? Marks it; one that cannot be marked is left alone. */
static bool is_news(const char *path)
{
	int directory = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int mark = directory >= 0
			   ? openat(directory, TOLD, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)
			   : -1;

	if (directory >= 0)
		close(directory);
	if (mark >= 0)
		close(mark);
	return mark >= 0;
}

size_t pytop_kept_logs(char *newest, size_t size)
{
	char state[4096], path[4096 + 300];
	size_t count = 0;
	time_t newest_time = 0;

	newest[0] = '\0';
	DIR *directory = state_directory(state, sizeof(state)) == ST_OK ? opendir(state) : NULL;
	if (!directory)
		return 0;
	for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		struct stat is;
		snprintf(path, sizeof(path), "%s/%s", state, entry->d_name);
		if (entry->d_name[0] == '.' || stat(path, &is) != 0 || !is_news(path))
			continue;
		count++;
		if (is.st_mtime >= newest_time) {
			newest_time = is.st_mtime;
			snprintf(newest, size, "%s", path);
		}
	}
	closedir(directory);
	return count;
}
