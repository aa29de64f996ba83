/*
 * spool: from ticks to batches of blocks.
 *
 * A tick goes into columns: its own (spool_ticks.c), its threads' rows (spool_rows.c), and what
 * they refer to for the first time (spool_define.c). A flush turns the columns into blocks at the
 * end of a batch: definitions first, so that nothing is used before it is defined; a segment's
 * first batch begins with its header. A new segment begins by forgetting all that was defined and
 * open, so that the next tick says everything again.
 *
 * Nothing here waits or touches a file. Batches that are out are counted: when the writer is too
 * far behind, ticks are left out, and the time they stood for becomes part of the next one's gap.
 */
#include "record/spool.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/block.h"
#include "record/segment.h"
#include "record/spool_define.h"
#include "record/spool_format.h"
#include "record/spool_rows.h"
#include "record/spool_ticks.h"

#define COLUMN_LIMIT (128u << 10)
#define TOTAL_LIMIT (8u << 20)
#define SEGMENT_BYTES (32u << 20)
#define SEGMENT_TIME (600 * (nanoseconds)1000000000)
#define FLUSH_TIME ((nanoseconds)1000000000)
#define BACKLOG_BYTES (16u << 20)
#define DEFINITIONS_MAX (1u << 20) /* bytes of definitions that wait inside one tick */
#define BATCH_MAX (256u << 20)
#define SPARE_MAX (1u << 20) /* a batch that grew beyond is not kept for reuse */
#define SPARES 2
#define EVENT_COLUMNS (SPOOL_EVENT_TEXT - SPOOL_EVENT_EVENT + 1)

struct spool {
	struct spool_about about;
	struct spool_options options;
	const struct names *names;
	struct spool_define define;
	struct spool_rows rows;
	struct spool_ticks ticks;
	struct buffer events[EVENT_COLUMNS];
	uint32_t event_count;
	nanoseconds event_at; /* of the last one */

	uint32_t segment; /* number of the one that is open, or of the next */
	bool segment_open;
	uint64_t segment_bytes; /* sealed so far */
	nanoseconds segment_started;

	struct spool_batch *batch; /* being filled; NULL: none */
	struct spool_batch *sealed, **sealed_end;
	struct spool_batch *spare;
	size_t spare_count;
	uint64_t sequence;  /* of the last batch sealed */
	uint64_t out_bytes; /* sealed and not recycled */
	uint64_t lost_ticks;
	nanoseconds lost_time; /* of ticks left out since the last one recorded */
};

/* ---- open and close */

#define DEFAULT(value, other) ((value) > 0 ? (value) : (other))

static void set_options(struct spool_options *to, const struct spool_options *from)
{
	if (from)
		*to = *from;
	to->column_limit = DEFAULT(to->column_limit, COLUMN_LIMIT);
	to->total_limit = DEFAULT(to->total_limit, TOTAL_LIMIT);
	to->segment_bytes = DEFAULT(to->segment_bytes, SEGMENT_BYTES);
	to->segment_time = DEFAULT(to->segment_time, SEGMENT_TIME);
	to->flush_time = DEFAULT(to->flush_time, FLUSH_TIME);
	to->backlog_bytes = DEFAULT(to->backlog_bytes, BACKLOG_BYTES);
	if (to->total_limit > TOTAL_LIMIT)
		to->total_limit = TOTAL_LIMIT;
}

enum status spool_open(struct spool **spool, const struct spool_about *about,
		       const struct spool_options *options, const struct names *names)
{
	struct spool *s = alloc_zero(1, sizeof(*s));
	enum status st = s ? segment_about_copy(&s->about, about) : ST_NO_MEMORY;

	if (st != ST_OK) {
		free(s);
		return st;
	}
	set_options(&s->options, options);
	s->names = names;
	spool_define_open(&s->define, names);
	spool_rows_open(&s->rows, names, &s->define);
	spool_ticks_open(&s->ticks);
	for (size_t i = 0; i < EVENT_COLUMNS; i++)
		buffer_init(&s->events[i], SPOOL_BLOCK_MAX);
	s->segment = 1;
	s->sealed_end = &s->sealed;
	*spool = s;
	return ST_OK;
}

static void free_batch(struct spool_batch *batch)
{
	if (!batch)
		return;
	buffer_free(&batch->data);
	free(batch);
}

