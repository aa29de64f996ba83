/*
 * export: the formats that others read, in one table; and writing one of them to a file, whole or
 * not at all.
 */
#ifndef PYTOP_EXPORT_EXPORT_H
#define PYTOP_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "record/replay.h"

struct export_options {
	enum kind kind;       /* collapsed, and what a flame graph opens with */
	nanoseconds from, to; /* CLOCK_MONOTONIC of the log, to exclusive; 0, 0: see whole */
	bool whole; /* no limit on rows (else the last part that makes EXPORT_ROWS_MAX rows) */
	bool with_arguments; /* write the target's whole command line */
	uid_t owner_uid;     /* of the file; (uid_t)-1: leave */
	gid_t owner_gid;
};

#define EXPORT_ROWS_MAX 2000000

struct export_result {
	char path[4096];
	uint64_t bytes;       /* on disk */
	uint64_t samples;     /* thread-samples in the range */
	uint64_t rows;        /* written, after merging idle runs */
	nanoseconds from, to; /* of what was written */
	bool shortened;       /* the log had more before from */
};

/* Called often; done 0..1. Returning false cancels. */
typedef bool (*export_progress)(void *context, double done);

struct export_sink; /* where a format writes: see sink.h */

struct export_format {
	const char *name;     /* gecko, flamegraph, collapsed */
	const char *suffix;   /* of files pytop names itself: .json.gz */
	const char *suffixes; /* all it is told by, space-separated */
	const char *opens_in; /* for the status line: "open it at profiler.firefox.com" */
	enum status (*write)(struct export_sink *sink, struct replay *replay,
			     const struct export_options *options, struct export_result *result,
			     export_progress progress, void *context);
};

extern const struct export_format *const export_formats[]; /* NULL at the end */

/* NULL: none. A path tells by its suffix. */
const struct export_format *export_format_by_name(const char *name);
const struct export_format *export_format_by_path(const char *path);

/*
 * Write path: made with O_EXCL beside its name, and renamed over it when complete and flushed; a
 * failure or cancel leaves an existing file as it was and nothing else behind. gzip when path
 * ends in .gz. "-" is stdout. ST_CANNOT_WRITE (errno kept), ST_CANCELLED, ST_NO_SAMPLES,
 * ST_SPOOL_*.
 */
enum status export_write(const struct export_format *format, struct replay *replay,
			 const char *path, const struct export_options *options,
			 struct export_result *result, export_progress progress,
			 void *context) MUST_CHECK;

/*
 * A name for a file pytop names itself: NAME-PID-YYYYMMDD-HHMMSS + suffix, in the current
 * directory, else HOME, else TMPDIR (elsewhere set then); never one that is there.
 * ST_NOWHERE_TO_WRITE.
 */
enum status export_path(char *path, size_t size, const struct export_format *format,
			const char *name, pid_t pid, int64_t wall_seconds,
			bool *elsewhere) MUST_CHECK;

#endif
