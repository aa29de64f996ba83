/*
 * pace: deadlines without drift, and the accounts that say how well they are kept.
 *
 * Deadlines are absolute: next = last + T(1 + jitter x u), u in [-1, 1]; one that has passed is
 * dropped and counted, never made up in a burst. Of the time since the tick before, at most 4T are
 * its weight; the rest was not seen. Flat out has no T: there the running mean of the weights
 * stands in its place.
 *
 * Lateness and cost are counted in a ring of PACE_SECONDS histograms, one a second. The sampler
 * alone writes a pace.
 */
#include "record/pace.h"

#include <math.h>
#include <string.h>

#define SECOND 1000000000
#define WEIGHT_INTERVALS 4 /* a tick stands for at most so many intervals */
#define MEAN_SHARE 64      /* how much a tick moves the mean weight: 1/64 */
#define JITTER_MAX 0.99
#define MISSED_MAX 3 /* deadlines inside the weight of one tick: those at 1, 2 and 3 T */

/* xorshift64: cheap, and good enough to break step with a periodic program. */
static double next_uniform(struct pace *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (double)(int64_t)p->random * 0x1p-63;
}

static nanoseconds next_interval(struct pace *p)
{
	double interval = (double)p->interval * (1 + p->jitter * next_uniform(p));

	return interval < 1 ? 1 : (nanoseconds)interval;
}

void pace_start(struct pace *p, nanoseconds interval_ns, double jitter_percent, uint64_t seed,
		nanoseconds now)
{
	double jitter = jitter_percent / 100;

	memset(p, 0, sizeof(*p));
	p->interval = interval_ns > 0 ? interval_ns : 0;
	p->jitter = jitter > 0 ? fmin(jitter, JITTER_MAX) : 0;
	p->random = seed ? seed : 1;
	p->started = p->second_started = now;
	p->deadline = p->interval ? now + next_interval(p) : now;
}

/* ---- seconds */

/* Of the deadlines of the second that runs. */
static double missed_percent(const struct pace *p)
{
	uint64_t deadlines = p->second_ticks + p->second_missed;

	return deadlines ? 100.0 * (double)p->second_missed / (double)deadlines : 0;
}

static void end_second(struct pace *p, nanoseconds now)
{
	double hz = (double)p->second_ticks * SECOND / (double)(now - p->second_started);

	p->min_hz = p->seconds && p->min_hz < hz ? p->min_hz : hz;
	p->max_hz = p->max_hz > hz ? p->max_hz : hz;
	p->real_hz = hz;
	p->missed_percent = missed_percent(p);
	p->cost_mean_us =
		p->second_costs ? p->second_cost_us / (double)p->second_costs : p->cost_mean_us;
	p->seconds++;
	p->second_started = now;
	p->second_ticks = p->second_missed = p->second_costs = 0;
	p->second_cost_us = 0;
	p->slot = (p->slot + 1) % PACE_SECONDS;
	memset(p->late[p->slot], 0, sizeof(p->late[p->slot]));
	memset(p->cost[p->slot], 0, sizeof(p->cost[p->slot]));
}

#define BUCKET_FIRST_US 0.5
#define BUCKET_STEP 1.25

static unsigned int bucket_of(nanoseconds ns)
{
	double us = (double)ns / 1000;

	if (us < BUCKET_FIRST_US)
		return 0;

	double step = log2(us / BUCKET_FIRST_US) / log2(BUCKET_STEP);

	return step >= PACE_BUCKETS - 1 ? PACE_BUCKETS - 1 : (unsigned int)step + 1;
}

/* The middle (on the logarithmic scale) of the bucket below which share of all counts lie. */
static double percentile(const uint32_t counts[PACE_SECONDS][PACE_BUCKETS], double share)
{
	uint64_t sum[PACE_BUCKETS] = { 0 }, all = 0, below = 0;

	for (int s = 0; s < PACE_SECONDS; s++) {
		for (int b = 0; b < PACE_BUCKETS; b++) {
			sum[b] += counts[s][b];
			all += counts[s][b];
		}
	}
	for (int b = 0; b < PACE_BUCKETS && all; b++) {
		below += sum[b];
		if ((double)below >= share * (double)all)
			return b ? BUCKET_FIRST_US * pow(BUCKET_STEP, b - 0.5)
				 : BUCKET_FIRST_US / 2;
	}
	return 0;
}

