/*
 * replay: reads a log back, tick by tick, from a kept directory or from the cut of a live log.
 *
 * A reader takes the longest run of valid blocks of each segment; damage ends that segment, is
 * counted, and the next one begins anew. Segment-local ids are interned into the replay's own
 * names, so ids are one space over the whole replay. Memory is bounded by the blocks' caps and
 * names' caps, whatever the length of the log.
 */
#ifndef PYTOP_RECORD_REPLAY_H
#define PYTOP_RECORD_REPLAY_H

#include <stddef.h>

#include "base/status.h"
#include "record/names.h"
#include "record/sample.h"
#include "record/spool.h"
#include "record/spool_files.h"

struct replay;

struct replay_info {
	struct spool_about about;       /* of the first segment; strings owned by the replay */
	nanoseconds first, last;        /* CLOCK_MONOTONIC of the first and last tick kept */
	uint64_t ticks, samples, bytes; /* from the SECOND blocks: exact up to the last flush */
	uint32_t segments, damaged;     /* segments that ended in damage */
	uint64_t threads_left_out;      /* that found no room in names: they are in no tick */
};

/* ST_SPOOL_FORMAT, ST_SPOOL_EMPTY, ST_SYSTEM (errno kept). */
enum status replay_open_dir(struct replay **replay, const char *dir) MUST_CHECK;
/*
 * The cut is borrowed and must stay until replay_close. Several replays may read one cut at
 * once (pread).
 */
enum status replay_open_cut(struct replay **replay, const struct spool_cut *cut) MUST_CHECK;
void replay_close(struct replay *replay);

const struct replay_info *replay_info(const struct replay *replay);
const struct names *replay_names(const struct replay *replay);

/* A second of the log, for estimates: found without decoding rows. */
struct replay_second {
	nanoseconds start;
	uint32_t ticks, missed, torn;
	uint64_t samples; /* thread-samples */
	uint64_t rows;    /* rows stored */
	double gap_s, cpu_s, held_s, waited_s, gc_s;
};
/*
 * Ascending; owned by the replay. In a log of very many seconds neighbours are one entry: it
 * reaches to the start of the next.
 */
const struct replay_second *replay_seconds(const struct replay *replay, size_t *count);

/* The next tick comes from the first one at or after this time; back to the start with 0. */
enum status replay_seek(struct replay *replay, nanoseconds from) MUST_CHECK;

/*
 * The next tick and a thread-sample for every thread alive in it (rows that hold are expanded).
 * What is pointed to is valid until the next call. ST_ENDED at the end.
 */
enum status replay_next(struct replay *replay, const struct tick **tick,
			const struct sample **samples, size_t *count) MUST_CHECK;

/* Events met so far by replay_next, oldest first. */
struct replay_event {
	enum spool_event event;
	nanoseconds at;
	const char *text;
};
const struct replay_event *replay_events(const struct replay *replay, size_t *count);

#endif
