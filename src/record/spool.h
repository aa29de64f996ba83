/*
 * spool: encodes ticks into the blocks of the log (format: spool_format.h; design part 6).
 *
 * Lives in the sampler's thread and touches no file: sealed data leaves as batches, which the
 * writer thread gives to spool_files_write() and sends back for reuse. When too many batches are
 * out (a slow disk) ticks are left out of the log, counted, and the log shows a gap; sampling
 * never waits.
 */
#ifndef PYTOP_RECORD_SPOOL_H
#define PYTOP_RECORD_SPOOL_H

#include <stddef.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/status.h"
#include "record/names.h"
#include "record/sample.h"

/* What every segment's header says. Strings are borrowed by spool_open and copied. */
struct spool_about {
	pid_t pid;
	uint32_t life; /* 0, and one more after each exec */
	bool free_threaded;
	const char *version; /* of Python: "3.13.1" */
	const char *name;    /* the script's or module's: app.py */
	const char *command; /* the whole command line */
	double rate_hz;      /* asked; 0: flat out */
	double jitter_percent;
	nanoseconds process_started; /* CLOCK_REALTIME */
	nanoseconds wall, monotonic; /* one moment on both clocks */
};

struct spool_options {
	size_t column_limit; /* of a buffer before a flush; 0: the default, 128 KiB; 1 in tests */
	size_t total_limit;  /* of all column buffers together; 0: the default (8 MiB) */
	uint64_t segment_bytes;   /* 0: the default (32 MiB) */
	nanoseconds segment_time; /* 0: the default (10 minutes) */
	nanoseconds flush_time;   /* 0: the default (1 second) */
	uint64_t backlog_bytes;   /* in batches that are out before ticks are lost; 0: 16 MiB */
};

enum spool_event {
	SPOOL_RESET,
	SPOOL_GAP,
	SPOOL_STOPPED,
	SPOOL_EXEC,
	SPOOL_RATE,
	SPOOL_LOG_STOPPED
};

/* Encoded blocks for one segment, in order. */
struct spool_batch {
	struct buffer data;
	uint32_t segment;      /* number of the segment it belongs to, from 1 */
	bool first_of_segment; /* data begins with the segment's header */
	bool last_of_segment;
	nanoseconds first_tick, last_tick; /* of the ticks inside */
	uint64_t sequence;                 /* counts up by one a batch */
	struct spool_batch *next;          /* for whoever owns it */
};

struct spool;

/* options NULL: the defaults. */
enum status spool_open(struct spool **spool, const struct spool_about *about,
		       const struct spool_options *options, const struct names *names) MUST_CHECK;
void spool_close(struct spool *s);

/*
 * One tick, all its thread-samples (sorted as the caller likes; a thread counts once). Ticks come
 * in the order of their times. ST_NO_MEMORY: what was not sealed is lost, and the log goes on with
 * a new segment.
 */
enum status spool_tick(struct spool *s, const struct tick *tick, const struct sample *samples,
		       size_t count) MUST_CHECK;
void spool_event(struct spool *s, enum spool_event event, nanoseconds at, const char *text);

/* names are about to be renewed: everything is sealed and the next tick begins a new segment. */
void spool_renew(struct spool *s);
/* The process became another program (exec): a new segment with this header. */
enum status spool_new_life(struct spool *s, const struct spool_about *about) MUST_CHECK;

/*
 * Seal everything recorded so far, so that it leaves with spool_take(). Returns the sequence of
 * the last batch.
 */
uint64_t spool_seal(struct spool *s);
/* The next sealed batch, or NULL. The caller owns it until it comes back by spool_recycle(). */
struct spool_batch *spool_take(struct spool *s);
void spool_recycle(struct spool *s, struct spool_batch *batch);

/* Ticks that were left out because the writer was behind. */
uint64_t spool_lost_ticks(const struct spool *s);

#endif