static void free_batches(struct spool_batch *batch)
{
	while (batch) {
		struct spool_batch *next = batch->next;

		free_batch(batch);
		batch = next;
	}
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	free_batch(s->batch);
	free_batches(s->sealed);
	free_batches(s->spare);
	spool_define_close(&s->define);
	spool_rows_close(&s->rows);
	spool_ticks_close(&s->ticks);
	for (size_t i = 0; i < EVENT_COLUMNS; i++)
		buffer_free(&s->events[i]);
	segment_about_free(&s->about);
	free(s);
}

/* ---- batches */

static struct spool_batch *new_batch(struct spool *s)
{
	struct spool_batch *batch = s->spare;

	if (batch) {
		s->spare = batch->next;
		s->spare_count--;
		buffer_clear(&batch->data);
		batch->next = NULL;
	} else {
		batch = alloc_zero(1, sizeof(*batch));
		if (batch)
			buffer_init(&batch->data, BATCH_MAX);
	}
	return batch;
}

/* The batch that is being filled, begun (with the segment's header) if need be. NULL: no memory. */
static struct buffer *open_batch(struct spool *s)
{
	if (s->batch)
		return &s->batch->data;
	s->batch = new_batch(s);
	if (!s->batch)
		return NULL;
	s->batch->segment = s->segment;
	s->batch->first_of_segment = !s->segment_open;
	s->batch->last_of_segment = false;
	if (!s->segment_open)
		segment_write(&s->batch->data, &s->about, s->segment, names_generation(s->names));
	s->segment_open = true;
	return &s->batch->data;
}

/* What is in memory is lost, and a new segment begins: nothing in it refers to what was lost. */
static void abandon(struct spool *s)
{
	s->lost_ticks += s->ticks.count;
	free_batch(s->batch);
	s->batch = NULL;
	spool_define_clear(&s->define);
	spool_ticks_clear(&s->ticks);
	spool_rows_clear(&s->rows);
	for (size_t i = 0; i < EVENT_COLUMNS; i++)
		buffer_clear(&s->events[i]);
	s->event_count = 0;
	s->segment++;
	s->segment_open = false;
	s->segment_bytes = 0;
}

static enum status seal_batch(struct spool *s, bool last_of_segment)
{
	struct spool_batch *batch = s->batch;

	if (batch->data.failed) {
		abandon(s);
		return ST_NO_MEMORY;
	}
	batch->last_of_segment = last_of_segment;
	batch->sequence = ++s->sequence;
	batch->next = NULL;
	*s->sealed_end = batch;
	s->sealed_end = &batch->next;
	s->out_bytes += batch->data.size;
	s->segment_bytes += batch->data.size;
	s->batch = NULL;
	return ST_OK;
}

struct spool_batch *spool_take(struct spool *s)
{
	struct spool_batch *batch = s->sealed;

	if (!batch)
		return NULL;
	s->sealed = batch->next;
	if (!s->sealed)
		s->sealed_end = &s->sealed;
	batch->next = NULL;
	return batch;
}

void spool_recycle(struct spool *s, struct spool_batch *batch)
{
	s->out_bytes -= batch->data.size < s->out_bytes ? batch->data.size : s->out_bytes;
	if (s->spare_count >= SPARES || batch->data.capacity > SPARE_MAX) {
		free_batch(batch);
		return;
	}
	batch->next = s->spare;
	s->spare = batch;
	s->spare_count++;
}

/* ---- flush */

static void write_events(struct spool *s, struct buffer *out)
{
	if (s->event_count)
		block_write(out, SPOOL_EVENT, s->event_count, s->event_at, s->event_at, s->events);
	s->event_count = 0;
}

/* Everything in the columns becomes blocks of one sealed batch. */
static enum status flush(struct spool *s, bool end)
{
	bool some = s->ticks.count || s->event_count || (end && s->segment_open);
	nanoseconds first = s->ticks.first, last = s->ticks.last;
	uint32_t rows = s->rows.rows;
	struct buffer *out;

