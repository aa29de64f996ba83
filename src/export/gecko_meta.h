/*
 * gecko_meta: what a Gecko file says about the recording as a whole.
 */
#ifndef PYTOP_EXPORT_GECKO_META_H
#define PYTOP_EXPORT_GECKO_META_H

#include "base/json.h"
#include "record/replay.h"

struct gecko_meta {
	const struct replay_info *info;
	nanoseconds zero; /* CLOCK_MONOTONIC of the first tick */
	nanoseconds end;  /* an interval after the last one, which has its width too */
	nanoseconds interval;
	nanoseconds gap;
	uint64_t ticks, samples, missed, torn;
	bool with_arguments, merged, shortened;
	const uint32_t *visible; /* indexes of threads, the one to select first */
	size_t visible_count;
};

void gecko_meta_write(const struct gecko_meta *m, struct json *j);

/* CLOCK_REALTIME of a time of the log. */
nanoseconds gecko_meta_wall(const struct spool_about *about, nanoseconds time);

#endif
