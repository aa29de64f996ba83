/*
 * spool_ticks: what a tick says beside its thread-samples, in one byte or two when nothing is
 * special.
 *
 * Times are whole microseconds, rounded down from the same clock, so errors do not add up; of CPU
 * time the rest below a microsecond is carried to the next tick. A tick's weight is the time since
 * the tick before, and is written only where it is not. The process' CPU time is written as
 * difference to the weight: in a program that keeps one core busy it is small.
 */
#include "record/spool_ticks.h"

#include <string.h>

#include "record/block.h"

#define COLUMN(c) ((c)-SPOOL_TICKS_HEAD)
#define US 1000

void spool_ticks_open(struct spool_ticks *t)
{
	*t = (struct spool_ticks){ .count = 0 };
	for (size_t i = 0; i < SPOOL_TICK_COLUMNS; i++)
		buffer_init(&t->columns[i], SPOOL_BLOCK_MAX);
}

void spool_ticks_close(struct spool_ticks *t)
{
	for (size_t i = 0; i < SPOOL_TICK_COLUMNS; i++)
		buffer_free(&t->columns[i]);
}

static void begin_block(struct spool_ticks *t)
{
	for (size_t i = 0; i < SPOOL_TICK_COLUMNS; i++)
		buffer_clear(&t->columns[i]);
	t->count = 0;
	t->biggest = 0;
	t->sums = (struct spool_sums){ 0 };
}

void spool_ticks_clear(struct spool_ticks *t)
{
	begin_block(t);
	t->rss_bytes = 0;
	t->interpreter_count = 0;
}

/* ---- interpreters */

static bool same_ids(const struct spool_ticks *t, const struct tick *tick, uint32_t count)
{
	if (count != t->interpreter_count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (t->interpreters[i].id != tick->interpreters[i].id)
			return false;
	}
	return true;
}

static bool same_interpreters(const struct spool_ticks *t, const struct tick *tick, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct tick_interpreter *a = &t->interpreters[i], *b = &tick->interpreters[i];

		if (a->holder != b->holder || a->locked != b->locked || a->has_gil != b->has_gil ||
		    a->gc != b->gc)
			return false;
	}
	return true;
}

/* Returns SPOOL_WHAT_INTERPRETERS when there was something to write. */
static unsigned int add_interpreters(struct spool_ticks *t, const struct tick *tick)
{
	struct buffer *column = &t->columns[COLUMN(SPOOL_TICKS_INTERPRETERS)];
	uint32_t count = tick->interpreter_count < TICK_INTERPRETERS_MAX ? tick->interpreter_count
									 : TICK_INTERPRETERS_MAX;
	bool ids = !same_ids(t, tick, count);

	if (!ids && same_interpreters(t, tick, count))
		return 0;
	buffer_varint(column, count << 1 | ids);
	for (uint32_t i = 0; i < count && ids; i++)
		buffer_svarint(column, tick->interpreters[i].id);
	for (uint32_t i = 0; i < count; i++) {
		const struct tick_interpreter *in = &tick->interpreters[i];
		unsigned int flags = (in->locked ? SPOOL_GIL_LOCKED : 0) |
				     (in->has_gil ? SPOOL_GIL_EXISTS : 0) |
				     (in->gc ? SPOOL_GIL_GC : 0);

		buffer_varint(column, (uint64_t)in->holder << 3 | flags);
		t->interpreters[i] = *in;
	}
	t->interpreter_count = count;
	return SPOOL_WHAT_INTERPRETERS;
}

/* ---- ticks */

static uint64_t positive(nanoseconds v)
{
	return v > 0 ? (uint64_t)v : 0;
}

/*
 * The weight of a tick, in microseconds: what passed since the tick before, if it says just
 * that.
 */
static uint64_t weight_us(const struct spool_ticks *t, const struct tick *tick, uint64_t since_us)
{
	if (tick->weight == tick->time - t->before)
		return since_us;
	return positive(tick->weight + US / 2) / US;
}

/* Write weight and gap where the time since the tick before does not tell them. */
static unsigned int add_weight(struct spool_ticks *t, const struct tick *tick, uint64_t since_us,
			       uint64_t weight, nanoseconds lost)
{
	unsigned int what = 0;
	uint64_t gap = positive(tick->gap + lost + US / 2) / US;
	uint64_t rest = since_us > weight ? since_us - weight : 0;

	if (t->count && tick->weight + tick->gap + lost == tick->time - t->before)
		gap = rest;
	if (!t->count || weight != since_us) {
		buffer_varint(&t->columns[COLUMN(SPOOL_TICKS_WEIGHT)], weight);
		what |= SPOOL_WHAT_WEIGHT;
	}
	if (!t->count || gap != rest) {
		buffer_varint(&t->columns[COLUMN(SPOOL_TICKS_GAP)], gap);
		what |= SPOOL_WHAT_GAP;
	}
	return what;
}

/* Part of the CPU time; what is below a microsecond waits. Returns bit when there was something to write. */
static unsigned int add_part(struct buffer *column, nanoseconds part, nanoseconds *rest,
			     unsigned int bit)
{
	uint64_t us = positive(part + *rest) / US;

	*rest += part - (nanoseconds)us * US;
	if (!us)
		return 0;
	buffer_varint(column, us);
	return bit;
}

