/*
 * sink: a file that appears whole or not at all.
 *
 * Invariant: until sink_commit() has succeeded the path is what it was before. The file has no name
 * until it is complete, so that nothing is left of it however pytop dies; where the file system
 * cannot do that, it is there as a .part. The folder is known by its descriptor, so neither a change
 * of the working directory nor a renamed folder leads elsewhere. Every failure keeps errno for the
 * sentence.
 *
 * Called by export_write() alone; the formats see sink_write() and sink_json().
 */
#include "export/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"

#define OUT_SIZE 65536
#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, in a gzip wrapper */
#define TEMPORARY_TRIES 100
#define LINKS_MAX 40 /* of a chain, as the kernel has it */

struct export_sink {
	int fd, folder;     /* folder: -1 when written straight */
	bool unnamed;       /* until it is complete */
	char temporary[64]; /* name in the folder; "": it has none */
	char *name;         /* final name in the folder */
	bool gzip;
	z_stream z;
	uint64_t bytes;
	size_t used;
	unsigned char out[OUT_SIZE];
};

static enum status cannot(int errnum)
{
	errno = errnum;
	return ST_CANNOT_WRITE;
}

/* What is there but no regular file is written straight. */
static bool is_special(const char *path)
{
	struct stat old;

	return !stat(path, &old) && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode);
}

static enum status open_straight(struct export_sink *s, const char *path)
{
	if (!strcmp(path, "-"))
		s->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		s->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return s->fd < 0 ? ST_CANNOT_WRITE : ST_OK;
}

/* The folder of path (in the one before), and the name in it. */
static enum status open_folder(struct export_sink *s, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t length = slash ? (size_t)(slash - path) : 0;
	char *folder, *name;
	int before = s->folder, fd = -1;

	if (!*base || !strcmp(base, ".") || !strcmp(base, ".."))
		return cannot(EISDIR);
	folder = length ? alloc_string(path, length) : alloc_string(slash ? "/" : ".", 1);
	name = alloc_string(base, strlen(base));
	if (folder && name)
		fd = openat(before >= 0 ? before : AT_FDCWD, folder,
			    O_PATH | O_DIRECTORY | O_CLOEXEC);
	else
		errno = ENOMEM;
	free(folder);
	if (fd < 0) {
		free(name);
		return ST_CANNOT_WRITE;
	}
	if (before >= 0)
		close(before);
	free(s->name);
	s->folder = fd;
	s->name = name;
	return ST_OK;
}

/*
 * As the kernel does with fs.protected_symlinks: in a folder where everybody may leave a link, only
 * our own are followed, and those of the folder's owner.
 */
static bool may_follow(const struct export_sink *s, const struct stat *link, uid_t owner_uid)
{
	struct stat folder;

	if (fstat(s->folder, &folder))
		return false;
	if (!(folder.st_mode & S_ISVTX) || !(folder.st_mode & S_IWOTH))
		return true;
	return link->st_uid == geteuid() || link->st_uid == owner_uid ||
	       link->st_uid == folder.st_uid;
}

