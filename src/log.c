/*
 * log: how a tick gets to the disk.
 *
 * The encoder (record/spool) belongs to the sampler's thread, the files (record/spool_files) to the writer's. A sealed
 * batch travels to the writer as a job and comes back on a list, to be used again. A slow disk fills the encoder's
 * allowance of batches, which then leaves ticks out and counts them: it costs log, never a tick. When the disk is full
 * the log stops, and what was written stays readable.
 */
#include "log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "clock.h"
#include "worker.h"

/* One journey of a batch to the writer and back, or of a request for a cut. */
struct journey {
	struct worker_job job;
	struct log *log;
	struct spool_batch *batch; /* NULL: a cut is asked for */
	void (*done)(void *context, enum status status, struct spool_cut *cut);
	void *context;
	struct journey *next;
};

struct log {
	struct spool *spool;
	struct spool_files *files;
	struct worker *writer;
	struct journey *idle;               /* the sampler's */
	_Atomic(struct journey *) returned; /* pushed by the writer, taken whole by the sampler */
	_Atomic uint64_t bytes, lost_ticks;
	_Atomic int64_t first_tick, stopped_at;
	_Atomic int status, errnum;
};

void log_about(struct spool_about *about, const struct attachment *a, double rate_hz,
	       double jitter_percent)
{
	*about = (struct spool_about){
		.pid = a->process.pid,
		.free_threaded = a->runtime.layout.version.free_threaded,
		.version = a->runtime.version_text,
		.name = a->info.name,
		.command = a->info.command,
		.rate_hz = rate_hz,
		.jitter_percent = jitter_percent,
		.process_started = (nanoseconds)a->info.start_time_ns,
		.wall = clock_read(CLOCK_REALTIME),
		.monotonic = clock_read(CLOCK_MONOTONIC),
	};
}

enum status log_open(struct log **log, const struct log_options *options,
		     const struct spool_about *about, const struct names *names)
{
	struct log *l = alloc_zero(1, sizeof(*l));
	if (!l)
		return ST_NO_MEMORY;
	enum status status = spool_files_open(&l->files, options->dir, options->limit_bytes,
					      options->owner_uid, options->owner_gid);
	int kept = errno;
	struct spool_options encoding = { 0 };
	if (status == ST_OK) {
		encoding.segment_bytes = spool_files_segment_bytes(l->files);
		status = spool_open(&l->spool, about, &encoding, names);
	}
	if (status == ST_OK)
		status = worker_open(&l->writer);
	if (status != ST_OK) {
		log_close(l);
		errno = kept;
		return status;
	}
	*log = l;
	return ST_OK;
}

static void take_returned(struct log *l)
{
	struct journey *j = atomic_exchange(&l->returned, NULL);

	while (j) {
		struct journey *next = j->next;
		if (j->batch)
			spool_recycle(l->spool, j->batch);
		j->next = l->idle;
		l->idle = j;
		j = next;
	}
}

static struct journey *new_journey(struct log *l)
{
	struct journey *j = l->idle;

	if (j)
		l->idle = j->next;
	else
		j = alloc_zero(1, sizeof(*j));
	if (j)
		j->log = l;
	return j;
}

/* No more is written; the first reason is the one that is told. */
static void stop(struct log *l, enum status status, int errnum)
{
	int64_t running = 0;

	if (!atomic_compare_exchange_strong(&l->stopped_at, &running, clock_read(CLOCK_MONOTONIC)))
		return;
	atomic_store(&l->errnum, errnum);
	atomic_store(&l->status, (int)status);
}

/* In the writer's thread. */
static void write_batch(struct log *l, const struct spool_batch *batch)
{
	if (atomic_load(&l->status) != ST_OK)
		return;
	enum status status = spool_files_write(l->files, batch);
	if (status != ST_OK)
		stop(l, status, errno);
	atomic_store(&l->bytes, spool_files_bytes(l->files));
	atomic_store(&l->first_tick, spool_files_first_tick(l->files));
}

