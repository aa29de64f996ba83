/*
 * spool_files: where the batches go: one file a segment, the oldest of which goes when they are
 * too many.
 *
 * Invariant: the size kept for a segment is a whole number of blocks that are all on disk;
 * whatever a failed write left behind it is cut away. Readers get descriptors of their own and
 * that size, so a segment that is dropped stays readable for who reads it. Used by the writer's
 * thread alone.
 */
#include "record/spool_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "record/segment.h"

#define LIMIT_MAX (UINT64_C(2) << 30)
#define LIMIT_SHARE 10 /* of the free space: a tenth */
#define SEGMENT_BYTES (UINT64_C(32) << 20)
#define SEGMENT_BYTES_MIN (UINT64_C(64) << 10)
#define SEGMENTS_IN_LIMIT 8   /* so that dropping one drops little */
#define DESCRIPTORS_OTHER 128 /* what the rest of the program may have open */
#define SEGMENTS_MIN 16
#define SEGMENTS_MAX 65536
#define NAME_SIZE 16 /* "4294967295.pts" */
#define LOCK_NAME "lock"

struct file {
	int fd;
	uint32_t number;
	uint64_t size; /* whole blocks */
	nanoseconds first_tick;
};

struct spool_files {
	int dir;  /* where the segments are, named or not */
	int lock; /* -1: unnamed */
	bool named;
	bool full;
	char *place;
	uint64_t limit, bytes;
	uid_t uid;
	gid_t gid;
	struct file *files; /* oldest first; the last is written */
	size_t count, capacity;
	size_t most; /* segments that may be kept, for want of descriptors */
};

/* ---- places */

