/*
 * spool_cut: the segments of a log as open files: of a kept directory here, of a live log in
 * spool_files.c.
 */
#include "record/spool_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define SEGMENTS_MAX 65536
#define SUFFIX ".pts"

void spool_cut_free(struct spool_cut *cut)
{
	for (size_t i = 0; i < cut->count; i++)
		close(cut->segments[i].fd);
	free(cut->segments);
	*cut = (struct spool_cut){ NULL, 0 };
}

/* The number of a segment's file, 0 for any other name. */
static uint32_t number_of(const char *name)
{
	char *end;
	unsigned long number;

	if (name[0] < '0' || name[0] > '9')
		return 0;
	number = strtoul(name, &end, 10);
	return strcmp(end, SUFFIX) == 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* Open one file of the directory and append it. What is no regular file is passed over. */
static enum status add_file(struct spool_cut *cut, size_t *capacity, int dir, const char *name)
{
	void *items = cut->segments;
	struct stat file;
	enum status st;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ELOOP ? ST_OK : ST_SYSTEM;
	if (fstat(fd, &file) || !S_ISREG(file.st_mode)) {
		close(fd);
		return ST_OK;
	}
	st = alloc_grow(&items, capacity, cut->count + 1, SEGMENTS_MAX, sizeof(*cut->segments));
	cut->segments = items;
	if (st != ST_OK) {
		close(fd);
		return st;
	}
	cut->segments[cut->count++] =
		(struct spool_cut_segment){ fd, (uint64_t)file.st_size, number_of(name) };
	return ST_OK;
}

static int by_number(const void *left, const void *right)
{
	const struct spool_cut_segment *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

enum status spool_cut_open(struct spool_cut *cut, const char *dir)
{
	struct spool_cut found = { NULL, 0 };
	size_t capacity = 0;
	enum status st = ST_OK;
	DIR *files = opendir(dir);
	int error = 0;

	if (!files)
		return ST_SYSTEM;
	for (struct dirent *file; st == ST_OK && (file = readdir(files));) {
		if (number_of(file->d_name))
			st = add_file(&found, &capacity, dirfd(files), file->d_name);
		error = errno;
	}
	closedir(files);
	if (st == ST_OK && !found.count)
		st = ST_SPOOL_EMPTY;
	if (st != ST_OK) {
		spool_cut_free(&found);
		errno = error;
		return st;
	}
	qsort(found.segments, found.count, sizeof(*found.segments), by_number);
	*cut = found;
	return ST_OK;
}
