/*
 * memory: the one place where bytes of the target are read.
 *
 * A batch is one process_vm_readv(): the remote pieces in their order, the local ones merged
 * where they follow each other. The kernel copies in order and stops at the first address that it
 * cannot read, so the number of bytes it gives back says how many pieces are whole. Where the
 * call does not exist or is filtered (an old container runtime's seccomp rules) the first use
 * finds out and from then on /proc/PID/mem is read piece by piece: slower, and with the same
 * meaning.
 *
 * Invariant: nothing is allocated here and nothing is written to the target. An address is just a
 * number that came from the target: the kernel, or the search among recorded regions, checks it.
 * Called by python/ for all it reads, and by image when a file cannot be opened.
 */
#include "target/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096u /* strings are read in parts that do not cross such a border */

void memory_open_process(struct memory *m, pid_t pid, int proc_fd)
{
	*m = (struct memory){ .pid = pid, .proc_fd = proc_fd, .mem_fd = -1 };
}

void memory_open_image(struct memory *m, const struct memory_region *regions, size_t count)
{
	*m = (struct memory){
		.proc_fd = -1, .mem_fd = -1, .regions = regions, .region_count = count
	};
}

void memory_close(struct memory *m)
{
	if (m->mem_fd >= 0)
		close(m->mem_fd);
	m->mem_fd = -1;
}

/* The recorded bytes from address on, or an empty slice. */
static struct bytes find_recorded(const struct memory *m, remote_addr address)
{
	size_t low = 0;
	size_t high = m->region_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->regions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return (struct bytes){ 0 };
	const struct memory_region *region = &m->regions[low - 1];
	uint64_t into = address - region->start;

	if (into >= region->bytes.size)
		return (struct bytes){ 0 };
	return (struct bytes){ region->bytes.data + into, region->bytes.size - into };
}

/* One piece from a recorded image; regions that touch read as one. */
static bool read_recorded(struct memory *m, const struct memory_piece *piece)
{
	uint8_t *to = piece->local;
	size_t left = piece->size;
	remote_addr from = piece->remote;

	while (left > 0) {
		struct bytes bytes = find_recorded(m, from);
		size_t part = bytes.size < left ? bytes.size : left;

		if (part == 0)
			return false;
		memcpy(to, bytes.data, part);
		to += part;
		from += part;
		left -= part;
	}
	m->bytes_read += piece->size;
	return true;
}

/* What an errno of a read means; ST_FAULT: only this address is bad. */
static enum status status_of(int errnum)
{
	switch (errnum) {
	case EFAULT:
	case EIO:
	case EINVAL: /* longer than half the address space, or an address with the top bit set */
	case EOVERFLOW:
		return ST_FAULT;
	case ESRCH:
		return ST_ENDED;
	case EPERM:
	case EACCES:
		return ST_DENIED;
	case ENOMEM:
		return ST_NO_MEMORY;
	default:
		return ST_SYSTEM;
	}
}

/* One piece through /proc/PID/mem. */
static enum status read_by_file(struct memory *m, const struct memory_piece *piece)
{
	char *to = piece->local;
	size_t done = 0;

	while (done < piece->size) {
		ssize_t n = pread(m->mem_fd, to + done, piece->size - done,
				  (off_t)(piece->remote + done));

		m->calls++;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return status_of(errno);
		if (n == 0)
			return ST_ENDED; /* that address space is gone */
		done += (size_t)n;
	}
	m->bytes_read += done;
	return ST_OK;
}

/*
 * The call was refused: is /proc/PID/mem open to us? errno stays that of the call when it is not.
 */
static bool fall_back_to_file(struct memory *m)
{
	int saved = errno;

	if (m->settled || m->mem_fd >= 0 || m->proc_fd < 0)
		return false;
	if (saved != EPERM && saved != ENOSYS)
		return false;
	m->mem_fd = openat(m->proc_fd, "mem", O_RDONLY | O_CLOEXEC);
	errno = saved;
	return m->mem_fd >= 0;
}

