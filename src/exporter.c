/*
 * exporter: where a keypress becomes a file.
 *
 * The front door prepares a job; the log, or a kept spool, gives the data; the worker's thread writes. The state that the screen
 * shows is a few atomic words, published last to first: whoever sees finished sees the result.
 */
#include "exporter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "record/replay.h"
#include "worker.h"

enum phase { PHASE_IDLE, PHASE_RUNNING, PHASE_FINISHED };

struct exporter {
	struct worker *worker;
	struct worker_job work;
	int event_fd;
	_Atomic int phase;
	_Atomic bool cancel;
	_Atomic unsigned done_mille;
	/* of the job: written before it runs, or by it, and read when it is finished */
	const struct export_format *format;
	struct export_options options;
	struct spool_cut cut;
	char path[4096], spool_dir[4096], name[256];
	pid_t pid;
	int64_t wall_seconds;
	enum status status;
	int errnum;
	struct export_result result;
};

static void announce(const struct exporter *e)
{
	uint64_t one = 1;
	ssize_t n = write(e->event_fd, &one, sizeof(one));

	(void)n;
}

static bool on_progress(void *context, double done)
{
	struct exporter *e = context;
	unsigned mille = done < 0 ? 0 : done > 1 ? 1000 : (unsigned)(done * 1000);

	if (mille / 10 != atomic_load(&e->done_mille) / 10)
		announce(e);
	atomic_store(&e->done_mille, mille);
	return !atomic_load(&e->cancel);
}

static void finish(struct exporter *e, enum status status, int errnum)
{
	e->status = status;
	e->errnum = errnum;
	spool_cut_free(&e->cut);
	memset(&e->cut, 0, sizeof(e->cut));
	atomic_store(&e->phase, PHASE_FINISHED);
	announce(e);
}

static enum status choose_path(struct exporter *e)
{
	bool elsewhere;

	if (e->path[0])
		return ST_OK;
	return export_path(e->path, sizeof(e->path), e->format, e->name, e->pid, e->wall_seconds,
			   &elsewhere);
}

static void run(void *context)
{
	struct exporter *e = context;
	struct replay *replay = NULL;
	enum status status = atomic_load(&e->cancel) ? ST_CANCELLED
			     : e->spool_dir[0]       ? replay_open_dir(&replay, e->spool_dir)
						     : replay_open_cut(&replay, &e->cut);

	if (status == ST_OK)
		status = choose_path(e);
	if (status == ST_OK)
		status = export_write(e->format, replay, e->path, &e->options, &e->result,
				      on_progress, e);
	int errnum = errno;
	replay_close(replay);
	finish(e, status == ST_SPOOL_EMPTY ? ST_NO_SAMPLES : status, errnum);
}

enum status exporter_open(struct exporter **exporter, int event_fd)
{
	struct exporter *e = alloc_zero(1, sizeof(*e));
	if (!e)
		return ST_NO_MEMORY;
	e->event_fd = event_fd;
	enum status status = worker_open(&e->worker);
	if (status != ST_OK) {
		free(e);
		return status;
	}
	*exporter = e;
	return ST_OK;
}

void exporter_close(struct exporter *e)
{
	if (!e)
		return;
	exporter_cancel(e);
	worker_close(e->worker);
	spool_cut_free(&e->cut);
	free(e);
}

static void start(struct exporter *e)
{
	e->work = (struct worker_job){ run, e, NULL };
	worker_post(e->worker, &e->work);
}

enum status exporter_begin(struct exporter *e, const struct exporter_job *job)
{
	if (atomic_load(&e->phase) == PHASE_RUNNING)
		return ST_BUSY;
	if (job->path && strlen(job->path) >= sizeof(e->path)) {
		errno = ENAMETOOLONG;
		return ST_CANNOT_WRITE;
	}
	e->format = job->format;
	e->options = job->options;
	snprintf(e->path, sizeof(e->path), "%s", job->path ? job->path : "");
	snprintf(e->spool_dir, sizeof(e->spool_dir), "%s", job->spool_dir ? job->spool_dir : "");
	snprintf(e->name, sizeof(e->name), "%s", job->name);
	e->pid = job->pid;
	e->wall_seconds = job->wall_seconds;
	memset(&e->result, 0, sizeof(e->result));
	atomic_store(&e->cancel, false);
	atomic_store(&e->done_mille, 0);
	atomic_store(&e->phase, PHASE_RUNNING);
	if (job->spool_dir)
		start(e);
	return ST_OK;
}

void exporter_cut(void *exporter, enum status status, struct spool_cut *cut)
{
	struct exporter *e = exporter;
	int errnum = errno;

	e->cut = *cut;
	if (status == ST_OK)
		start(e);
	else
		finish(e, status, errnum);
}

void exporter_state(struct exporter *e, struct pytop_export_state *state)
{
	int phase = atomic_load(&e->phase);

	memset(state, 0, sizeof(*state));
	state->running = phase == PHASE_RUNNING;
	state->finished = phase == PHASE_FINISHED;
	state->done = (double)atomic_load(&e->done_mille) / 1000;
	if (phase != PHASE_IDLE)
		state->format = e->format;
	if (phase != PHASE_FINISHED)
		return;
	state->status = e->status;
	state->errnum = e->errnum;
	state->result = e->result;
	if (e->status != ST_OK)
		snprintf(state->result.path, sizeof(state->result.path), "%s", e->path);
}

void exporter_cancel(struct exporter *e)
{
	atomic_store(&e->cancel, true);
}

void exporter_wait(struct exporter *e)
{
	struct timespec pause = { 0, 2 * 1000 * 1000 };

	while (atomic_load(&e->phase) == PHASE_RUNNING)
		nanosleep(&pause, NULL);
}