static unsigned int add_rare(struct spool_ticks *t, const struct tick *tick)
{
	unsigned int what = add_interpreters(t, tick);

	if (tick->rss_bytes != t->rss_bytes) {
		buffer_varint(&t->columns[COLUMN(SPOOL_TICKS_RSS)], tick->rss_bytes);
		t->rss_bytes = tick->rss_bytes;
		what |= SPOOL_WHAT_RSS;
	}
	if (tick->missed) {
		buffer_varint(&t->columns[COLUMN(SPOOL_TICKS_MISSED)], tick->missed);
		what |= SPOOL_WHAT_MISSED;
	}
	what |= add_part(&t->columns[COLUMN(SPOOL_TICKS_NATIVE)], tick->native_cpu, &t->native_rest,
			 SPOOL_WHAT_NATIVE);
	what |= add_part(&t->columns[COLUMN(SPOOL_TICKS_OTHERS)], tick->others_cpu, &t->others_rest,
			 SPOOL_WHAT_OTHERS);
	return what;
}

static bool add_cpu(struct spool_ticks *t, const struct tick *tick, uint64_t weight)
{
	nanoseconds cpu = tick->process_cpu + t->cpu_rest;
	nanoseconds us = cpu > 0 ? cpu / US : 0;

	t->cpu_rest = cpu - us * US;
	if (us)
		buffer_svarint(&t->columns[COLUMN(SPOOL_TICKS_CPU)], us - (int64_t)weight);
	return us != 0;
}

void spool_ticks_add(struct spool_ticks *t, const struct tick *tick, nanoseconds lost)
{
	nanoseconds time = tick->time / US * US;
	nanoseconds before = t->before / US * US;
	uint64_t since_us = positive(time - before) / US;
	uint64_t weight = weight_us(t, tick, since_us);
	unsigned int what = add_weight(t, tick, since_us, weight, lost) | add_rare(t, tick);
	bool cpu = add_cpu(t, tick, weight);

	if (what)
		buffer_u8(&t->columns[COLUMN(SPOOL_TICKS_WHAT)], (uint8_t)what);
	if (!t->count)
		t->first = time;
	buffer_varint(&t->columns[COLUMN(SPOOL_TICKS_HEAD)],
		      (t->count ? since_us : 0) << 2 | (uint64_t)cpu << 1 | (what != 0));
	t->before = tick->time;
	t->last = time;
	t->count++;
	for (size_t i = 0; i < SPOOL_TICK_COLUMNS; i++) {
		if (t->columns[i].size > t->biggest)
			t->biggest = t->columns[i].size;
	}
}

void spool_ticks_sum(struct spool_ticks *t, const struct tick *tick, const struct sample *samples,
		     size_t count)
{
	struct spool_sums *sums = &t->sums;
	bool held = false, gc = false;

	for (uint32_t i = 0; i < tick->interpreter_count && i < TICK_INTERPRETERS_MAX; i++) {
		held |= tick->interpreters[i].locked;
		gc |= tick->interpreters[i].gc;
	}
	for (size_t i = 0; i < count; i++) {
		sums->torn += (samples[i].flags & SAMPLE_TORN) != 0;
		sums->waited += samples[i].state == STATE_GIL_WAIT ? tick->weight : 0;
	}
	sums->samples += count;
	sums->missed += tick->missed;
	sums->gap += tick->gap;
	sums->cpu += tick->process_cpu;
	sums->held += held ? tick->weight : 0;
	sums->gc += gc ? tick->weight : 0;
}

/* ---- blocks */

void spool_ticks_write(struct spool_ticks *t, struct buffer *out)
{
	block_write(out, SPOOL_TICKS, t->count, t->first, t->last, t->columns);
}

void spool_ticks_write_second(struct spool_ticks *t, uint32_t rows, struct buffer *out)
{
	const struct spool_sums *sums = &t->sums;
	const uint64_t values[SPOOL_SECOND_COLUMNS] = {
		[SPOOL_SECOND_TICKS - SPOOL_SECOND_START] = t->count,
		[SPOOL_SECOND_MISSED - SPOOL_SECOND_START] = sums->missed,
		[SPOOL_SECOND_TORN - SPOOL_SECOND_START] = sums->torn,
		[SPOOL_SECOND_SAMPLES - SPOOL_SECOND_START] = sums->samples,
		[SPOOL_SECOND_ROWS - SPOOL_SECOND_START] = rows,
		[SPOOL_SECOND_GAP - SPOOL_SECOND_START] = positive(sums->gap) / US,
		[SPOOL_SECOND_CPU - SPOOL_SECOND_START] = positive(sums->cpu) / US,
		[SPOOL_SECOND_HELD - SPOOL_SECOND_START] = positive(sums->held) / US,
		[SPOOL_SECOND_WAITED - SPOOL_SECOND_START] = positive(sums->waited) / US,
		[SPOOL_SECOND_GC - SPOOL_SECOND_START] = positive(sums->gc) / US,
	};
	struct buffer columns[SPOOL_SECOND_COLUMNS];

	for (size_t i = 0; i < SPOOL_SECOND_COLUMNS; i++) {
		buffer_init(&columns[i], SPOOL_BLOCK_MAX);
		if (i)
			buffer_varint(&columns[i], values[i]);
		else
			buffer_svarint(&columns[i], t->first / US);
	}
	block_write(out, SPOOL_SECOND, 1, t->first, t->last, columns);
	for (size_t i = 0; i < SPOOL_SECOND_COLUMNS; i++)
		buffer_free(&columns[i]);
	begin_block(t);
}
