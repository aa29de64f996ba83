/*
 * proc: the small text files of /proc.
 *
 * Invariant: nothing is allocated, and no parser looks beyond the slice it was given; what a file
 * says is believed only as far as it has the form that proc(5) promises, since names of threads and
 * processes in it may hold any byte. Called by process, tasks, denied and hold.
 */
#include "target/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum status proc_status(int errnum)
{
	if (errnum == ENOENT || errnum == ESRCH)
		return ST_ENDED;
	return errnum == EPERM || errnum == EACCES ? ST_DENIED : ST_SYSTEM;
}

enum status proc_reread(int fd, char *buf, size_t size, struct bytes *text)
{
	size_t done = 0;

	while (done < size - 1) {
		ssize_t n = pread(fd, buf + done, size - 1 - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return proc_status(errno);
		done += (size_t)n;
		/*
		 * A file of one record gives all there is at once; only a big one gives whole
		 * pages.
		 */
		if (n == 0 || done < 1024)
			break;
	}
	buf[done] = '\0';
	*text = (struct bytes){ (const uint8_t *)buf, done };
	return ST_OK;
}

enum status proc_read(int dir_fd, const char *name, char *buf, size_t size, struct bytes *text)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return proc_status(errno);
	enum status status = proc_reread(fd, buf, size, text);
	int saved = errno;

	close(fd);
	errno = saved;
	return status;
}

static struct bytes drop(struct bytes b, size_t n)
{
	return (struct bytes){ b.data + n, b.size - n };
}

struct bytes proc_field(struct bytes text, const char *key)
{
	size_t n = strlen(key);

	while (text.size > 0) {
		const uint8_t *newline = memchr(text.data, '\n', text.size);
		size_t line = newline ? (size_t)(newline - text.data) : text.size;

		if (line > n && memcmp(text.data, key, n) == 0 && text.data[n] == ':')
			return (struct bytes){ text.data + n + 1, line - n - 1 };
		text = drop(text, newline ? line + 1 : line);
	}
	return (struct bytes){ 0 };
}

static struct bytes skip_blanks(struct bytes text)
{
	while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
		text = drop(text, 1);
	return text;
}

bool proc_number(struct bytes *text, uint64_t *v)
{
	struct bytes left = skip_blanks(*text);
	uint64_t number = 0;
	size_t digits = 0;

	while (left.size > 0 && left.data[0] >= '0' && left.data[0] <= '9' && digits++ < 20) {
		number = number * 10 + (uint64_t)(left.data[0] - '0');
		left = drop(left, 1);
	}
	if (digits == 0)
		return false;
	*text = left;
	*v = number;
	return true;
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 32) >= 'a' && (c | 32) <= 'f')
		return (c | 32) - 'a' + 10;
	return -1;
}

bool proc_hex(struct bytes *text, uint64_t *v)
{
	struct bytes left = skip_blanks(*text);
	uint64_t number = 0;
	size_t digits = 0;

	if (left.size >= 2 && left.data[0] == '0' && (left.data[1] | 32) == 'x')
		left = drop(left, 2);
	while (left.size > 0 && hex_digit(left.data[0]) >= 0 && digits++ < 16) {
		number = number << 4 | (uint64_t)hex_digit(left.data[0]);
		left = drop(left, 1);
	}
	if (digits == 0)
		return false;
	*text = left;
	*v = number;
	return true;
}

struct bytes proc_after_name(struct bytes text)
{
	const uint8_t *close = text.size > 0 ? memrchr(text.data, ')', text.size) : NULL;

	if (!close || text.size - (size_t)(close - text.data) < 3)
		return (struct bytes){ 0 };
	return drop(text, (size_t)(close - text.data) + 2);
}
