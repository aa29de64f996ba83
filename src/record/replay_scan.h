/*
 * replay_scan: what can be told of a segment without decoding its rows: which blocks are whole by
 * their headers, from when to when it reaches, and its seconds. For replay.c.
 */
#ifndef PYTOP_RECORD_REPLAY_SCAN_H
#define PYTOP_RECORD_REPLAY_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "record/replay.h"
#include "record/replay_blocks.h"
#include "record/segment.h"

#define REPLAY_SECONDS_MAX 65536 /* entries; with more, neighbours become one */

/* A segment of the replay. */
struct replay_segment {
	int fd;                  /* borrowed */
	uint64_t size;           /* bytes that can be read: up to the first damage */
	nanoseconds first, last; /* of its ticks; last 0: it has none */
	bool damaged;
};

struct replay_seconds {
	struct replay_second *entry;
	size_t count, capacity;
	nanoseconds unit; /* what an entry stands for at least; doubled when there are too many */
};

void replay_seconds_free(struct replay_seconds *seconds);

/*
 * Walk over a segment: cuts its size at the first damage, and adds its seconds. about (with its
 * own strings) is set when it is not NULL and the header could be read. ST_SPOOL_FORMAT: not a
 * log, or another format; ST_NO_MEMORY.
 */
enum status replay_scan(struct replay_segment *segment, struct replay_blocks *blocks,
			struct replay_seconds *seconds, struct spool_about *about) MUST_CHECK;

#endif
