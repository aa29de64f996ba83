/*
 * files: the target's own files (source text), opened inside the target's root only (openat2 with
 * RESOLVE_IN_ROOT on /proc/PID/root), so that an absolute symlink in a container cannot lead to a
 * file of ours.
 */
#ifndef PYTOP_TARGET_FILES_H
#define PYTOP_TARGET_FILES_H

#include <stdbool.h>

#include "base/status.h"

/*
 * Open path read-only, regular files only, never blocking on a fifo. A relative path starts at the
 * target's current directory and stays below it. ST_SYSTEM (errno kept), ST_BAD_DATA: not a regular
 * file; ST_ENDED, ST_DENIED.
 */
enum status files_open(int proc_fd, const char *path, int *fd) MUST_CHECK;

#endif