	if (!some)
		return ST_OK;
	out = open_batch(s);
	if (out) {
		s->batch->first_tick = s->ticks.count ? first : last;
		s->batch->last_tick = last;
	}
	if (!out || spool_rows_look(&s->rows) != ST_OK) {
		abandon(s);
		return ST_NO_MEMORY;
	}
	spool_define_write(&s->define, out, first, last);
	spool_rows_write_threads(&s->rows, out, first, last);
	write_events(s, out);
	if (s->ticks.count) {
		spool_ticks_write(&s->ticks, out);
		spool_rows_write(&s->rows, out, first, last, s->options.total_limit);
		spool_ticks_write_second(&s->ticks, rows, out);
	}
	if (end)
		block_end(out, block_begin(out, SPOOL_END, 0, last, last));
	return seal_batch(s, end);
}

/* End the segment that is open; the next tick begins another. */
static enum status end_segment(struct spool *s)
{
	enum status st = flush(s, true);

	if (st != ST_OK || !s->segment_open)
		return st;
	spool_define_clear(&s->define);
	spool_ticks_clear(&s->ticks);
	spool_rows_clear(&s->rows);
	s->segment++;
	s->segment_open = false;
	s->segment_bytes = 0;
	return ST_OK;
}

static bool is_full(const struct spool *s)
{
	size_t limit = s->options.column_limit;

	return s->rows.biggest >= limit || s->ticks.biggest >= limit ||
	       s->rows.bytes >= s->options.total_limit ||
	       s->ticks.last - s->ticks.first >= s->options.flush_time;
}

static bool segment_is_full(const struct spool *s)
{
	return s->segment_bytes >= s->options.segment_bytes ||
	       s->ticks.last - s->segment_started >= s->options.segment_time;
}

/* ---- ticks */

static enum status record(struct spool *s, const struct tick *tick, const struct sample *samples,
			  size_t count)
{
	if (!s->segment_open && !s->ticks.count)
		s->segment_started = tick->time;
	spool_ticks_add(&s->ticks, tick, s->lost_time);
	spool_ticks_sum(&s->ticks, tick, samples, count);
	s->lost_time = 0;
	spool_rows_begin(&s->rows);
	for (size_t i = 0; i < count; i++) {
		enum status st = spool_rows_add(&s->rows, &samples[i]);

		if (st != ST_OK)
			return st;
		if (s->define.stacks.rows && spool_define_bytes(&s->define) > DEFINITIONS_MAX) {
			struct buffer *out = open_batch(s);

			if (!out)
				return ST_NO_MEMORY;
			spool_define_write(&s->define, out, s->ticks.first, s->ticks.last);
		}
	}
	spool_rows_end(&s->rows);
	return ST_OK;
}

enum status spool_tick(struct spool *s, const struct tick *tick, const struct sample *samples,
		       size_t count)
{
	enum status st;

	if (s->out_bytes >= s->options.backlog_bytes) {
		s->lost_ticks++;
		s->lost_time += tick->weight + tick->gap;
		return ST_OK;
	}
	st = record(s, tick, samples, count);
	if (st != ST_OK) {
		abandon(s);
		return st;
	}
	if (!is_full(s))
		return ST_OK;
	st = flush(s, false);
	if (st == ST_OK && segment_is_full(s))
		st = end_segment(s);
	return st;
}

void spool_event(struct spool *s, enum spool_event event, nanoseconds at, const char *text)
{
	size_t size = text ? strnlen(text, NAMES_STRING_MAX) : 0;

	buffer_varint(&s->events[0], (uint64_t)event);
	buffer_svarint(&s->events[SPOOL_EVENT_AT - SPOOL_EVENT_EVENT], at / 1000);
	buffer_varint(&s->events[SPOOL_EVENT_TEXT - SPOOL_EVENT_EVENT], size);
	buffer_add(&s->events[SPOOL_EVENT_TEXT - SPOOL_EVENT_EVENT], text, size);
	s->event_at = at > 0 ? at : 0;
	s->event_count++;
}

uint64_t spool_seal(struct spool *s)
{
	/* What cannot be sealed for want of memory is counted as lost there. */
	if (flush(s, false) != ST_OK)
		return s->sequence;
	return s->sequence;
}

void spool_renew(struct spool *s)
{
	if (end_segment(s) != ST_OK)
		abandon(s);
}

enum status spool_new_life(struct spool *s, const struct spool_about *about)
{
	struct spool_about copy;
	enum status st = segment_about_copy(&copy, about);

	if (st != ST_OK)
		return st;
	st = end_segment(s);
	segment_about_free(&s->about);
	s->about = copy;
	return st;
}

uint64_t spool_lost_ticks(const struct spool *s)
{
	return s->lost_ticks;
}
