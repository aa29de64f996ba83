/*
 * sink: the file an export is written to, whole or not at all.
 *
 * It has no name (O_TMPFILE; where there is no such thing, another one beside its own, O_EXCL) until
 * it is complete and flushed, so an existing file stays as it was until then; its permissions are
 * kept. A symbolic link stays, and the file that it means is written. A path ending in .gz is
 * compressed as one gzip member. What cannot be renamed over (a device, a pipe, "-" for stdout)
 * is written straight.
 */
#ifndef PYTOP_EXPORT_SINK_H
#define PYTOP_EXPORT_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

struct export_sink;

/* owner: of the new file; (uid_t)-1: leave. ST_CANNOT_WRITE (errno kept), ST_NO_MEMORY. */
enum status sink_open(struct export_sink **sink, const char *path, uid_t owner_uid,
		      gid_t owner_gid) MUST_CHECK;

/* ST_CANNOT_WRITE (errno kept). */
enum status sink_write(struct export_sink *sink, const void *data, size_t size) MUST_CHECK;

/* sink_write as a json_sink; context is the sink. */
enum status sink_json(void *context, const char *text, size_t size) MUST_CHECK;

/*
 * Complete the file and give it its name; *bytes is its size on disk. The sink is closed either
 * way; after a failure (ST_CANNOT_WRITE, errno kept) nothing is left behind.
 */
enum status sink_commit(struct export_sink *sink, uint64_t *bytes) MUST_CHECK;

/* Close it and leave nothing behind; errno is kept. NULL is fine. */
void sink_abandon(struct export_sink *sink);

#endif