/* ---- ticks */

/* Split the time since the tick before into what the tick stands for and what was not seen. */
static void weigh(struct pace *p, nanoseconds now, nanoseconds *weight, nanoseconds *gap)
{
	nanoseconds since = p->last_tick ? now - p->last_tick : now - p->started;
	double most =
		(double)WEIGHT_INTERVALS * (p->interval ? (double)p->interval : p->mean_weight);

	if (since < 0)
		since = 0;
	if (p->interrupted)
		*weight = 0;
	else
		*weight = most > 0 && (double)since > most ? (nanoseconds)most : since;
	*gap = since - *weight;
	if (p->mean_weight <= 0)
		p->mean_weight = (double)*weight;
	p->mean_weight += ((double)*weight - p->mean_weight) / MEAN_SHARE;
}

/* Set the next deadline after now; returns how many were dropped. */
static uint32_t next_deadline(struct pace *p, nanoseconds now, bool gap)
{
	uint32_t dropped = 0;

	if (!p->interval) {
		p->deadline = now;
		return 0;
	}
	if (gap) {
		p->deadline = now + next_interval(p);
		return p->interrupted ? 0 : MISSED_MAX;
	}
	p->deadline += next_interval(p);
	while (p->deadline <= now) {
		p->deadline += next_interval(p);
		dropped++;
	}
	return dropped;
}

void pace_tick(struct pace *p, nanoseconds now, nanoseconds *weight, nanoseconds *gap,
	       uint32_t *missed)
{
	nanoseconds late = now - p->deadline;

	if (now - p->second_started >= SECOND)
		end_second(p, now);
	weigh(p, now, weight, gap);
	*missed = next_deadline(p, now, *gap > 0);
	p->late[p->slot][bucket_of(p->interval && late > 0 ? late : 0)]++;
	p->second_missed += *missed;
	if (p->interval && !p->interrupted)
		p->second_missed += (uint64_t)(*gap / p->interval);
	p->interrupted = false;
	p->last_tick = now;
	p->missed += *missed;
	p->ticks++;
	p->second_ticks++;
}

void pace_cost(struct pace *p, nanoseconds cpu)
{
	p->cost[p->slot][bucket_of(cpu > 0 ? cpu : 0)]++;
	p->second_cost_us += (double)cpu / 1000;
	p->second_costs++;
}

void pace_interrupted(struct pace *p, nanoseconds now)
{
	p->interrupted = true;
	p->deadline = p->interval ? now + next_interval(p) : now;
}

/* ---- report */

/* Ticks a second since then, as of now; 0 when no time has passed. */
static double rate(uint64_t ticks, nanoseconds since, nanoseconds now)
{
	return now > since ? (double)ticks * SECOND / (double)(now - since) : 0;
}

void pace_report(const struct pace *p, nanoseconds now, struct pace_report *report)
{
	bool stalled = now - p->second_started > 2 * (nanoseconds)SECOND && p->interval < SECOND;
	double current = rate(p->second_ticks, p->second_started, now);

	*report = (struct pace_report){
		.asked_hz = p->interval ? (double)SECOND / (double)p->interval : 0,
		.real_hz = stalled || !p->seconds ? current : p->real_hz,
		.mean_hz = rate(p->ticks, p->started, now),
		.min_hz = p->seconds ? p->min_hz : current,
		.max_hz = p->seconds ? p->max_hz : current,
		.ticks = p->ticks,
		.missed = p->missed,
		.missed_percent = stalled || !p->seconds ? missed_percent(p) : p->missed_percent,
		.late_p50_us = percentile(p->late, 0.5),
		.late_p99_us = percentile(p->late, 0.99),
		.cost_mean_us = p->seconds || !p->second_costs
					? p->cost_mean_us
					: p->second_cost_us / (double)p->second_costs,
		.cost_p99_us = percentile(p->cost, 0.99),
	};
}