static void run_journey(void *context)
{
	struct journey *j = context;
	struct log *l = j->log;

	if (j->batch) {
		write_batch(l, j->batch);
	} else {
		struct spool_cut cut = { 0 };
		enum status status = spool_files_cut(l->files, &cut);
		j->done(j->context, status, &cut);
	}
	struct journey *head = atomic_load(&l->returned);
	do {
		j->next = head;
	} while (!atomic_compare_exchange_weak(&l->returned, &head, j));
}

static void send_sealed(struct log *l)
{
	struct spool_batch *batch;

	while ((batch = spool_take(l->spool)) != NULL) {
		struct journey *j = new_journey(l);
		if (!j) {
			/* a segment with a hole in it cannot be read on */
			spool_recycle(l->spool, batch);
			stop(l, ST_NO_MEMORY, 0);
			continue;
		}
		j->batch = batch;
		j->job = (struct worker_job){ run_journey, j, NULL };
		worker_post(l->writer, &j->job);
	}
}

static bool has_stopped(struct log *l)
{
	return atomic_load_explicit(&l->status, memory_order_relaxed) != ST_OK;
}

void log_tick(struct log *l, const struct tick *tick, const struct sample *samples, size_t count)
{
	if (has_stopped(l))
		return;
	if (atomic_load_explicit(&l->returned, memory_order_relaxed))
		take_returned(l);
	/* what it had no memory for it counts as lost, and goes on with a new segment */
	enum status status = spool_tick(l->spool, tick, samples, count);
	if (status != ST_OK && status != ST_NO_MEMORY)
		stop(l, status, errno);
	send_sealed(l);
	atomic_store_explicit(&l->lost_ticks, spool_lost_ticks(l->spool), memory_order_relaxed);
}

void log_event(struct log *l, enum spool_event event, nanoseconds at, const char *text)
{
	if (!has_stopped(l))
		spool_event(l->spool, event, at, text);
}

void log_renew(struct log *l)
{
	spool_renew(l->spool);
	send_sealed(l);
}

void log_new_life(struct log *l, const struct spool_about *about)
{
	enum status status = spool_new_life(l->spool, about);
	if (status != ST_OK)
		stop(l, status, errno);
	send_sealed(l);
}

void log_cut(struct log *l, void (*done)(void *context, enum status status, struct spool_cut *cut),
	     void *context)
{
	struct spool_cut none = { 0 };

	take_returned(l);
	spool_seal(l->spool);
	send_sealed(l);
	struct journey *j = new_journey(l);
	if (!j) {
		done(context, ST_NO_MEMORY, &none);
		return;
	}
	j->batch = NULL;
	j->done = done;
	j->context = context;
	j->job = (struct worker_job){ run_journey, j, NULL };
	worker_post(l->writer, &j->job);
}

void log_report(struct log *l, struct log_report *report)
{
	report->status = (enum status)atomic_load(&l->status);
	report->stopped = report->status != ST_OK;
	report->errnum = atomic_load(&l->errnum);
	report->stopped_at = report->stopped ? atomic_load(&l->stopped_at) : 0;
	report->bytes = atomic_load(&l->bytes);
	report->first_tick = atomic_load(&l->first_tick);
	report->lost_ticks = atomic_load(&l->lost_ticks);
}

const char *log_place(const struct log *l)
{
	return spool_files_place(l->files);
}

enum status log_keep(struct log *l, const char *keep_in, char *path, size_t size)
{
	take_returned(l);
	spool_seal(l->spool);
	send_sealed(l);
	worker_drain(l->writer);
	return spool_files_keep(l->files, keep_in, path, size);
}

void log_close(struct log *l)
{
	if (!l)
		return;
	if (l->spool && l->writer) {
		spool_renew(l->spool); /* the segment gets its end */
		send_sealed(l);
	}
	worker_close(l->writer);
	take_returned(l);
	while (l->idle) {
		struct journey *next = l->idle->next;
		free(l->idle);
		l->idle = next;
	}
	spool_close(l->spool);
	spool_files_close(l->files);
	free(l);
}
