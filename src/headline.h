/*
 * headline: the figures above the table, from tally, pace, log and the target.
 */
#ifndef PYTOP_HEADLINE_H
#define PYTOP_HEADLINE_H

#include "attach.h"
#include "log.h"
#include "pytop.h"
#include "record/pace.h"
#include "record/tally.h"

/* What is remembered from picture to picture, for figures that are differences. */
struct headline {
	nanoseconds at;
	double self_cpu_s, self_cpu_percent;
	uint64_t ticks, held_ns;
	double blocked_percent;
	int64_t wall_minus_monotonic; /* ns */
};

void headline_open(struct headline *h, nanoseconds now);

/* What does not change: pid, version, names. */
void headline_target(struct pytop_header *header, const struct attachment *a);
/* Of the sums. */
void headline_tally(struct pytop_header *header, const struct tally *tally);
/* Of the pace, and of pytop itself. */
void headline_pace(struct headline *h, struct pytop_header *header, const struct pace *pace,
		   uint64_t held_ns, nanoseconds now);
/* Of the log; started: CLOCK_MONOTONIC at which sampling began. */
void headline_log(const struct headline *h, struct pytop_header *header, struct log *log,
		  nanoseconds started);
/* States of the newest tick. */
void headline_states(struct pytop_header *header, const struct sample *samples, size_t count);

#endif
