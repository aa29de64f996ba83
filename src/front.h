/*
 * front: what stands behind the handle of pytop.h, for the files that make up the front door.
 */
#ifndef PYTOP_FRONT_H
#define PYTOP_FRONT_H

#include "attach.h"
#include "exporter.h"
#include "headline.h"
#include "log.h"
#include "observer.h"
#include "picture.h"
#include "pytop.h"
#include "record/names.h"
#include "record/tally.h"
#include "sampler.h"
#include "worker.h"

struct pytop {
	struct pytop_options options;
	struct attachment attachment;
	struct names *names; /* the sampler's; of a kept spool: its replay's */
	struct tally *tally;
	struct picture *picture;
	struct log *log;
	struct sampler *sampler;
	struct exporter *exporter;
	int event_fd;
	char spool_dir[4096];         /* a kept spool is open; "" otherwise */
	struct replay *replay;        /* of the kept spool, for its names */
	nanoseconds log_started;      /* CLOCK_MONOTONIC of time_s 0 */
	int64_t wall_minus_monotonic; /* ns, of the log */
	bool has_exit_status;
	int wait_status;
	bool by_line;
	pid_t watched;               /* whose stack pictures carry; 0: none */
	struct sample *last_samples; /* of a kept spool: the threads that lived at its end */
	size_t last_count, last_capacity;
	uint64_t last_rss_bytes;

	struct pytop_snapshot snapshot;
	struct pytop_row *rows;
	size_t row_capacity;

	/* the busiest child, looked for now and then */
	struct worker *scout;
	struct worker_job scout_job;
	struct scouting *scouting;

	/* the dump's */
	struct pytop_dump_thread *dump;
	size_t dump_count;
	struct pytop_frame *dump_frames;
	struct observer *dump_observer;
};

/* snapshot.c */
void front_free_snapshot(struct pytop *p);
/* dump.c */
void front_free_dump(struct pytop *p);
/* scout.c: looks for a Python child that is busier than an idle target. */
enum status front_open_scout(struct pytop *p) MUST_CHECK;
void front_close_scout(struct pytop *p);
/* Called at each snapshot; fills the header when one was found. */
void front_scout(struct pytop *p, struct pytop_header *header);
/* kept.c: a kept spool through the tally into one picture. */
enum status front_read_spool(struct pytop *p) MUST_CHECK;
/* Its picture anew, for other rows. */
void front_show_spool(struct pytop *p);

#endif
