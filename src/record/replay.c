/*
 * replay: a log read back, one tick after the other.
 *
 * Opening walks over all segments once (replay_scan.c); playing begins a segment, takes its blocks
 * in order (definitions, threads, events) up to the next TICKS and ROWS, and plays those. To seek
 * is to begin the segment in which the time lies and to play up to it: a segment stands alone, so
 * nothing before it is needed.
 *
 * Damage ends the segment it is in and no more. A replay only reads by position, and what it points
 * to is its own, so several may read one log while it is written.
 */
#include "record/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/replay_blocks.h"
#include "record/replay_define.h"
#include "record/replay_rows.h"
#include "record/replay_scan.h"
#include "record/segment.h"

#define EVENTS_MAX 65536
#define TIME_US_MAX (INT64_C(1) << 52)
#define US 1000

struct replay {
	struct spool_cut own;            /* the files, when a directory was opened */
	struct replay_segment *segments; /* ascending */
	size_t segment_count;
	size_t segment_at;     /* the one that is played, or is begun next */
	bool playing;          /* segment_at is begun */
	struct segment header; /* of the one that is played */
	struct replay_blocks blocks;
	struct names *names;
	struct replay_define define;
	struct replay_rows rows;
	nanoseconds from;   /* ticks before it are not given */
	nanoseconds before; /* time of the last tick played */
	struct replay_info info;
	struct replay_seconds seconds;
	struct replay_event *events;
	size_t event_count, event_capacity;
};

/* ---- open */

static enum status scan_all(struct replay *r)
{
	enum status st = ST_OK;
	size_t kept = 0;
	bool any = false;

	for (size_t i = 0; i < r->segment_count && st == ST_OK; i++) {
		struct replay_segment *segment = &r->segments[i];

		st = replay_scan(segment, &r->blocks, &r->seconds,
				 r->info.about.name ? NULL : &r->info.about);
		any |= st == ST_OK;
		if (st == ST_SPOOL_FORMAT)
			segment->damaged = true;
		st = st == ST_SPOOL_FORMAT ? ST_OK : st;
		r->info.damaged += segment->damaged;
		r->info.bytes += segment->size;
		if (!segment->size || !segment->last)
			continue;
		if (!r->info.last)
			r->info.first = segment->first;
		r->info.last = segment->last > r->info.last ? segment->last : r->info.last;
		r->segments[kept++] = *segment;
	}
	if (st != ST_OK)
		return st;
	if (!kept)
		return any || !r->segment_count ? ST_SPOOL_EMPTY : ST_SPOOL_FORMAT;
	r->segment_count = kept;
	return ST_OK;
}

static void sum_seconds(struct replay *r)
{
	for (size_t i = 0; i < r->seconds.count; i++) {
		r->info.ticks += r->seconds.entry[i].ticks;
		r->info.samples += r->seconds.entry[i].samples;
	}
}

static enum status prepare(struct replay *r, const struct spool_cut *cut)
{
	enum status st;

	r->segments = alloc_zero(cut->count, sizeof(*r->segments));
	st = r->segments ? names_open(&r->names) : ST_NO_MEMORY;
	if (st == ST_OK)
		st = replay_define_open(&r->define, r->names);
	if (st != ST_OK)
		return st;
	replay_rows_open(&r->rows, r->names, &r->define);
	for (size_t i = 0; i < cut->count; i++) {
		r->segments[i].fd = cut->segments[i].fd;
		r->segments[i].size = cut->segments[i].size;
	}
	r->segment_count = cut->count;
	r->info.segments = (uint32_t)cut->count;
	st = scan_all(r);
	if (st == ST_OK)
		sum_seconds(r);
	return st;
}

static enum status open_files(struct replay **replay, struct spool_cut *own,
			      const struct spool_cut *cut)
{
	struct replay *r = alloc_zero(1, sizeof(*r));
	enum status st;

	if (!r) {
		spool_cut_free(own);
		return ST_NO_MEMORY;
	}
	r->own = *own;
	replay_blocks_open(&r->blocks);
	st = prepare(r, cut ? cut : &r->own);
	if (st != ST_OK) {
		replay_close(r);
		return st;
	}
	*replay = r;
	return ST_OK;
}

enum status replay_open_cut(struct replay **replay, const struct spool_cut *cut)
{
	struct spool_cut none = { NULL, 0 };

	return open_files(replay, &none, cut);
}

enum status replay_open_dir(struct replay **replay, const char *dir)
{
	struct spool_cut own;
	enum status st = spool_cut_open(&own, dir);

	return st == ST_OK ? open_files(replay, &own, NULL) : st;
}

static void end_segment(struct replay *r)
{
	if (r->playing)
		segment_free(&r->header);
	r->playing = false;
}

void replay_close(struct replay *r)
{
	if (!r)
		return;
	end_segment(r);
	replay_rows_close(&r->rows);
	replay_define_close(&r->define);
	replay_blocks_close(&r->blocks);
	replay_seconds_free(&r->seconds);
	names_close(r->names);
	segment_about_free(&r->info.about);
	spool_cut_free(&r->own);
	free(r->segments);
	free(r->events);
	free(r);
}

/* ---- what is known of it */

const struct replay_info *replay_info(const struct replay *replay)
{
	return &replay->info;
}

const struct names *replay_names(const struct replay *replay)
{
	return replay->names;
}

const struct replay_second *replay_seconds(const struct replay *replay, size_t *count)
{
	*count = replay->seconds.count;
	return replay->seconds.entry;
}

const struct replay_event *replay_events(const struct replay *replay, size_t *count)
{
	*count = replay->event_count;
	return replay->events;
}

/* ---- events */

