/*
 * gecko_rows: thread-samples become rows, and runs of equal states become markers.
 *
 * A thread's columns are streams of varints in the scratch file: ten million thread-samples never
 * stand in memory. Invariant: a thread's rows stand in order of time; the sum of their weights is
 * its thread-samples (plus its gaps); the sum of their CPU is its CPU account to the microsecond.
 * A marker lasts from the first tick that saw its bit to the first that did not; where nothing
 * was seen (a gap, a thread that was away) it ends an interval after it was seen last, and a row
 * without a stack says that the time since was not sampled.
 *
 * Called by gecko.c; writing is in gecko_columns.c.
 */
#include "export/gecko_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/gecko_range.h"

#define VARINT_MAX 10

void gecko_rows_open(struct gecko_rows *r, struct gecko_tables *tables, struct scratch *scratch,
		     bool merge, nanoseconds zero, nanoseconds interval)
{
	*r = (struct gecko_rows){ .tables = tables,
				  .scratch = scratch,
				  .merge = merge,
				  .zero = zero,
				  .interval = interval };
}

void gecko_rows_close(struct gecko_rows *r)
{
	free(r->threads);
	r->threads = NULL;
	r->count = r->capacity = 0;
}

static size_t put_varint(uint8_t *out, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (uint8_t)(v | 0x80);
	out[n++] = (uint8_t)v;
	return n;
}

static enum status add(struct gecko_rows *r, const struct gecko_thread *t, enum gecko_column column,
		       uint64_t v)
{
	uint8_t record[VARINT_MAX];

	return scratch_add(r->scratch, t->streams[column], record, put_varint(record, v));
}

/* One row; what the thread used of a CPU since the row before goes with it. */
static enum status add_row(struct gecko_rows *r, struct gecko_thread *t, stack_id stack,
			   int64_t time, uint64_t weight)
{
	uint64_t cpu = t->cpu_ns / 1000 - t->cpu_told_us;
	enum status status;

	if (time < t->told)
		time = t->told;
	status = add(r, t, GECKO_COLUMN_STACK, stack);
	if (status == ST_OK)
		status = add(r, t, GECKO_COLUMN_TIME, (uint64_t)(time - t->told));
	if (status == ST_OK)
		status = add(r, t, GECKO_COLUMN_CPU, cpu);
	if (status == ST_OK && r->merge)
		status = add(r, t, GECKO_COLUMN_WEIGHT, weight);
	if (status != ST_OK)
		return status;
	t->told = time;
	t->cpu_told_us += cpu;
	t->weighted |= weight > 1;
	t->rows++;
	r->rows++;
	return ST_OK;
}

static enum status end_idle(struct gecko_rows *r, struct gecko_thread *t)
{
	uint64_t count = t->idle.count;

	t->idle.count = 0;
	return count ? add_row(r, t, t->stack, t->seen, count) : ST_OK;
}

static enum status end_mark(struct gecko_rows *r, struct gecko_thread *t, unsigned mark,
			    int64_t end)
{
	uint8_t record[3 * VARINT_MAX];
	int64_t start = t->mark_start[mark];
	size_t n = put_varint(record, mark);

	n += put_varint(record + n, (uint64_t)start);
	n += put_varint(record + n, (uint64_t)(end > start ? end - start : 0));
	t->markers++;
	r->markers++;
	return scratch_add(r->scratch, t->streams[GECKO_COLUMN_MARKS], record, n);
}

/* From time on the markers in marks are open and no others. */
static enum status set_marks(struct gecko_rows *r, struct gecko_thread *t, uint32_t marks,
			     int64_t time)
{
	uint32_t changed = marks ^ t->marks;
	enum status status = ST_OK;

	for (unsigned mark = 0; changed >> mark && status == ST_OK; mark++) {
		if (!(changed >> mark & 1))
			continue;
		if (marks >> mark & 1)
			t->mark_start[mark] = time;
		else
			status = end_mark(r, t, mark, time);
	}
	t->marks = marks;
	return status;
}