/* To the file that a chain of symbolic links means, which may not be there yet. */
static enum status follow_links(struct export_sink *s, uid_t owner_uid)
{
	for (int i = 0; i < LINKS_MAX; i++) {
		char path[4096];
		struct stat st;

		if (fstatat(s->folder, s->name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(st.st_mode))
			return ST_OK;
		if (!may_follow(s, &st, owner_uid))
			return cannot(EACCES);
		ssize_t n = readlinkat(s->folder, s->name, path, sizeof(path));

		if (n <= 0 || n == (ssize_t)sizeof(path))
			return n < 0 ? ST_CANNOT_WRITE : cannot(ENAMETOOLONG);
		path[n] = '\0';
		enum status status = open_folder(s, path);

		if (status != ST_OK)
			return status;
	}
	return cannot(ELOOP);
}

/* Try names until one is free: make() gives 0, or -1 with errno. */
static int find_free_name(struct export_sink *s, int (*make)(struct export_sink *s))
{
	int result = -1;

	for (unsigned i = 0; i < TEMPORARY_TRIES; i++) {
		snprintf(s->temporary, sizeof(s->temporary), ".pytop-%ld-%u.part", (long)getpid(),
			 i);
		result = make(s);
		if (!result || errno != EEXIST)
			break;
	}
	if (result)
		s->temporary[0] = '\0';
	return result;
}

static int create(struct export_sink *s)
{
	s->fd = openat(s->folder, s->temporary,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return s->fd < 0 ? -1 : 0;
}

static int link_as(const struct export_sink *s, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/fd/%d", s->fd);
	return linkat(AT_FDCWD, path, s->folder, name, AT_SYMLINK_FOLLOW);
}

static int link_temporary(struct export_sink *s)
{
	return link_as(s, s->temporary);
}

static enum status open_temporary(struct export_sink *s)
{
	if (access("/dev/fd", X_OK) == 0) /* through which it gets its name */
		s->fd = openat(s->folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
	s->unnamed = s->fd >= 0;
	if (s->unnamed || !find_free_name(s, create))
		return ST_OK;
	return ST_CANNOT_WRITE;
}

/* The owner asked for, and the permissions of the file that is to be replaced. */
static enum status dress(struct export_sink *s, uid_t uid, gid_t gid)
{
	struct stat old;

	if (!fstatat(s->folder, s->name, &old, AT_SYMLINK_NOFOLLOW)) {
		if (S_ISDIR(old.st_mode))
			return cannot(EISDIR);
		if (S_ISREG(old.st_mode) && fchmod(s->fd, old.st_mode & 0777))
			return ST_CANNOT_WRITE;
	}
	if ((uid != (uid_t)-1 || gid != (gid_t)-1) && fchown(s->fd, uid, gid))
		return ST_CANNOT_WRITE;
	return ST_OK;
}

static enum status open_beside(struct export_sink *s, const char *path, uid_t uid, gid_t gid)
{
	enum status status = open_folder(s, path);

	if (status == ST_OK)
		status = follow_links(s, uid);
	if (status == ST_OK)
		status = open_temporary(s);
	if (status == ST_OK)
		status = dress(s, uid, gid);
	return status;
}

static bool ends_in_gz(const char *path)
{
	size_t n = strlen(path);

	return n > 3 && !strcmp(path + n - 3, ".gz");
}

enum status sink_open(struct export_sink **sink, const char *path, uid_t owner_uid, gid_t owner_gid)
{
	struct export_sink *s = calloc(1, sizeof(*s));
	enum status status;

	if (!s)
		return ST_NO_MEMORY;
	s->fd = s->folder = -1;
	if (!strcmp(path, "-") || is_special(path))
		status = open_straight(s, path);
	else
		status = open_beside(s, path, owner_uid, owner_gid);
	if (status == ST_OK && ends_in_gz(path)) {
		s->gzip = deflateInit2(&s->z, 1, Z_DEFLATED, GZIP_WINDOW, 9, Z_DEFAULT_STRATEGY) ==
			  Z_OK;
		if (!s->gzip)
			status = ST_NO_MEMORY;
	}
	if (status != ST_OK) {
		sink_abandon(s);
		return status;
	}
	*sink = s;
	return ST_OK;
}

/* Write out[0..used). */
static enum status drain(struct export_sink *s)
{
	for (size_t at = 0; at < s->used;) {
		ssize_t n = write(s->fd, s->out + at, s->used - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? ST_CANNOT_WRITE : cannot(EIO);
		at += (size_t)n;
		s->bytes += (uint64_t)n;
	}
	s->used = 0;
	return ST_OK;
}

/* Feed what z has as input; with Z_FINISH until the end of the member is out. */
static enum status squeeze(struct export_sink *s, int flush)
{
	for (;;) {
		int result;

		s->z.next_out = s->out + s->used;
		s->z.avail_out = (uInt)(OUT_SIZE - s->used);
		result = deflate(&s->z, flush);
		s->used = OUT_SIZE - s->z.avail_out;
		if (result == Z_STREAM_ERROR)
			return cannot(EIO);
		if (result == Z_STREAM_END || (s->z.avail_out && flush == Z_NO_FLUSH))
			return ST_OK;
		enum status status = drain(s);

		if (status != ST_OK)
			return status;
	}
}

static enum status write_plain(struct export_sink *s, const unsigned char *data, size_t size)
{
	while (size) {
		size_t room = OUT_SIZE - s->used, part = size < room ? size : room;

		memcpy(s->out + s->used, data, part);
		s->used += part;
		data += part;
		size -= part;
		if (s->used == OUT_SIZE) {
			enum status status = drain(s);

			if (status != ST_OK)
				return status;
		}
	}
	return ST_OK;
}

enum status sink_write(struct export_sink *sink, const void *data, size_t size)
{
	const unsigned char *at = data;

	if (!sink->gzip)
		return write_plain(sink, at, size);
	while (size) {
		size_t part = size < OUT_SIZE ? size : OUT_SIZE;
		enum status status;

		sink->z.next_in = (z_const Bytef *)(uintptr_t)at;
		sink->z.avail_in = (uInt)part;
		status = squeeze(sink, Z_NO_FLUSH);
		if (status != ST_OK)
			return status;
		at += part;
		size -= part;
	}
	return ST_OK;
}

enum status sink_json(void *context, const char *text, size_t size)
{
	struct export_sink *sink = context;

	return sink_write(sink, text, size);
}

/* The complete file gets its name, in place of what had it. */
static enum status give_name(struct export_sink *s)
{
	if (s->unnamed) {
		if (!link_as(s, s->name))
			return ST_OK;
		if (errno != EEXIST || find_free_name(s, link_temporary))
			return ST_CANNOT_WRITE;
	}
	if (renameat(s->folder, s->temporary, s->folder, s->name))
		return ST_CANNOT_WRITE;
	s->temporary[0] = '\0';
	return ST_OK;
}

/* Everything is on the disk and under its own name. */
static enum status settle(struct export_sink *s)
{
	enum status status = ST_OK;

	/* A pipe or a terminal cannot be flushed to a disk, and need not be. */
	if (s->folder >= 0 && fsync(s->fd) && errno != EINVAL)
		return ST_CANNOT_WRITE;
	if (s->folder >= 0)
		status = give_name(s);
	int fd = s->fd;

	s->fd = -1;
	if (close(fd) && errno != EINTR && s->folder < 0)
		return ST_CANNOT_WRITE;
	return status;
}

enum status sink_commit(struct export_sink *sink, uint64_t *bytes)
{
	enum status status = ST_OK;

	if (sink->gzip)
		status = squeeze(sink, Z_FINISH);
	if (status == ST_OK)
		status = drain(sink);
	if (status == ST_OK)
		status = settle(sink);
	if (status == ST_OK)
		*bytes = sink->bytes;
	sink_abandon(sink);
	return status;
}

void sink_abandon(struct export_sink *sink)
{
	int kept = errno;

	if (!sink)
		return;
	if (sink->gzip)
		deflateEnd(&sink->z);
	if (sink->fd >= 0)
		close(sink->fd);
	if (sink->temporary[0])
		unlinkat(sink->folder, sink->temporary, 0);
	if (sink->folder >= 0)
		close(sink->folder);
	free(sink->name);
	free(sink);
	errno = kept;
}