#define COLUMN(c) (&columns[SPOOL_EVENT_##c - SPOOL_EVENT_EVENT])

static enum status take_event(struct replay *r, struct cursor *columns)
{
	uint64_t event = cursor_varint(COLUMN(EVENT));
	int64_t at = cursor_svarint(COLUMN(AT));
	uint64_t size = cursor_varint(COLUMN(TEXT));
	void *items = r->events;
	struct bytes text;
	string_id id;

	if (COLUMN(EVENT)->overrun || at < 0 || at > TIME_US_MAX ||
	    size > cursor_left(COLUMN(TEXT)))
		return ST_BAD_DATA;
	text = cursor_take(COLUMN(TEXT), (size_t)size);
	if (event > SPOOL_LOG_STOPPED || r->event_count == EVENTS_MAX)
		return ST_OK;
	if (names_string(r->names, text.size ? (const char *)text.data : "", text.size, &id) !=
	    ST_OK)
		id = 0;
	if (alloc_grow(&items, &r->event_capacity, r->event_count + 1, EVENTS_MAX,
		       sizeof(*r->events)) != ST_OK)
		return ST_NO_MEMORY;
	r->events = items;
	r->events[r->event_count++] = (struct replay_event){ (enum spool_event)event, at * US,
							     names_text(r->names, id, NULL) };
	return ST_OK;
}

static enum status take_events(struct replay *r, const struct spool_block *block,
			       struct bytes payload)
{
	struct cursor c = cursor_over(payload), columns[BLOCK_COLUMNS_MAX];
	uint32_t sizes[BLOCK_COLUMNS_MAX];
	enum status st = ST_OK;

	if (!block_sizes(&c, &r->header.layout, SPOOL_EVENT, sizes) ||
	    !block_split(&c, &r->header.layout, SPOOL_EVENT, sizes, columns))
		return ST_BAD_DATA;
	for (uint32_t i = 0; i < block->rows && st == ST_OK; i++)
		st = take_event(r, columns);
	return st;
}

/* ---- play */

static enum status begin_segment(struct replay *r)
{
	const struct replay_segment *segment;
	enum status st;

	if (r->segment_at == r->segment_count)
		return ST_ENDED;
	segment = &r->segments[r->segment_at];
	replay_define_clear(&r->define);
	replay_rows_clear(&r->rows);
	st = replay_blocks_begin(&r->blocks, segment->fd, segment->size, &r->header);
	if (st == ST_OK)
		r->playing = true;
	return st == ST_SPOOL_FORMAT ? ST_BAD_DATA : st;
}

/* One block whose header was read, TICKS with the ROWS that must follow. */
static enum status take_block(struct replay *r, const struct spool_block *block)
{
	const struct block_layout *layout = &r->header.layout;
	struct spool_block rows;
	struct bytes payload;
	enum status st;

	if (block->kind == SPOOL_SECOND || block->kind == SPOOL_ROWS || block->kind >= SPOOL_END)
		return ST_OK;
	st = replay_blocks_payload(&r->blocks, &payload);
	if (st != ST_OK)
		return st;
	if (block->kind == SPOOL_THREADS)
		return replay_threads_block(&r->rows.threads, layout, block, payload);
	if (block->kind == SPOOL_EVENT)
		return take_events(r, block, payload);
	if (block->kind != SPOOL_TICKS)
		return replay_define_block(&r->define, layout, block, payload);
	if (block->first < r->before)
		return ST_BAD_DATA;
	st = replay_rows_ticks(&r->rows, layout, block, payload);
	if (st == ST_OK)
		st = replay_blocks_next(&r->blocks, &rows);
	if (st != ST_OK)
		return st;
	if (rows.kind != SPOOL_ROWS || rows.first != block->first || rows.last != block->last)
		return ST_BAD_DATA;
	st = replay_blocks_payload(&r->blocks, &payload);
	return st == ST_OK ? replay_rows_rows(&r->rows, layout, &rows, payload) : st;
}

/*
 * Play one tick, beginning segments and taking blocks as need be. ST_BAD_DATA: the segment ends
 * here.
 */
static enum status play(struct replay *r)
{
	enum status st = ST_OK;

	if (!r->playing)
		st = begin_segment(r);
	while (st == ST_OK && (st = replay_rows_next(&r->rows)) == ST_ENDED) {
		struct spool_block block;

		st = replay_blocks_next(&r->blocks, &block);
		if (st == ST_OK)
			st = take_block(r, &block);
	}
	return st;
}

enum status replay_next(struct replay *r, const struct tick **tick, const struct sample **samples,
			size_t *count)
{
	while (r->segment_at < r->segment_count) {
		enum status st = play(r);

		if (st == ST_OK) {
			r->before = r->rows.tick.time;
			if (r->before < r->from)
				continue;
			*tick = &r->rows.tick;
			*samples = r->rows.samples;
			*count = r->rows.sample_count;
			return ST_OK;
		}
		if (st != ST_ENDED && st != ST_BAD_DATA)
			return st;
		if (st == ST_BAD_DATA && !r->segments[r->segment_at].damaged) {
			r->segments[r->segment_at].damaged = true;
			r->info.damaged++;
		}
		r->info.threads_left_out = r->rows.threads.left_out;
		end_segment(r);
		r->segment_at++;
	}
	return ST_ENDED;
}

enum status replay_seek(struct replay *r, nanoseconds from)
{
	size_t at = 0;

	for (size_t i = 0; i < r->segment_count && r->segments[i].first <= from; i++)
		at = i;
	end_segment(r);
	r->segment_at = at;
	r->from = from;
	r->before = 0;
	r->event_count = 0;
	return ST_OK;
}
