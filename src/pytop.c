/*
 * pytop: the front door: it puts the parts together and takes them apart again.
 *
 * Live: attachment -> sampler (observer, tally, log, picture). A kept spool: replay -> tally -> one picture. Both end in the
 * same snapshot, and an export reads the log in both. The settings are kept here for the parts that come later.
 */
#include "front.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "clock.h"
#include "record/replay.h"

#define NS_PER_S 1000000000

static struct pytop *new_pytop(const struct pytop_options *options)
{
	struct pytop *p = alloc_zero(1, sizeof(*p));

	if (!p)
		return NULL;
	p->options = *options;
	p->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->wall_minus_monotonic = clock_read(CLOCK_REALTIME) - clock_read(CLOCK_MONOTONIC);
	if (p->event_fd < 0) {
		free(p);
		return NULL;
	}
	return p;
}

static void explain(struct status_args *args, pid_t pid, struct attach_failure *failure)
{
	if (!args)
		return;
	args->pid = pid;
	args->what = failure->what;
	args->self = attach_self();
	args->errnum = failure->errnum;
}

/* Are the threads that are to be recorded there? */
static enum status find_threads(const struct pytop *p, struct attach_failure *failure)
{
	for (size_t i = 0; i < p->options.thread_count; i++) {
		pid_t tid = p->options.threads[i];

		if (process_has_thread(&p->attachment.process, tid))
			continue;
		snprintf(failure->what, sizeof(failure->what), "%d", (int)tid);
		return ST_NO_THREAD;
	}
	return ST_OK;
}

enum status pytop_open(struct pytop **pytop, pid_t pid, const struct pytop_options *options,
		       struct status_args *args)
{
	static struct attach_failure failure;
	struct pytop *p = new_pytop(options);
	if (!p)
		return ST_NO_MEMORY;
	failure = (struct attach_failure){ "", 0 };
	enum status status = attach_open(&p->attachment, pid, options->start_wait_s,
					 options->spawned, options->stop, &failure);
	if (status == ST_OK)
		status = find_threads(p, &failure);
	if (status == ST_OK)
		status = names_open(&p->names);
	if (status == ST_OK)
		status = tally_open(&p->tally, p->names, options->half_life_s);
	if (status == ST_OK)
		status = picture_open(&p->picture, p->names, p->tally);
	if (status == ST_OK)
		status = exporter_open(&p->exporter, p->event_fd);
	if (status == ST_OK)
		status = front_open_scout(p);
	explain(args, pid, &failure);
	if (status != ST_OK) {
		pytop_close(p);
		return status;
	}
	/* from here on the attachment is the sampler's, which follows an exec */
	headline_target(&p->snapshot.header, &p->attachment);
	p->snapshot.header.rate_asked_hz = options->rate_hz;
	*pytop = p;
	return ST_OK;
}

enum status pytop_open_spool(struct pytop **pytop, const char *dir,
			     const struct pytop_options *options, struct status_args *args)
{
	static struct attach_failure failure;
	struct pytop *p = new_pytop(options);
	if (!p)
		return ST_NO_MEMORY;
	snprintf(failure.what, sizeof(failure.what), "%s", dir);
	snprintf(p->spool_dir, sizeof(p->spool_dir), "%s", dir);
	enum status status = exporter_open(&p->exporter, p->event_fd);
	if (status == ST_OK)
		status = front_read_spool(p);
	failure.errnum = errno;
	explain(args, 0, &failure);
	if (status != ST_OK) {
		pytop_close(p);
		return status;
	}
	*pytop = p;
	return ST_OK;
}

void pytop_close(struct pytop *p)
{
	if (!p)
		return;
	/* the writer may still hand a cut to the exporter: that one goes last */
	if (p->exporter)
		exporter_cancel(p->exporter);
	sampler_close(p->sampler);
	log_close(p->log);
	exporter_close(p->exporter);
	front_close_scout(p);
	front_free_dump(p);
	front_free_snapshot(p);
	free(p->last_samples);
	picture_close(p->picture);
	tally_close(p->tally);
	if (p->replay)
		replay_close(p->replay);
	else
		names_close(p->names);
	attach_close(&p->attachment);
	close(p->event_fd);
	free(p);
}

/* ---- sampling ------------------------------------------------------------------------------------ */

static enum status open_log(struct pytop *p)
{
	struct log_options options = { p->options.spool_dir, p->options.spool_limit,
				       p->options.owner_uid, p->options.owner_gid };
	struct spool_about about;

	log_about(&about, &p->attachment, p->options.rate_hz, p->options.jitter_percent);
	return p->options.no_spool ? ST_OK : log_open(&p->log, &options, &about, p->names);
}

enum status pytop_start(struct pytop *p)
{
	front_free_dump(p);
	enum status status = open_log(p);
	struct sampler_parts parts = { &p->attachment, p->names,   p->tally,
				       p->log,         p->picture, p->event_fd };
	struct sampler_options options = {
		.rate_hz = p->options.rate_hz,
		.jitter_percent = p->options.jitter_percent,
		.refresh_s = p->options.refresh_s > 0 ? p->options.refresh_s : 1,
		.threads = p->options.threads,
		.thread_count = p->options.thread_count,
		.main_thread_only = p->options.main_thread_only,
		.blocking = p->options.blocking,
	};

