/*
 * memory: reading the target's memory: one piece, or many in one system call.
 *
 * Behind it is a process (process_vm_readv, or /proc/PID/mem where that call is refused) or a
 * recorded image (tests, fuzzers). Nothing is ever written.
 */
#ifndef PYTOP_TARGET_MEMORY_H
#define PYTOP_TARGET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/bytes.h"
#include "base/status.h"

typedef uint64_t remote_addr;

#define MEMORY_PIECES_MAX 1024 /* IOV_MAX: pieces of one system call */

/* One region of a recorded image. */
struct memory_region {
	remote_addr start;
	struct bytes bytes;
};

struct memory {
	pid_t pid;                           /* 0: a recorded image */
	int proc_fd;                         /* borrowed; used when the call is refused */
	int mem_fd;                          /* /proc/PID/mem once the call was refused, else -1 */
	bool settled;                        /* a read succeeded: the way of reading is decided */
	const struct memory_region *regions; /* ascending, borrowed */
	size_t region_count;
	uint64_t calls, bytes_read; /* for the bench */
};

/* Opens nothing yet and cannot fail; proc_fd is the directory /proc/PID and stays the caller's. */
void memory_open_process(struct memory *m, pid_t pid, int proc_fd);
/* Regions must not overlap; regions and bytes stay the caller's. */
void memory_open_image(struct memory *m, const struct memory_region *regions, size_t count);
void memory_close(struct memory *m);

/* Read exactly size bytes. ST_FAULT, ST_ENDED (ESRCH), ST_DENIED (EPERM/EACCES, errno kept). */
enum status memory_read(struct memory *m, remote_addr address, void *to, size_t size) MUST_CHECK;

/* false: could not be read, *v untouched. */
bool memory_read_u64(struct memory *m, remote_addr address, uint64_t *v);

/* A piece of a batch: size bytes at remote go to local. */
struct memory_piece {
	remote_addr remote;
	void *local;
	size_t size;
};

/*
 * Read many pieces, copied in order, in as few system calls as possible (one for <=
 * MEMORY_PIECES_MAX). *done: how many pieces were read whole; the piece after these could not be
 * read (the caller decides what becomes of the rest: usually it goes on after the bad one). ST_OK
 * also when *done < count because of a fault; ST_ENDED, ST_DENIED otherwise. Local iovecs are
 * merged by the kernel call's rule of equal total length.
 */
enum status memory_read_batch(struct memory *m, const struct memory_piece *pieces, size_t count,
			      size_t *done) MUST_CHECK;

/*
 * A NUL-terminated string of at most size - 1 bytes; ST_TOO_BIG when it is longer. to is scratch on
 * failure.
 */
enum status memory_read_string(struct memory *m, remote_addr address, char *to,
			       size_t size) MUST_CHECK;

#endif
