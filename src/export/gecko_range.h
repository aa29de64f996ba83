/*
 * gecko_range: which part of a log goes into a Gecko file, and whether idle runs are merged in it.
 */
#ifndef PYTOP_EXPORT_GECKO_RANGE_H
#define PYTOP_EXPORT_GECKO_RANGE_H

#include "export/export.h"

struct gecko_range {
	nanoseconds from, to; /* to exclusive, 0: to the end */
	bool merge;           /* idle runs are to be merged */
	bool shortened;       /* the log had more before from */
};

/*
 * Equal idle thread-samples are one row for at most this long (selections in the viewer take
 * whole rows).
 */
#define GECKO_RUN_MAX_NS 100000000

/*
 * Everything the options ask for, as it is, when it makes at most rows_max rows; else with idle
 * runs merged; else the last part that makes at most rows_max rows so (unless the options ask for
 * the whole).
 */
void gecko_range_choose(const struct replay *replay, const struct export_options *options,
			uint64_t rows_max, struct gecko_range *range);

/* Rows that a second of the log makes at most with idle runs merged. */
uint64_t gecko_range_rows(const struct replay_second *second);

#endif
