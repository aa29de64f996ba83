/*
 * gecko_counters: the tracks of a Gecko file that belong to the process: resident memory and CPU.
 */
#ifndef PYTOP_EXPORT_GECKO_COUNTERS_H
#define PYTOP_EXPORT_GECKO_COUNTERS_H

#include "base/json.h"
#include "export/scratch.h"
#include "record/sample.h"

struct gecko_counters {
	struct scratch *scratch;
	uint32_t stream;
	nanoseconds zero, next; /* the file's time 0; when the next point is due */
	nanoseconds cpu;        /* since the last point */
	uint64_t points, rss;   /* bytes, as last known */
	bool has_rss, has_cpu;
};

/* scratch is borrowed. ST_NO_MEMORY. */
enum status gecko_counters_open(struct gecko_counters *c, struct scratch *scratch,
				nanoseconds zero) MUST_CHECK;

/* ST_CANNOT_WRITE (errno kept), ST_NO_MEMORY. */
enum status gecko_counters_tick(struct gecko_counters *c, const struct tick *tick) MUST_CHECK;

/* "counters" of the document; main_thread: index of a thread. */
enum status gecko_counters_write(struct gecko_counters *c, struct json *j, const char *pid,
				 size_t main_thread) MUST_CHECK;

#endif
