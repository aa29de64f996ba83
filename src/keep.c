/*
 * keep: the log of a pytop whose terminal was lost gets a name below the user's state directory, and the next pytop says so.
 */
#include "front.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
		if (entry->d_name[0] == '.' || stat(path, &is) != 0 || !S_ISDIR(is.st_mode))
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