	if (status == ST_OK)
		status = sampler_open(&p->sampler, &parts, &options);
	if (status == ST_OK)
		sampler_wish_by_line(p->sampler, p->by_line);
	if (status == ST_OK)
		status = sampler_start(p->sampler);
	if (status != ST_OK)
		return status;
	p->log_started = sampler_started(p->sampler);
	if (p->log) { /* until the first tick says more */
		p->snapshot.header.log = PYTOP_LOG_ON;
		p->snapshot.header.log_from_wall = clock_read(CLOCK_REALTIME) / NS_PER_S;
	}
	return ST_OK;
}

void pytop_explain(const struct pytop *p, enum status status, struct status_args *args)
{
	static char what[4096];
	int errnum = errno;
	pid_t pid = p->attachment.process.pid, tracer = process_tracer(pid);
	char name[64];

	process_comm(tracer, name, sizeof(name));
	if (status == ST_TRACED)
		snprintf(what, sizeof(what), "%d (%s)", (int)tracer, name);
	else
		snprintf(what, sizeof(what), "%s",
			 p->options.spool_dir ? p->options.spool_dir : "the log's directory");
	*args = (struct status_args){ pid, what, attach_self(), errnum };
}

void pytop_stop(struct pytop *p)
{
	if (p->sampler)
		sampler_stop(p->sampler);
}

int pytop_event_fd(const struct pytop *p)
{
	return p->event_fd;
}

void pytop_wake(struct pytop *p)
{
	if (p->sampler)
		sampler_wish_picture(p->sampler);
}

void pytop_set_half_life(struct pytop *p, double seconds)
{
	p->options.half_life_s = seconds;
	if (p->sampler)
		sampler_wish_half_life(p->sampler, seconds);
}

void pytop_set_refresh(struct pytop *p, double seconds)
{
	if (p->sampler)
		sampler_wish_refresh(p->sampler, seconds);
}

void pytop_watch_thread(struct pytop *p, pid_t tid)
{
	if (p->sampler)
		sampler_wish_stack(p->sampler, tid);
	p->watched = tid;
	if (p->replay)
		front_show_spool(p);
}

void pytop_reset(struct pytop *p)
{
	if (p->sampler)
		sampler_wish_reset(p->sampler);
}

/* ---- exports ---------------------------------------------------------------------------------------- */

enum status pytop_export(struct pytop *p, const struct export_format *format, const char *path,
			 const struct export_options *options)
{
	const struct spool_about *kept = p->replay ? &replay_info(p->replay)->about : NULL;
	struct exporter_job job = {
		.format = format,
		.path = path,
		.options = *options,
		.spool_dir = p->spool_dir[0] ? p->spool_dir : NULL,
		.name = kept ? kept->name : p->snapshot.header.name,
		.pid = kept ? kept->pid : p->snapshot.header.pid,
		.wall_seconds = clock_read(CLOCK_REALTIME) / NS_PER_S,
	};

	if (!job.spool_dir && !p->log)
		return ST_NO_LOG;
	job.options.owner_uid = p->options.owner_uid;
	job.options.owner_gid = p->options.owner_gid;
	enum status status = exporter_begin(p->exporter, &job);
	if (status != ST_OK || job.spool_dir)
		return status;
	if (!p->sampler || !sampler_wish_cut(p->sampler, exporter_cut, p->exporter)) {
		pytop_stop(p);
		log_cut(p->log, exporter_cut, p->exporter);
	}
	return ST_OK;
}

void pytop_export_state(struct pytop *p, struct pytop_export_state *state)
{
	exporter_state(p->exporter, state);
}

void pytop_export_cancel(struct pytop *p)
{
	exporter_cancel(p->exporter);
}

void pytop_export_wait(struct pytop *p)
{
	exporter_wait(p->exporter);
}

nanoseconds pytop_log_time(const struct pytop *p, double time_s)
{
	return p->log_started + (nanoseconds)(time_s * 1e9);
}

/* ---- a command ------------------------------------------------------------------------------------------ */

enum status pytop_spawn(char *const argv[], int output_fd, pid_t *pid, struct status_args *args)
{
	struct spawn_options options = { .output_fd = output_fd };
	int errnum = 0;
	enum status status = process_spawn(argv, &options, pid, &errnum);

	if (args)
		*args = (struct status_args){ 0, argv[0], attach_self(), errnum };
	return status;
}

enum status pytop_find_python(pid_t command, struct pytop_watch *watch, pid_t *pid)
{
	struct attach_watch watched = { watch->pid, watch->since_s };
	enum status status = attach_find(command, &watched, pid);

	*watch = (struct pytop_watch){ watched.pid, watched.since_s };
	if (status == ST_NO_PROCESS || status == ST_IS_ZOMBIE)
		return ST_ENDED;
	return status == ST_OK || status == ST_ENDED ? status : ST_AGAIN;
}
