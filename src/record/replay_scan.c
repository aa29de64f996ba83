/*
 * replay_scan: the first look at a segment when a log is opened.
 *
 * Only headers are read, and the payloads of SECOND, which are small. So damage inside a block of
 * rows is found later, when it is decoded; what breaks the chain of headers is found here and cuts
 * the segment.
 */
#include "record/replay_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/block.h"

#define SECOND ((nanoseconds)1000000000)
#define US 1000
#define START_US_MAX (INT64_C(1) << 52)

void replay_seconds_free(struct replay_seconds *seconds)
{
	free(seconds->entry);
	*seconds = (struct replay_seconds){ .count = 0 };
}

/* Add what other says to the entry, which keeps its start. */
static void merge(struct replay_second *entry, const struct replay_second *other)
{
	entry->ticks += other->ticks;
	entry->missed += other->missed;
	entry->torn += other->torn;
	entry->samples += other->samples;
	entry->rows += other->rows;
	entry->gap_s += other->gap_s;
	entry->cpu_s += other->cpu_s;
	entry->held_s += other->held_s;
	entry->waited_s += other->waited_s;
	entry->gc_s += other->gc_s;
}

/* Make every two entries one. */
static void coarsen(struct replay_seconds *seconds)
{
	size_t kept = 0;

	for (size_t i = 0; i < seconds->count; i += 2) {
		seconds->entry[kept] = seconds->entry[i];
		if (i + 1 < seconds->count)
			merge(&seconds->entry[kept], &seconds->entry[i + 1]);
		kept++;
	}
	seconds->count = kept;
	seconds->unit *= 2;
}

static enum status add_second(struct replay_seconds *seconds, const struct replay_second *second)
{
	void *items = seconds->entry;
	struct replay_second *last = seconds->count ? &seconds->entry[seconds->count - 1] : NULL;
	enum status st;

	if (!seconds->unit)
		seconds->unit = SECOND;
	if (last && second->start < last->start)
		return ST_BAD_DATA;
	if (last && second->start - last->start < seconds->unit) {
		merge(last, second);
		return ST_OK;
	}
	if (seconds->count == REPLAY_SECONDS_MAX)
		coarsen(seconds);
	st = alloc_grow(&items, &seconds->capacity, seconds->count + 1, REPLAY_SECONDS_MAX,
			sizeof(*seconds->entry));
	seconds->entry = items;
	if (st == ST_OK)
		seconds->entry[seconds->count++] = *second;
	return st;
}

#define COLUMN(c) (&columns[SPOOL_SECOND_##c - SPOOL_SECOND_START])

static uint32_t as_u32(uint64_t v)
{
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static double as_seconds(uint64_t us)
{
	return (double)us / 1e6;
}

static enum status take_second(struct replay_seconds *seconds, struct cursor *columns)
{
	int64_t start = cursor_svarint(COLUMN(START));
	struct replay_second second = {
		.start = start * US,
		.ticks = as_u32(cursor_varint(COLUMN(TICKS))),
		.missed = as_u32(cursor_varint(COLUMN(MISSED))),
		.torn = as_u32(cursor_varint(COLUMN(TORN))),
		.samples = cursor_varint(COLUMN(SAMPLES)),
		.rows = cursor_varint(COLUMN(ROWS)),
		.gap_s = as_seconds(cursor_varint(COLUMN(GAP))),
		.cpu_s = as_seconds(cursor_varint(COLUMN(CPU))),
		.held_s = as_seconds(cursor_varint(COLUMN(HELD))),
		.waited_s = as_seconds(cursor_varint(COLUMN(WAITED))),
		.gc_s = as_seconds(cursor_varint(COLUMN(GC))),
	};

	if (COLUMN(START)->overrun || start < 0 || start > START_US_MAX)
		return ST_BAD_DATA;
	return add_second(seconds, &second);
}

static enum status take_seconds(struct replay_seconds *seconds, const struct block_layout *layout,
				const struct spool_block *block, struct bytes payload)
{
	struct cursor c = cursor_over(payload), columns[BLOCK_COLUMNS_MAX];
	uint32_t sizes[BLOCK_COLUMNS_MAX];
	enum status st = ST_OK;

	if (!block_sizes(&c, layout, SPOOL_SECOND, sizes) ||
	    !block_split(&c, layout, SPOOL_SECOND, sizes, columns))
		return ST_BAD_DATA;
	for (uint32_t i = 0; i < block->rows && st == ST_OK; i++)
		st = take_second(seconds, columns);
	return st;
}

/* One block, by its header. */
static enum status look(struct replay_segment *segment, struct replay_blocks *blocks,
			const struct block_layout *layout, const struct spool_block *block,
			struct replay_seconds *seconds)
{
	struct bytes payload;
	enum status st;

	if (block->kind == SPOOL_TICKS && block->rows) {
		if (block->first < segment->last)
			return ST_BAD_DATA;
		segment->first = segment->last ? segment->first : block->first;
		segment->last = block->last;
	}
	if (block->kind != SPOOL_SECOND)
		return ST_OK;
	st = replay_blocks_payload(blocks, &payload);
	return st == ST_OK ? take_seconds(seconds, layout, block, payload) : st;
}

enum status replay_scan(struct replay_segment *segment, struct replay_blocks *blocks,
			struct replay_seconds *seconds, struct spool_about *about)
{
	struct segment header;
	struct spool_block block;
	uint64_t whole = 0;
	enum status st = replay_blocks_begin(blocks, segment->fd, segment->size, &header);

	if (st == ST_OK) {
		whole = blocks->at;
		while ((st = replay_blocks_next(blocks, &block)) == ST_OK &&
		       (st = look(segment, blocks, &header.layout, &block, seconds)) == ST_OK)
			whole = blocks->at;
		if (about)
			*about = header.about;
		else
			segment_free(&header);
	}
	segment->damaged = st == ST_BAD_DATA;
	segment->size = whole;
	return st == ST_ENDED || st == ST_BAD_DATA ? ST_OK : st;
}