static bool in_memory(int dir)
{
	struct statfs fs;

	return fstatfs(dir, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* A file without a name in dir; -1: not here. */
static int unnamed_file(int dir)
{
	static unsigned int serial;
	char name[64];
	int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	for (int i = 0; fd < 0 && i < 100; i++) {
		snprintf(name, sizeof(name), ".pytop-%d-%u", (int)getpid(), serial++);
		fd = openat(dir, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0)
			unlinkat(dir, name, 0);
		else if (errno != EEXIST)
			break;
	}
	return fd;
}

/* Can unnamed files be made there? */
static bool try_place(struct spool_files *f, const char *path, bool asked)
{
	int dir = path && *path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int probe = dir >= 0 && (asked || !in_memory(dir)) ? unnamed_file(dir) : -1;

	if (probe < 0) {
		if (dir >= 0)
			close(dir);
		return false;
	}
	close(probe);
	f->dir = dir;
	f->place = alloc_string(path, strlen(path));
	return true;
}

static enum status open_unnamed(struct spool_files *f)
{
	if (try_place(f, getenv("TMPDIR"), true) || try_place(f, "/var/tmp", false) ||
	    try_place(f, "/tmp", false))
		return f->place ? ST_OK : ST_NO_MEMORY;
	return ST_SPOOL_PLACE;
}

/* Nothing in it but perhaps a lock that nobody holds. */
static bool is_empty(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
	bool empty = entries != NULL;

	if (!entries) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	for (struct dirent *e; empty && (e = readdir(entries));)
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
			!strcmp(e->d_name, LOCK_NAME);
	closedir(entries);
	return empty;
}

/* What is made belongs to the caller; failing that it is still a log. */
static void give_to_owner(const struct spool_files *f, int fd)
{
	if (f->uid != (uid_t)-1 && fchown(fd, f->uid, f->gid))
		return;
}

/* Only a lock that is made here is given away: one that was there may be a link to anything. */
static enum status take_lock(struct spool_files *f)
{
	const int flags = O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	bool made = true;

	f->lock = openat(f->dir, LOCK_NAME, flags | O_EXCL, 0600);
	if (f->lock < 0 && errno == EEXIST) {
		made = false;
		f->lock = openat(f->dir, LOCK_NAME, flags, 0600);
	}
	if (f->lock < 0)
		return ST_SPOOL_PLACE;
	if (flock(f->lock, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? ST_SPOOL_LOCKED : ST_SPOOL_PLACE;
	if (made)
		give_to_owner(f, f->lock);
	return ST_OK;
}

/* Whether another pytop writes there; without making anything. */
static bool is_locked(int dir)
{
	int lock = openat(dir, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool locked = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;

	if (lock >= 0)
		close(lock);
	return locked;
}

/*
 * Between making a directory and opening it somebody may put another in its place: no link is
 * followed then, and it is given away only when it is empty.
 */
static enum status open_named(struct spool_files *f, const char *path)
{
	bool made = mkdir(path, 0700) == 0;

	if (!made && errno != EEXIST)
		return ST_SPOOL_PLACE;
	f->named = true;
	f->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (made ? O_NOFOLLOW : 0));
	if (f->dir < 0)
		return ST_SPOOL_PLACE;
	f->place = alloc_string(path, strlen(path));
	if (!f->place)
		return ST_NO_MEMORY;
	if (!is_empty(f->dir))
		return is_locked(f->dir) ? ST_SPOOL_LOCKED : ST_SPOOL_NOT_EMPTY;
	if (made)
		give_to_owner(f, f->dir);
	return take_lock(f);
}

/* ---- open and close */

static uint64_t default_limit(int dir)
{
	struct statvfs fs;
	uint64_t share = LIMIT_MAX;

	if (fstatvfs(dir, &fs) == 0)
		share = (uint64_t)fs.f_bavail * fs.f_frsize / LIMIT_SHARE;
	return share < LIMIT_MAX ? share : LIMIT_MAX;
}

/* Each segment needs a descriptor here, one in a cut, and one in the cut that is made meanwhile. */
static size_t most_segments(void)
{
	struct rlimit limit;
	size_t most = SEGMENTS_MAX;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 3 < most)
		most = limit.rlim_cur > DESCRIPTORS_OTHER
			       ? (size_t)(limit.rlim_cur - DESCRIPTORS_OTHER) / 3
			       : 0;
	return most > SEGMENTS_MIN ? most : SEGMENTS_MIN;
}

enum status spool_files_open(struct spool_files **files, const char *dir, uint64_t limit_bytes,
			     uid_t owner_uid, gid_t owner_gid)
{
	struct spool_files *f = alloc_zero(1, sizeof(*f));
	enum status st;
	int error;

	if (!f)
		return ST_NO_MEMORY;
	f->dir = f->lock = -1;
	f->uid = owner_uid;
	f->gid = owner_gid;
	st = dir ? open_named(f, dir) : open_unnamed(f);
	if (st != ST_OK) {
		error = errno;
		spool_files_close(f);
		errno = error;
		return st;
	}
	f->limit = limit_bytes ? limit_bytes : default_limit(f->dir);
	f->most = most_segments();
	*files = f;
	return ST_OK;
}

void spool_files_close(struct spool_files *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++)
		close(f->files[i].fd);
	if (f->lock >= 0)
		close(f->lock);
	if (f->dir >= 0)
		close(f->dir);
	free(f->files);
	free(f->place);
	free(f);
}

/* ---- writing */

static void segment_name(char name[NAME_SIZE], uint32_t number)
{
	snprintf(name, NAME_SIZE, "%06u.pts", number);
}

static enum status new_file(struct spool_files *f, uint32_t number)
{
	void *items = f->files;
	char name[NAME_SIZE];
	enum status st =
		alloc_grow(&items, &f->capacity, f->count + 1, SEGMENTS_MAX, sizeof(*f->files));
	int fd;

	f->files = items;
	if (st != ST_OK)
		return st;
	segment_name(name, number);
	fd = f->named ? openat(f->dir, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW,
			       0600)
		      : unnamed_file(f->dir);
	if (fd < 0)
		return ST_SYSTEM;
	give_to_owner(f, fd);
	f->files[f->count++] = (struct file){ .fd = fd, .number = number };
	return ST_OK;
}

static void drop_oldest(struct spool_files *f)
{
	struct file *oldest = &f->files[0];
	char name[NAME_SIZE];

	segment_name(name, oldest->number);
	if (f->named)
		unlinkat(f->dir, name, 0);
	close(oldest->fd);
	f->bytes -= oldest->size;
	f->count--;
	memmove(f->files, f->files + 1, f->count * sizeof(*f->files));
}

/* All of data at the end of the file, or none of it. */
static enum status append(struct file *file, const uint8_t *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pwrite(file->fd, data + done, size - done, (off_t)(file->size + done));

		if (n > 0) {
			done += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			int error = n ? errno : ENOSPC;
			int cut = ftruncate(file->fd, (off_t)file->size);

			errno = error;
			return cut || (error != ENOSPC && error != EDQUOT && error != EFBIG)
				       ? ST_SYSTEM
				       : ST_SPOOL_FULL;
		}
	}
	file->size += size;
	return ST_OK;
}

enum status spool_files_write(struct spool_files *f, const struct spool_batch *batch)
{
	enum status st = ST_OK;
	struct file *file;

	if (f->full)
		return ST_SPOOL_FULL;
	if (!f->count || f->files[f->count - 1].number != batch->segment)
		st = new_file(f, batch->segment);
	if (st == ST_OK) {
		file = &f->files[f->count - 1];
		st = append(file, batch->data.data, batch->data.size);
	}
	if (st != ST_OK) {
		f->full = true;
		return st == ST_SYSTEM && (errno == ENOSPC || errno == EDQUOT) ? ST_SPOOL_FULL : st;
	}
	if (!file->first_tick)
		file->first_tick = batch->first_tick;
	f->bytes += batch->data.size;
	while (f->count > 1 && (f->bytes > f->limit || f->count > f->most))
		drop_oldest(f);
	return ST_OK;
}

/* ---- reading */

enum status spool_files_cut(struct spool_files *f, struct spool_cut *cut)
{
	struct spool_cut made = { alloc_zero(f->count, sizeof(*made.segments)), 0 };

	if (!made.segments)
		return ST_NO_MEMORY;
	for (size_t i = 0; i < f->count; i++) {
		int fd = fcntl(f->files[i].fd, F_DUPFD_CLOEXEC, 3);

		if (fd < 0) {
			int error = errno;

			spool_cut_free(&made);
			errno = error;
			return ST_SYSTEM;
		}
		made.segments[made.count++] =
			(struct spool_cut_segment){ fd, f->files[i].size, f->files[i].number };
	}
	*cut = made;
	return ST_OK;
}

uint64_t spool_files_segment_bytes(const struct spool_files *f)
{
	uint64_t bytes = f->limit / SEGMENTS_IN_LIMIT;

	if (bytes > SEGMENT_BYTES)
		return SEGMENT_BYTES;
	return bytes > SEGMENT_BYTES_MIN ? bytes : SEGMENT_BYTES_MIN;
}

uint64_t spool_files_bytes(const struct spool_files *f)
{
	return f->bytes;
}

nanoseconds spool_files_first_tick(const struct spool_files *f)
{
	return f->count ? f->files[0].first_tick : 0;
}

const char *spool_files_place(const struct spool_files *f)
{
	return f->place;
}

/* ---- keeping what has no name */

/* Make path and what leads to it, as far as it does not exist. */
static enum status make_path(const char *path)
{
	char *copy = alloc_string(path, strlen(path));
	enum status st = ST_OK;

	if (!copy)
		return ST_NO_MEMORY;
	for (char *at = copy + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		mkdir(copy, 0700);
		*at = '/';
	}
	if (mkdir(copy, 0700) && errno != EEXIST)
		st = ST_SYSTEM;
	free(copy);
	return st;
}

/* Copy from one file to another; what is behind size is left out. */
static enum status copy_file(int from, int to, uint64_t size)
{
	static char chunk[64 << 10];
	uint64_t at = 0;

	while (at < size) {
		size_t want = size - at < sizeof(chunk) ? (size_t)(size - at) : sizeof(chunk);
		ssize_t n = pread(from, chunk, want, (off_t)at);

		if (n <= 0)
			return ST_SYSTEM;
		if (pwrite(to, chunk, (size_t)n, (off_t)at) != n)
			return ST_SYSTEM;
		at += (uint64_t)n;
	}
	return ST_OK;
}

static enum status keep_file(const struct spool_files *f, const struct file *file, int dir)
{
	char name[NAME_SIZE], from[32];
	enum status st;
	int to;

	segment_name(name, file->number);
	snprintf(from, sizeof(from), "/dev/fd/%d", file->fd);
	if (linkat(AT_FDCWD, from, dir, name, AT_SYMLINK_FOLLOW) == 0)
		return ST_OK;
	to = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (to < 0)
		return ST_SYSTEM;
	st = copy_file(file->fd, to, file->size);
	give_to_owner(f, to);
	close(to);
	return st;
}

enum status spool_files_keep(struct spool_files *f, const char *keep_in, char *path, size_t size)
{
	char *made = alloc_format("%s/log-XXXXXX", keep_in);
	enum status st = made ? make_path(keep_in) : ST_NO_MEMORY;
	int dir = -1;

	if (st == ST_OK && !mkdtemp(made))
		st = ST_SYSTEM;
	if (st == ST_OK && (dir = open(made, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		st = ST_SYSTEM;
	if (dir >= 0)
		give_to_owner(f, dir);
	for (size_t i = 0; i < f->count && st == ST_OK; i++)
		st = keep_file(f, &f->files[i], dir);
	if (st == ST_OK)
		snprintf(path, size, "%s", made);
	if (dir >= 0)
		close(dir);
	free(made);
	return st;
}
