/*
 * files: the target's files, for source text and for libraries that it has mapped.
 *
 * Invariant: no link of the target leads out of the target's root, and only a regular file is ever
 * opened for reading: it is looked at first through a descriptor that opens nothing (a device or a
 * fifo may act on being opened). Where the kernel has no openat2 the path is walked by hand, and a
 * link in it is refused, unless the target shares our root. Called by the screen and by image.
 */
#include "target/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/proc.h"

/* A descriptor (O_PATH) of path below base, which counts as the root; -1 and errno. */
static int resolve_in_root(int base, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, base, path, &how, sizeof(how));
}

static bool has_our_root(int base)
{
	struct stat ours, theirs;

	return stat("/", &ours) == 0 && fstat(base, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

/* The next part of a path into name; false: it ends. Parts that are too long come out empty. */
static bool next_part(const char **path, char *name, size_t size)
{
	*path += strspn(*path, "/");
	size_t n = strcspn(*path, "/");

	if (n == 0)
		return false;
	snprintf(name, size, "%.*s", n < size ? (int)n : 0, *path);
	*path += n;
	return true;
}

/* The same by hand: no links, no "..". */
static int walk(int base, const char *path)
{
	char name[256];
	int at = fcntl(base, F_DUPFD_CLOEXEC, 0);

	while (at >= 0 && next_part(&path, name, sizeof(name))) {
		struct stat st;
		int next = -1;

		errno = ELOOP;
		if (strcmp(name, "..") != 0)
			next = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next >= 0 && fstat(next, &st) == 0 && S_ISLNK(st.st_mode)) {
			close(next);
			next = -1;
			errno = ELOOP;
		}
		int saved = errno;

		close(at);
		errno = saved;
		at = next;
	}
	return at;
}

static int resolve(int base, const char *path)
{
	int fd = resolve_in_root(base, path);

	/* Too old a kernel, or a filter of system calls that does not know the call. */
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	if (path[0] == '/' && has_our_root(base))
		return open(path, O_PATH | O_CLOEXEC);
	return walk(base, path);
}

/* Open for reading what a descriptor (O_PATH) stands for. */
static enum status open_regular(int found, int *fd)
{
	char name[64];
	struct stat st;

	if (fstat(found, &st) != 0)
		return ST_SYSTEM;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return ST_BAD_DATA;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	int opened = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (opened < 0)
		return ST_SYSTEM;
	*fd = opened;
	return ST_OK;
}

enum status files_open(int proc_fd, const char *path, int *fd)
{
	int base =
		openat(proc_fd, path[0] == '/' ? "root" : "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (base < 0)
		return proc_status(errno);
	int found = resolve(base, path);
	int saved = errno;

	close(base);
	errno = saved;
	if (found < 0)
		return ST_SYSTEM;
	enum status status = open_regular(found, fd);

	saved = errno;
	close(found);
	errno = saved;
	return status;
}
