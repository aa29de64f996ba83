/*
 * exporter: one export at a time, in the worker's thread, over a cut of the live log or a kept spool.
 */
#ifndef PYTOP_EXPORTER_H
#define PYTOP_EXPORTER_H

#include <sys/types.h>

#include "base/status.h"
#include "export/export.h"
#include "pytop.h"
#include "record/spool_files.h"

struct exporter;

/* event_fd is written at progress and at the end. */
enum status exporter_open(struct exporter **exporter, int event_fd) MUST_CHECK;
/* Cancels, waits. */
void exporter_close(struct exporter *e);

struct exporter_job {
	const struct export_format *format;
	const char *path; /* NULL: a name of pytop's own */
	struct export_options options;
	const char *spool_dir; /* a kept spool; NULL: a cut comes by exporter_cut() */
	const char *name;      /* of the program, and its pid: for the name of the file */
	pid_t pid;
	int64_t wall_seconds;
};
/* Prepare; with spool_dir it begins at once. ST_BUSY. Strings are copied. */
enum status exporter_begin(struct exporter *e, const struct exporter_job *job) MUST_CHECK;
/* Begin over this cut, from any thread; takes the cut. context is the exporter: the callback of log_cut(). */
void exporter_cut(void *exporter, enum status status, struct spool_cut *cut);

void exporter_state(struct exporter *e, struct pytop_export_state *state);
void exporter_cancel(struct exporter *e);
void exporter_wait(struct exporter *e);

#endif
