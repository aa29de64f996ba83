/*
 * pace: when the next tick is due, and how honest the rate is: asked and real Hz, missed ticks,
 * lateness, cost. Reads no clock: it is told now.
 */
#ifndef PYTOP_RECORD_PACE_H
#define PYTOP_RECORD_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/sample.h"

struct pace_report {
	double asked_hz, real_hz, mean_hz, min_hz,
		max_hz; /* real: ticks of the last second; min, max of whole seconds */
	uint64_t ticks, missed;
	double missed_percent; /* of the deadlines of the same second as real_hz, in gaps too */
	double late_p50_us,
		late_p99_us; /* how late ticks came after their deadline; of the last 10 s */
	double cost_mean_us,
		cost_p99_us; /* CPU time of a tick, of the last 10 s; mean of the last second */
};

#define PACE_BUCKETS 64 /* of the logarithmic histograms: 1.25x a step from 0.5 us */
#define PACE_SECONDS 10

struct pace {
	nanoseconds interval;  /* T; 0: flat out (-r max) */
	double jitter;         /* share of the interval: 0.3 is +-30 % */
	uint64_t random;       /* xorshift state */
	nanoseconds deadline;  /* of the next tick */
	nanoseconds last_tick; /* time of the last tick; 0: none yet */
	bool interrupted;      /* the time until the next tick is a gap */
	double mean_weight;    /* running mean, ns */
	/* since the start */
	nanoseconds started;
	uint64_t ticks, missed, seconds; /* seconds: whole ones that had an end */
	double real_hz, missed_percent, min_hz, max_hz,
		cost_mean_us; /* of the last second that ended, and of all of them */
	/* the second that runs */
	nanoseconds second_started;
	uint64_t second_ticks, second_missed, second_costs;
	double second_cost_us;
	uint32_t slot; /* of the ring of the last PACE_SECONDS */
	uint32_t late[PACE_SECONDS][PACE_BUCKETS], cost[PACE_SECONDS][PACE_BUCKETS];
};

/* interval_ns 0: as fast as it goes. seed != 0. */
void pace_start(struct pace *p, nanoseconds interval_ns, double jitter_percent, uint64_t seed,
		nanoseconds now);

/*
 * A tick is read at now: gives its weight, gap and missed (see struct tick), then sets the next
 * deadline = last deadline + T(1 + jitter x u), dropping those that passed. The first tick weighs
 * from the start.
 */
void pace_tick(struct pace *p, nanoseconds now, nanoseconds *weight, nanoseconds *gap,
	       uint32_t *missed);

/* What the tick cost in CPU time, told after it. */
void pace_cost(struct pace *p, nanoseconds cpu);

/* Sampling was suspended on purpose or the rate changed: the time until the next tick is a gap. */
void pace_interrupted(struct pace *p, nanoseconds now);

void pace_report(const struct pace *p, nanoseconds now, struct pace_report *report);

#endif