/* The thread was not seen between its last tick and this one, or not wholly. */
static enum status skip(struct gecko_rows *r, struct gecko_thread *t, int64_t time,
			nanoseconds weight)
{
	int64_t end = t->seen + r->interval / 1000, again = time - weight / 1000;
	enum status status = end_idle(r, t);

	if (status == ST_OK)
		status = set_marks(r, t, 0, end < time ? end : time);
	t->last.thread = 0;
	if (status == ST_OK && again > t->seen) {
		status = add_row(r, t, 0, again, 1);
		t->gaps++;
	}
	return status;
}

static bool same(const struct sample *a, const struct sample *b)
{
	return a->thread == b->thread && a->stack == b->stack && a->state == b->state &&
	       a->flags == b->flags;
}

static enum status add_sample(struct gecko_rows *r, struct gecko_thread *t, const struct sample *s,
			      int64_t time, nanoseconds weight)
{
	bool equal = same(s, &t->last);
	bool idle = r->merge && equal && !s->cpu_mille && !t->last.cpu_mille;
	nanoseconds values[KIND_COUNT];
	enum status status = ST_OK;

	if (t->idle.count && (!idle || time - t->idle.start >= GECKO_RUN_MAX_NS / 1000))
		status = end_idle(r, t);
	if (status == ST_OK && !equal)
		status = gecko_tables_stack(r->tables, s, &t->stack);
	if (status == ST_OK && (!equal || s->cpu_mille != t->last.cpu_mille))
		status = set_marks(r, t, gecko_markers_of(s, r->tables->free_threaded), time);
	if (status != ST_OK)
		return status;
	sample_values(s, weight, values);
	t->samples++;
	t->cpu_ns += (uint64_t)values[KIND_CPU];
	t->last = *s;
	if (!idle)
		return add_row(r, t, t->stack, time, 1);
	if (!t->idle.count++)
		t->idle.start = time;
	return ST_OK;
}

static enum status find_thread(struct gecko_rows *r, thread_id from, struct gecko_thread **thread)
{
	void *threads = r->threads;
	thread_id id;
	enum status status = carry_thread(r->tables->carry, from, &id);

	if (status == ST_OK)
		status = alloc_grow(&threads, &r->capacity, id, NAMES_THREADS_MAX,
				    sizeof(*r->threads));
	r->threads = threads;
	if (status != ST_OK)
		return status;
	while (r->count < id && status == ST_OK) {
		struct gecko_thread *t = &r->threads[r->count];

		for (int c = 0; c < GECKO_COLUMN_COUNT && status == ST_OK; c++)
			status = scratch_stream(r->scratch, &t->streams[c]);
		r->count += status == ST_OK;
	}
	*thread = &r->threads[id - 1];
	return status;
}

enum status gecko_rows_tick(struct gecko_rows *r, const struct tick *tick,
			    const struct sample *samples, size_t count)
{
	int64_t time = (tick->time - r->zero) / 1000;
	bool renewed = carry_tick(r->tables->carry);

	r->ticks++;
	for (size_t i = 0; renewed && i < r->count; i++)
		r->threads[i].last.thread = 0; /* an old id may mean another stack now */
	for (size_t i = 0; i < count; i++) {
		struct gecko_thread *t;
		enum status status = find_thread(r, samples[i].thread, &t);

		if (status == ST_OK && t->samples && (tick->gap || t->tick + 1 != r->ticks))
			status = skip(r, t, time, tick->weight);
		if (status == ST_OK)
			status = add_sample(r, t, &samples[i], time, tick->weight);
		if (status != ST_OK)
			return status;
		t->tick = r->ticks;
		t->seen = time;
		r->samples++;
		r->torn += samples[i].flags & SAMPLE_TORN ? 1 : 0;
	}
	return ST_OK;
}

enum status gecko_rows_end(struct gecko_rows *r, nanoseconds end)
{
	int64_t cut = (end - r->zero) / 1000;
	enum status status = ST_OK;

	for (size_t i = 0; i < r->count && status == ST_OK; i++) {
		struct gecko_thread *t = &r->threads[i];
		int64_t last = t->seen + r->interval / 1000;

		status = end_idle(r, t);
		if (status == ST_OK)
			status = set_marks(r, t, 0, last < cut ? last : cut);
	}
	return status;
}
