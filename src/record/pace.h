/*
 * pace: when the next tick is due, and how honest the rate is: asked and real Hz, missed ticks, lateness, cost.
 * Reads no clock: it is told now.
 */
#ifndef PYTOP_RECORD_PACE_H
#define PYTOP_RECORD_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/sample.h"

struct pace_report {
	double asked_hz, real_hz, mean_hz, min_hz, max_hz; /* real: ticks of the last second; min, max of whole seconds */
	uint64_t ticks, missed;
	double late_p50_us, late_p99_us; /* how late ticks came after their deadline; of the last 10 s */
	double cost_mean_us, cost_p99_us; /* CPU time of a tick, of the last 10 s; mean of the last second */
};

#define PACE_BUCKETS 64 /* of the logarithmic histograms: 1.25x a step from 0.5 us */
#define PACE_SECONDS 10

struct pace {
	nanoseconds interval;  /* T; 0: flat out (-r max) */
	uint32_t jitter_mille; /* of the interval */
	uint64_t random;       /* xorshift state */
	nanoseconds deadline;  /* of the next tick */
	nanoseconds last_tick; /* time of the last tick; 0: none yet */
	/* accounts; see pace.c */
	nanoseconds started, second_started;
	uint64_t ticks, missed, second_ticks;
	double real_hz, min_hz, max_hz;
	double second_cost_us, cost_mean_us;
	uint32_t second_index;
	uint32_t late[PACE_SECONDS][PACE_BUCKETS], cost[PACE_SECONDS][PACE_BUCKETS];
	nanoseconds recent[PACE_SECONDS]; /* reserved for pace.c */
};

/* interval_ns 0: as fast as it goes. seed != 0. */
void pace_start(struct pace *p, nanoseconds interval_ns, double jitter_percent, uint64_t seed, nanoseconds now);

/*
 * A tick is read at now: gives its weight, gap and missed (see struct tick), then sets the next deadline =
 * last deadline + T(1 + jitter x u), dropping those that passed.
 */
void pace_tick(struct pace *p, nanoseconds now, nanoseconds *weight, nanoseconds *gap, uint32_t *missed);

/* What the tick cost in CPU time, told after it. */
void pace_cost(struct pace *p, nanoseconds cpu);

/* Sampling was suspended on purpose or the rate changed: the time until the next tick is a gap. */
void pace_interrupted(struct pace *p, nanoseconds now);

void pace_report(const struct pace *p, nanoseconds now, struct pace_report *report);

#endif
