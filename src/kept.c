/*
 * kept: a kept spool, shown as if it had just been seen: every tick of the replay goes through the tally (without decay),
 * and the result becomes one picture.
 */
#include "front.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "record/replay.h"

/* The newest tick's samples stay, as the threads that lived at the end. */
static enum status keep_last(struct pytop *p, const struct tick *tick, const struct sample *samples,
			     size_t count)
{
	void *items = p->last_samples;
	enum status status =
		alloc_grow(&items, &p->last_capacity, count, 1u << 20, sizeof(*samples));

	p->last_samples = items;
	if (status != ST_OK)
		return status;
	if (count > 0)
		memcpy(p->last_samples, samples, count * sizeof(*samples));
	p->last_count = count;
	p->last_rss_bytes = tick->rss_bytes;
	return ST_OK;
}

static enum status read_all(struct pytop *p)
{
	const struct tick *tick;
	const struct sample *samples;
	size_t count;
	enum status status;

	while ((status = replay_next(p->replay, &tick, &samples, &count)) == ST_OK) {
		status = tally_tick(p->tally, tick, samples, count);
		if (status == ST_OK)
			status = keep_last(p, tick, samples, count);
		if (status != ST_OK)
			return status;
	}
	return status == ST_ENDED ? ST_OK : status;
}

static void fill_header(struct pytop *p, struct pytop_header *h)
{
	const struct replay_info *info = replay_info(p->replay);
	double seconds = (double)(info->last - info->first) / 1e9;

	memset(h, 0, sizeof(*h));
	headline_tally(h, p->tally);
	headline_states(h, p->last_samples, p->last_count);
	h->pid = info->about.pid;
	h->free_threaded = info->about.free_threaded;
	snprintf(h->python, sizeof(h->python), "%s", info->about.version);
	snprintf(h->name, sizeof(h->name), "%s", info->about.name);
	snprintf(h->command, sizeof(h->command), "%s", info->about.command);
	h->target = PYTOP_REPLAYED;
	h->rss_bytes = p->last_rss_bytes;
	h->time_s = seconds;
	h->rate_asked_hz = info->about.rate_hz;
	h->rate_mean_hz = h->rate_real_hz = seconds > 0 ? (double)h->ticks / seconds : 0;
	h->missed_percent = h->ticks + h->missed > 0
				    ? 100.0 * (double)h->missed / (double)(h->ticks + h->missed)
				    : 0;
	h->torn_percent = h->samples > 0 ? 100.0 * (double)h->torn / (double)h->samples : 0;
	h->log = PYTOP_LOG_ON;
	h->log_bytes = info->bytes;
	h->log_from_wall = (info->first + p->wall_minus_monotonic) / 1000000000;
	snprintf(h->log_place, sizeof(h->log_place), "%.*s", (int)sizeof(h->log_place) - 1,
		 p->spool_dir);
}

void front_show_spool(struct pytop *p)
{
	struct picture_wish wish = { .by_line = p->by_line, .stack_tid = p->watched };
	bool complete = false;

	picture_begin(p->picture, &wish);
	while (!complete && picture_is_busy(p->picture))
		if (picture_work(p->picture, SIZE_MAX, p->last_samples, p->last_count, &complete) !=
		    ST_OK)
			return;
	fill_header(p, &picture_current(p->picture)->header);
	picture_publish(p->picture);
}

enum status front_read_spool(struct pytop *p)
{
	enum status status = replay_open_dir(&p->replay, p->spool_dir);

	if (status != ST_OK)
		return status;
	const struct replay_info *info = replay_info(p->replay);
	p->log_started = info->first;
	p->wall_minus_monotonic = info->about.wall - info->about.monotonic;
	status = tally_open(&p->tally, replay_names(p->replay), 0);
	if (status == ST_OK)
		status = picture_open(&p->picture, replay_names(p->replay), p->tally);
	if (status == ST_OK)
		status = read_all(p);
	if (status == ST_OK)
		front_show_spool(p);
	return status;
}
