/*
 * headline: each figure of the header has one place where it is computed: here. The sampler fills a header while a picture
 * is current; a dump and a replay fill what they have.
 */
#include "headline.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "clock.h"

#define SECOND ((nanoseconds)1000 * 1000 * 1000)
#define SPIN_BELOW_HZ (1e9 / 30000)

static double self_cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

void headline_open(struct headline *h, nanoseconds now)
{
	memset(h, 0, sizeof(*h));
	h->at = now;
	h->self_cpu_s = self_cpu_seconds();
	h->wall_minus_monotonic = clock_read(CLOCK_REALTIME) - clock_read(CLOCK_MONOTONIC);
}

void headline_target(struct pytop_header *header, const struct attachment *a)
{
	nanoseconds wall = clock_read(CLOCK_REALTIME);

	header->pid = a->process.pid;
	snprintf(header->python, sizeof(header->python), "%s", a->runtime.version_text);
	header->free_threaded = a->runtime.layout.version.free_threaded;
	snprintf(header->name, sizeof(header->name), "%s", a->info.name);
	snprintf(header->command, sizeof(header->command), "%s", a->info.command);
	if (wall > (nanoseconds)a->info.start_time_ns)
		header->uptime_s =
			(uint64_t)(wall - (nanoseconds)a->info.start_time_ns) / (uint64_t)SECOND;
}

void headline_tally(struct pytop_header *header, const struct tally *tally)
{
	const struct tally_whole *w = tally_whole(tally);
	double factor = tally_factor(tally);

	header->seen_s = w->seconds;
	header->ticks = w->ticks;
	header->samples = w->samples;
	header->missed = w->missed;
	header->torn = w->torn;
	header->torn_percent = w->samples_recent > 0 ? 100 * w->torn_recent / w->samples_recent : 0;
	header->cpu_percent = w->cpu * factor;
	header->native_percent = w->native * factor;
	header->gc_percent = w->gc * factor;
	header->exception_percent = w->exception * factor;
	header->has_gil = false;
	for (size_t i = 0; i < tally_interpreter_count(tally); i++) {
		const struct tally_interpreter *in = tally_interpreter_at(tally, i);
		if (!in->has_gil)
			continue;
		if (header->has_gil && in->held * factor < header->gil_percent)
			continue;
		header->has_gil = true;
		header->gil_percent = in->held * factor;
		header->gil_wait_percent = in->waited * factor;
	}
}

/* Figures that are differences over at least a second. */
static void take_differences(struct headline *h, const struct pace_report *r, uint64_t held_ns,
			     nanoseconds now)
{
	nanoseconds passed = now - h->at;
	if (passed < (h->ticks > 0 ? SECOND : SECOND / 2))
		return;
	double cpu = self_cpu_seconds();

	if (passed > 0) {
		h->self_cpu_percent = 100 * (cpu - h->self_cpu_s) / ((double)passed / 1e9);
		h->blocked_percent = 100 * (double)(held_ns - h->held_ns) / (double)passed;
	}
	h->at = now;
	h->self_cpu_s = cpu;
	h->ticks = r->ticks;
	h->held_ns = held_ns;
	/* the wall clock may be set while pytop runs; the log's anchor is its own */
	h->wall_minus_monotonic = clock_read(CLOCK_REALTIME) - clock_read(CLOCK_MONOTONIC);
}

void headline_pace(struct headline *h, struct pytop_header *header, const struct pace *pace,
		   uint64_t held_ns, nanoseconds now)
{
	struct pace_report r;

	pace_report(pace, now, &r);
	take_differences(h, &r, held_ns, now);
	header->rate_asked_hz = r.asked_hz;
	header->rate_real_hz = r.real_hz;
	header->rate_mean_hz = r.mean_hz;
	header->rate_min_hz = r.min_hz;
	header->rate_max_hz = r.max_hz;
	header->late_p50_us = r.late_p50_us;
	header->late_p99_us = r.late_p99_us;
	header->tick_mean_us = r.cost_mean_us;
	header->tick_p99_us = r.cost_p99_us;
	header->missed_percent = r.missed_percent;
	header->self_cpu_percent = h->self_cpu_percent;
	header->blocked_percent = h->blocked_percent;
	header->spinning = r.asked_hz == 0 || r.asked_hz > SPIN_BELOW_HZ;
}

void headline_log(const struct headline *h, struct pytop_header *header, struct log *log,
		  nanoseconds started)
{
	struct log_report r;

	header->log = PYTOP_LOG_NONE;
	if (!log)
		return;
	log_report(log, &r);
	header->log = r.stopped ? PYTOP_LOG_STOPPED : PYTOP_LOG_ON;
	header->log_bytes = r.bytes;
	header->log_lost_ticks = r.lost_ticks;
	header->log_status = r.status;
	header->log_errnum = r.errnum;
	header->log_stopped_wall = 0;
	header->log_stopped_s = 0;
	if (r.stopped) {
		header->log_stopped_wall = (r.stopped_at + h->wall_minus_monotonic) / SECOND;
		header->log_stopped_s = (double)(r.stopped_at - started) / 1e9;
	}
	nanoseconds first = r.first_tick ? r.first_tick : started;
	header->log_from_s = (double)(first - started) / 1e9;
	header->log_from_wall = (first + h->wall_minus_monotonic) / SECOND;
	snprintf(header->log_place, sizeof(header->log_place), "%s", log_place(log));
}

void headline_states(struct pytop_header *header, const struct sample *samples, size_t count)
{
	memset(header->threads_by_state, 0, sizeof(header->threads_by_state));
	header->thread_count = (uint32_t)count;
	header->stopped = count > 0;
	for (size_t i = 0; i < count; i++) {
		if (samples[i].state < STATE_COUNT)
			header->threads_by_state[samples[i].state]++;
		if (samples[i].state != STATE_STOPPED)
			header->stopped = false;
	}
}