/* How many of the pieces fit whole into n bytes. */
static size_t whole_pieces(const struct memory_piece *pieces, size_t count, size_t n)
{
	size_t i = 0;

	while (i < count && pieces[i].size <= n)
		n -= pieces[i++].size;
	return i;
}

/* At most MEMORY_PIECES_MAX pieces by one system call. */
static enum status read_by_call(struct memory *m, const struct memory_piece *pieces, size_t count,
				size_t *done)
{
	struct iovec remote[MEMORY_PIECES_MAX];
	struct iovec local[MEMORY_PIECES_MAX];
	size_t locals = 0;
	char *end = NULL;

	for (size_t i = 0; i < count; i++) {
		remote[i].iov_base = (void *)(uintptr_t)pieces[i].remote;
		remote[i].iov_len = pieces[i].size;
		if (end && end == pieces[i].local) {
			local[locals - 1].iov_len += pieces[i].size;
		} else {
			local[locals].iov_base = pieces[i].local;
			local[locals++].iov_len = pieces[i].size;
		}
		end = (char *)pieces[i].local + pieces[i].size;
	}
	ssize_t n = process_vm_readv(m->pid, local, locals, remote, count, 0);

	m->calls++;
	if (n < 0)
		return status_of(errno);
	m->settled = true;
	m->bytes_read += (size_t)n;
	*done = whole_pieces(pieces, count, (size_t)n);
	return ST_OK;
}

/*
 * One system call's worth of pieces, whatever is behind the memory; *done is set with ST_OK
 * alone.
 */
static enum status read_some(struct memory *m, const struct memory_piece *pieces, size_t count,
			     size_t *done)
{
	size_t n = 0;
	enum status status = ST_OK;

	if (m->pid == 0) {
		m->calls++;
		while (n < count && read_recorded(m, &pieces[n]))
			n++;
		*done = n;
		return ST_OK;
	}
	if (m->mem_fd < 0) {
		status = read_by_call(m, pieces, count, done);
		if ((status != ST_DENIED && status != ST_SYSTEM) || !fall_back_to_file(m))
			return status;
		status = ST_OK;
	}
	while (n < count && (status = read_by_file(m, &pieces[n])) == ST_OK)
		n++;
	if (status == ST_OK || status == ST_FAULT) {
		m->settled = true;
		*done = n;
		return ST_OK;
	}
	return status;
}

enum status memory_read_batch(struct memory *m, const struct memory_piece *pieces, size_t count,
			      size_t *done)
{
	size_t at = 0;

	while (at < count) {
		size_t part = count - at < MEMORY_PIECES_MAX ? count - at : MEMORY_PIECES_MAX;
		size_t n = 0;
		enum status status = read_some(m, pieces + at, part, &n);

		if (status != ST_OK && status != ST_FAULT)
			return status;
		at += n;
		if (n < part)
			break;
	}
	*done = at;
	return ST_OK;
}

enum status memory_read(struct memory *m, remote_addr address, void *to, size_t size)
{
	struct memory_piece piece = { .remote = address, .local = to, .size = size };
	size_t done = 0;
	enum status status = memory_read_batch(m, &piece, 1, &done);

	if (status != ST_OK)
		return status;
	return done == 1 ? ST_OK : ST_FAULT;
}

bool memory_read_u64(struct memory *m, remote_addr address, uint64_t *v)
{
	uint64_t read;

	if (memory_read(m, address, &read, sizeof(read)) != ST_OK)
		return false;
	*v = read;
	return true;
}

enum status memory_read_string(struct memory *m, remote_addr address, char *to, size_t size)
{
	size_t done = 0;

	if (size == 0)
		return ST_TOO_BIG;
	while (done < size) {
		char part[256];
		remote_addr from = address + done;
		size_t n = PAGE - (size_t)(from % PAGE);

		if (n > sizeof(part))
			n = sizeof(part);
		if (n > size - done)
			n = size - done;
		enum status status = memory_read(m, from, part, n);

		if (status != ST_OK)
			return status;
		memcpy(to + done, part, n);
		if (memchr(part, '\0', n))
			return ST_OK;
		done += n;
	}
	return ST_TOO_BIG;
}
