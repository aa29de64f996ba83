/*
 * maps: what is mapped where in the target, parsed from the text of /proc/PID/maps.
 *
 * Invariant: the items ascend and do not overlap, each has start < end, and every path is a string
 * inside the one block that struct maps owns; neighbours with the same path share it. The text is
 * not trusted: a line that does not hold together is skipped. Called by image and by python/ when
 * it looks for the interpreter; never in a tick.
 */
#include "target/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "target/proc.h"

#define TEXT_LIMIT ((size_t)96 << 20) /* bytes of /proc/PID/maps that are read */
#define READ_SIZE 65536

/* What is left of a line. */
struct line {
	const char *at;
	const char *end;
};

uint32_t maps_device(unsigned major, unsigned minor)
{
	return major << 20 | (minor & 0xfffff);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return 99;
}

/* A number in this base, which the character `after` must follow; both are consumed. */
static bool take_number(struct line *line, int base, char after, uint64_t *v)
{
	const char *at = line->at;
	uint64_t number = 0;

	while (at < line->end && digit(*at) < base && at - line->at < 20)
		number = number * (uint64_t)base + (uint64_t)digit(*at++);
	if (at == line->at || at == line->end || *at != after)
		return false;
	line->at = at + 1;
	*v = number;
	return true;
}

static bool take_permissions(struct line *line, struct mapping *m)
{
	if (line->end - line->at < 5 || line->at[4] != ' ')
		return false;
	m->readable = line->at[0] == 'r';
	m->writable = line->at[1] == 'w';
	m->executable = line->at[2] == 'x';
	m->shared = line->at[3] == 's';
	line->at += 5;
	return true;
}

/* All but the path: "55d1-55d3 r-xp 00000000 fe:01 1234   /path"; the inode may end the line. */
static bool take_fixed(struct line *line, struct mapping *m)
{
	uint64_t major, minor;

	if (!take_number(line, 16, '-', &m->start) || !take_number(line, 16, ' ', &m->end) ||
	    !take_permissions(line, m) || !take_number(line, 16, ' ', &m->offset) ||
	    !take_number(line, 16, ':', &major) || !take_number(line, 16, ' ', &minor) ||
	    m->start >= m->end)
		return false;
	m->device = maps_device((unsigned)major, (unsigned)minor);
	if (!take_number(line, 10, ' ', &m->inode)) {
		uint64_t inode = 0;

		while (line->at < line->end && digit(*line->at) < 10)
			inode = inode * 10 + (uint64_t)digit(*line->at++);
		m->inode = inode;
	}
	while (line->at < line->end && *line->at == ' ')
		line->at++;
	return true;
}

/* Copy the path with "\012" made a newline again; returns where the copy ends, past its NUL. */
static char *copy_path(char *to, struct line line)
{
	while (line.at < line.end) {
		if (line.end - line.at >= 4 && memcmp(line.at, "\\012", 4) == 0) {
			*to++ = '\n';
			line.at += 4;
		} else {
			*to++ = *line.at++;
		}
	}
	*to++ = '\0';
	return to;
}

/* Put the rest of the line behind used as m's path; returns the new end of what is used. */
static char *take_path(char *used, struct line line, struct mapping *m,
		       const struct mapping *before)
{
	static const char deleted[] = " (deleted)";
	size_t tail = sizeof(deleted) - 1;

	if (m->inode != 0 && (size_t)(line.end - line.at) > tail &&
	    memcmp(line.end - tail, deleted, tail) == 0) {
		m->deleted = true;
		line.end -= tail;
	}
	char *end = copy_path(used, line);

	m->path = used;
	if (before && strcmp(before->path, used) == 0)
		m->path = before->path;
	return m->path == used ? end : used;
}

static size_t count_lines(struct bytes text)
{
	size_t n = 1;

	for (size_t i = 0; i < text.size; i++)
		n += text.data[i] == '\n';
	return n < MAPS_LIMIT ? n : MAPS_LIMIT;
}

static void parse_lines(struct maps *maps, struct bytes text, size_t limit)
{
	const char *at = (const char *)text.data;
	const char *end = at + text.size;
	char *used = maps->paths;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct line line = { at, newline ? newline : end };
		struct mapping m = { 0 };
		const struct mapping *before =
			maps->count > 0 ? &maps->items[maps->count - 1] : NULL;

		at = newline ? newline + 1 : end;
		if (!take_fixed(&line, &m) || (before && m.start < before->end))
			continue;
		if (maps->count == limit) {
			maps->truncated = true;
			return;
		}
		used = take_path(used, line, &m, before);
		maps->items[maps->count++] = m;
	}
}

enum status maps_parse(struct maps *maps, struct bytes text)
{
	size_t limit = count_lines(text);
	struct maps parsed = { 0 };

	parsed.items = alloc_zero(limit, sizeof(*parsed.items));
	parsed.paths = alloc_zero(text.size + 1, 1); /* a path's NUL takes the newline's place */
	if (!parsed.items || !parsed.paths) {
		maps_free(&parsed);
		return ST_NO_MEMORY;
	}
	if (text.size > 0)
		parse_lines(&parsed, text, limit);
	*maps = parsed;
	return ST_OK;
}

/* The whole text of an open file, at most TEXT_LIMIT bytes of it. */
static enum status read_text(int fd, void **text, size_t *size, bool *cut)
{
	size_t capacity = 0;

	for (;;) {
		if (*size + READ_SIZE > TEXT_LIMIT) {
			*cut = true;
			return ST_OK;
		}
		enum status status = alloc_grow(text, &capacity, *size + READ_SIZE, TEXT_LIMIT, 1);

		if (status != ST_OK)
			return status;
		ssize_t n = read(fd, (char *)*text + *size, READ_SIZE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return proc_status(errno);
		if (n == 0)
			return ST_OK;
		*size += (size_t)n;
	}
}

enum status maps_read(struct maps *maps, int proc_fd)
{
	int fd = openat(proc_fd, "maps", O_RDONLY | O_CLOEXEC);
	void *text = NULL;
	size_t size = 0;
	bool cut = false;

	if (fd < 0)
		return proc_status(errno);
	enum status status = read_text(fd, &text, &size, &cut);
	int saved = errno;

	close(fd);
	if (status == ST_OK)
		status = maps_parse(maps, (struct bytes){ text, size });
	if (status == ST_OK)
		maps->truncated |= cut;
	free(text);
	errno = saved;
	return status;
}

void maps_free(struct maps *maps)
{
	free(maps->items);
	free(maps->paths);
	*maps = (struct maps){ 0 };
}

const struct mapping *maps_find(const struct maps *maps, uint64_t address)
{
	size_t low = 0;
	size_t high = maps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == maps->count || address < maps->items[low].start)
		return NULL;
	return &maps->items[low];
}
