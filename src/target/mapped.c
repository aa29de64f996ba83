/*
 * mapped: from the mappings of the target to its ELF files, and to the very bytes behind them.
 *
 * Invariant: a file is never trusted by its name. It is the mapped one because the kernel opens it
 * as such, or because device and inode agree, or because its first page, with headers, program
 * headers and build id, is byte for byte what the target has in memory (some file systems show
 * other numbers in maps than in stat). Called by python/ through image_files and image_open.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "target/files.h"
#include "target/image.h"

#define FIRST_PAGE 4096

static bool same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->device == b->device;
}

/* The lowest mapping of the group around one: backwards while the file is the same. */
static const struct mapping *group_start(const struct maps *maps, const struct mapping *m)
{
	while (m > maps->items && same_file(m - 1, m) && m[-1].offset <= m->offset)
		m--;
	return m;
}

/* The mapping's file is known by device and inode, or by its path where those are told apart. */
static bool is_file(const struct mapping *m, const struct stat *st, const char *path)
{
	if (m->inode == st->st_ino &&
	    m->device == maps_device(major(st->st_dev), minor(st->st_dev)))
		return true;
	return path[0] == '/' && strcmp(m->path, path) == 0;
}

/* The first mapping of the program's own file, or NULL. */
static const struct mapping *find_exe(const struct maps *maps, int proc_fd)
{
	static const char deleted[] = " (deleted)";
	char path[4096];
	struct stat st;
	ssize_t n = readlinkat(proc_fd, "exe", path, sizeof(path) - 1);

	if (n < 0 || fstatat(proc_fd, "exe", &st, 0) != 0)
		return NULL;
	path[n] = '\0';
	size_t tail = sizeof(deleted) - 1;

	if ((size_t)n > tail && strcmp(path + n - tail, deleted) == 0)
		path[(size_t)n - tail] = '\0';
	for (size_t i = 0; i < maps->count; i++)
		if (maps->items[i].inode != 0 && is_file(&maps->items[i], &st, path))
			return &maps->items[i];
	return NULL;
}

static bool is_listed(const struct image_file *files, size_t count, const struct mapping *m)
{
	for (size_t i = count; i > 0; i--)
		if (same_file(files[i - 1].first, m))
			return true;
	return false;
}

enum status image_files(const struct maps *maps, int proc_fd, struct image_file **files,
			size_t *count)
{
	const struct mapping *exe = find_exe(maps, proc_fd);
	void *found = NULL;
	size_t capacity = 0;
	size_t n = 0;

	for (size_t i = 0; i <= maps->count && n < IMAGE_FILES_MAX; i++) {
		const struct mapping *m = i == 0 ? exe : &maps->items[i - 1];

		if (!m || m->inode == 0 || (i > 0 && !m->executable) || is_listed(found, n, m))
			continue;
		enum status status = alloc_grow(&found, &capacity, n + 1, IMAGE_FILES_MAX,
						sizeof(struct image_file));

		if (status != ST_OK) {
			free(found);
			return status;
		}
		((struct image_file *)found)[n++] =
			(struct image_file){ .first = i == 0 ? m : group_start(maps, m),
					     .path = m->path,
					     .is_exe = i == 0 };
	}
	*files = found;
	*count = n;
	return ST_OK;
}

/* Open a link of /proc that leads to a regular file; -1: not allowed, or another kind. */
static int open_link(int proc_fd, const char *name)
{
	struct stat st;

	if (fstatat(proc_fd, name, &st, 0) != 0 || !S_ISREG(st.st_mode))
		return -1;
	return openat(proc_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Is the file's first page what the target has in memory at the file's beginning? */
static bool same_first_page(int fd, const struct mapping *m, struct memory *memory)
{
	char ours[FIRST_PAGE], theirs[FIRST_PAGE];

	if (m->offset != 0 || m->end - m->start < FIRST_PAGE)
		return false;
	if (pread(fd, ours, sizeof(ours), 0) != sizeof(ours) ||
	    memory_read(memory, m->start, theirs, sizeof(theirs)) != ST_OK)
		return false;
	return memcmp(ours, theirs, sizeof(ours)) == 0;
}

/* The file of that path in the target's root, when it still is the mapped one; or -1. */
static int open_path(const struct image_file *file, int proc_fd, struct memory *memory)
{
	struct stat st;
	int fd;

	if (file->first->deleted || files_open(proc_fd, file->path, &fd) != ST_OK)
		return -1;
	if (fstat(fd, &st) == 0 &&
	    (is_file(file->first, &st, "") || same_first_page(fd, file->first, memory)))
		return fd;
	close(fd);
	return -1;
}

static int open_mapped(const struct image_file *file, int proc_fd, struct memory *memory)
{
	char name[64];

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, file->first->start,
		 file->first->end);
	int fd = open_link(proc_fd, name);

	if (fd < 0 && file->is_exe)
		fd = open_link(proc_fd, "exe");
	return fd >= 0 ? fd : open_path(file, proc_fd, memory);
}

enum status image_open(struct image **image, const struct image_file *file, const struct maps *maps,
		       int proc_fd, struct memory *memory)
{
	struct image *opened;
	int fd = open_mapped(file, proc_fd, memory);

	if (fd < 0) {
		if (file->first->offset != 0)
			return ST_BAD_DATA;
		return image_open_memory(image, memory, file->first->start);
	}
	enum status status = image_open_fd(&opened, fd);

	if (status != ST_OK) {
		close(fd);
		return status;
	}
	status = image_set_bias(opened, file, maps);
	if (status == ST_OK)
		*image = opened;
	else
		image_close(opened);
	return status;
}
