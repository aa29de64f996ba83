/*
 * log: the spool while it is written: encoder in the sampler's thread, files in the writer's, batches going round.
 */
#ifndef PYTOP_LOG_H
#define PYTOP_LOG_H

#include <stdint.h>
#include <sys/types.h>

#include "attach.h"
#include "base/status.h"
#include "record/names.h"
#include "record/spool.h"
#include "record/spool_files.h"

struct log;

struct log_options {
	const char *dir;      /* NULL: unnamed files */
	uint64_t limit_bytes; /* 0: the default */
	uid_t owner_uid;
	gid_t owner_gid;
};

/* What the log's header says of the target; life is 0. Strings are borrowed from the attachment. */
void log_about(struct spool_about *about, const struct attachment *a, double rate_hz,
	       double jitter_percent);

/* errno is kept where the status says so. */
enum status log_open(struct log **log, const struct log_options *options,
		     const struct spool_about *about, const struct names *names) MUST_CHECK;
/* Writes what is pending first. */
void log_close(struct log *log);

/* ---- the sampler's thread, or anyone's once it has ended */

void log_tick(struct log *log, const struct tick *tick, const struct sample *samples, size_t count);
void log_event(struct log *log, enum spool_event event, nanoseconds at, const char *text);
void log_renew(struct log *log);
void log_new_life(struct log *log, const struct spool_about *about);

/*
 * Seal all that was logged; when it is on disk, done(context, status, cut) is called in the writer's thread. The cut is the
 * callee's to free.
 */
void log_cut(struct log *log,
	     void (*done)(void *context, enum status status, struct spool_cut *cut), void *context);

/* ---- any thread */

struct log_report {
	bool stopped; /* no more is written: status says why, with errnum */
	enum status status;
	int errnum;
	nanoseconds stopped_at; /* CLOCK_MONOTONIC; 0: it goes on */
	uint64_t bytes;
	nanoseconds first_tick; /* oldest kept, CLOCK_MONOTONIC; 0: none */
	uint64_t lost_ticks;
};
void log_report(struct log *log, struct log_report *report);
const char *log_place(const struct log *log);

/* After the sampler has ended: name the unnamed files (see spool_files_keep). */
enum status log_keep(struct log *log, const char *keep_in, char *path, size_t size) MUST_CHECK;

#endif
