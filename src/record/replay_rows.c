/*
 * replay_rows: the reverse of spool_ticks.c and spool_rows.c.
 *
 * The thread-samples of a tick are an array that is kept from tick to tick: a tick only changes
 * those whose rows are due. A thread that is seen has a place in it; the last takes the place of
 * one that goes.
 *
 * Whatever the blocks say, ids are of names, states and per milles are in their range, times do not
 * go back, and nothing is bigger than its cap: else it is ST_BAD_DATA, and the segment ends.
 */
#include "record/replay_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define TICK_COLUMN(c) (&r->columns[SPOOL_TICKS_##c - SPOOL_TICKS_HEAD])
#define ROW_COLUMN(c) (&run->columns[SPOOL_ROWS_##c - SPOOL_ROWS_STEP])
#define US 1000
#define TIME_US_MAX (INT64_C(1) << 52)   /* 142 years */
#define WEIGHT_US_MAX (INT64_C(1) << 33) /* 2.4 hours: four intervals at the slowest rate */
#define RSS_MAX (UINT64_C(1) << 56)

struct replay_run {
	uint32_t thread; /* its place in threads */
	uint32_t left;   /* rows, that which is due included */
	uint8_t changed; /* of that: SPOOL_STEP_* */
	struct cursor columns[REPLAY_ROW_COLUMNS];
};

void replay_rows_open(struct replay_rows *r, struct names *names,
		      const struct replay_define *define)
{
	memset(r, 0, sizeof(*r));
	r->define = define;
	replay_threads_open(&r->threads, names, define);
	buffer_init(&r->ticks, SPOOL_BLOCK_MAX);
	buffer_init(&r->rows, SPOOL_BLOCK_MAX);
}

void replay_rows_close(struct replay_rows *r)
{
	replay_threads_close(&r->threads);
	free(r->samples);
	free(r->sample_thread);
	free(r->runs);
	free(r->due);
	buffer_free(&r->ticks);
	buffer_free(&r->rows);
}

void replay_rows_clear(struct replay_rows *r)
{
	replay_threads_clear(&r->threads);
	r->sample_count = r->run_count = 0;
	r->tick_count = r->tick_at = 0;
	memset(&r->tick, 0, sizeof(r->tick));
}

/* ---- blocks */

static enum status keep(struct buffer *into, struct bytes payload)
{
	buffer_clear(into);
	buffer_add(into, payload.data, payload.size);
	return into->failed ? ST_NO_MEMORY : ST_OK;
}

enum status replay_rows_ticks(struct replay_rows *r, const struct block_layout *layout,
			      const struct spool_block *block, struct bytes payload)
{
	uint32_t sizes[BLOCK_COLUMNS_MAX];
	struct cursor c;
	enum status st = keep(&r->ticks, payload);

	if (st != ST_OK)
		return st;
	c = cursor_over((struct bytes){ r->ticks.data, r->ticks.size });
	if (block->first % US || block->first / US > TIME_US_MAX || block->first < r->tick.time ||
	    !block_sizes(&c, layout, SPOOL_TICKS, sizes) ||
	    !block_split(&c, layout, SPOOL_TICKS, sizes, r->columns))
		return ST_BAD_DATA;
	r->tick.time = block->first;
	r->tick_count = block->rows;
	r->tick_at = 0;
	r->run_count = 0;
	return ST_OK;
}

/* Take the next row's first byte; when it is due stands in due[]. */
static bool next_row(struct replay_rows *r, size_t i)
{
	struct replay_run *run = &r->runs[i];
	struct cursor *step = ROW_COLUMN(STEP);
	uint8_t byte = cursor_u8(step);
	uint64_t ticks = byte >> SPOOL_STEP_TICKS_SHIFT;

	if (!ticks)
		ticks = cursor_varint(ROW_COLUMN(SKIP));
	if (step->overrun || !ticks || ticks > r->tick_count - r->due[i])
		return false;
	run->changed = byte & ((1u << SPOOL_STEP_TICKS_SHIFT) - 1);
	r->due[i] += (uint32_t)ticks;
	return true;
}

static enum status grow_runs(struct replay_rows *r, size_t count)
{
	void *runs = r->runs, *due = r->due;
	enum status st =
		alloc_grow(&runs, &r->run_capacity, count, NAMES_THREADS_MAX, sizeof(*r->runs));

	r->runs = runs;
	if (st == ST_OK)
		st = alloc_grow(&due, &r->due_capacity, count, NAMES_THREADS_MAX, sizeof(*r->due));
	r->due = due;
	return st == ST_TOO_BIG ? ST_BAD_DATA : st;
}

/* One line of the directory. */
static enum status take_entry(struct replay_rows *r, const struct block_layout *layout,
			      struct cursor *c, struct cursor *data)
{
	uint64_t log_id = cursor_varint(c), rows = cursor_varint(c);
	struct replay_thread *thread =
		log_id <= UINT32_MAX ? replay_threads_find(&r->threads, (uint32_t)log_id) : NULL;
	struct cursor columns[BLOCK_COLUMNS_MAX];
	uint32_t sizes[BLOCK_COLUMNS_MAX];
	struct replay_run *run;
	enum status st;

	if (c->overrun || !thread || !thread->defined || !rows || rows > r->tick_count ||
	    !block_sizes(c, layout, SPOOL_ROWS, sizes) ||
	    !block_split(data, layout, SPOOL_ROWS, sizes, columns))
		return ST_BAD_DATA;
	st = grow_runs(r, r->run_count + 1);
	if (st != ST_OK)
		return st;
	run = &r->runs[r->run_count];
	*run = (struct replay_run){ .thread = (uint32_t)(thread - r->threads.row),
				    .left = (uint32_t)rows };
	memcpy(run->columns, columns, sizeof(run->columns));
	r->due[r->run_count] = 0;
	return next_row(r, r->run_count++) ? ST_OK : ST_BAD_DATA;
}

/* Where the directory ends, the data begins: found by walking over it once. */
static bool skip_directory(struct cursor *c, const struct block_layout *layout, uint64_t threads)
{
	uint32_t sizes[BLOCK_COLUMNS_MAX];

	for (uint64_t i = 0; i < threads; i++) {
		cursor_varint(c);
		cursor_varint(c);
		if (!block_sizes(c, layout, SPOOL_ROWS, sizes) || c->overrun)
			return false;
	}
	return !c->overrun;
}

enum status replay_rows_rows(struct replay_rows *r, const struct block_layout *layout,
			     const struct spool_block *block, struct bytes payload)
{
	struct cursor c, data;
	uint64_t threads;
	enum status st = keep(&r->rows, payload);

	(void)block;
	if (st != ST_OK)
		return st;
	c = cursor_over((struct bytes){ r->rows.data, r->rows.size });
	threads = cursor_varint(&c);
	data = c;
	if (threads > NAMES_THREADS_MAX || !skip_directory(&data, layout, threads))
		return ST_BAD_DATA;
	for (uint64_t i = 0; i < threads && st == ST_OK; i++)
		st = take_entry(r, layout, &c, &data);
	return st;
}

/* ---- rows */

static enum status appear(struct replay_rows *r, struct replay_thread *t)
{
	void *samples = r->samples, *threads = r->sample_thread;
	size_t need = r->sample_count + 1;
	enum status st = alloc_grow(&samples, &r->sample_capacity, need, NAMES_THREADS_MAX,
				    sizeof(*r->samples));

	r->samples = samples;
	if (st == ST_OK)
		st = alloc_grow(&threads, &r->sample_thread_capacity, need, NAMES_THREADS_MAX,
				sizeof(*r->sample_thread));
	r->sample_thread = threads;
	if (st != ST_OK)
		return st;
	r->sample_thread[r->sample_count++] = (uint32_t)(t - r->threads.row);
	t->place = (uint32_t)r->sample_count;
	return ST_OK;
}

static void vanish(struct replay_rows *r, struct replay_thread *t)
{
	size_t last = --r->sample_count, place = t->place - 1;

	r->samples[place] = r->samples[last];
	r->sample_thread[place] = r->sample_thread[last];
	r->threads.row[r->sample_thread[place]].place = (uint32_t)place + 1;
	t->place = 0;
}

static bool take_stack(const struct replay_rows *r, struct replay_thread *t, int64_t difference)
{
	if (difference < -(int64_t)t->number || difference > UINT32_MAX)
		return false;
	difference += t->number;
	if (difference && !replay_id(&r->define->stacks, (uint64_t)difference, &t->open.stack))
		return false;
	if (!difference)
		t->open.stack = 0;
	t->number = (uint32_t)difference;
	return true;
}

/* What a row changed, the state apart. */
static bool take_values(const struct replay_rows *r, struct replay_run *run,
			struct replay_thread *t)
{
	if (run->changed & SPOOL_STEP_STACK && !take_stack(r, t, cursor_svarint(ROW_COLUMN(STACK))))
		return false;
	if (run->changed & SPOOL_STEP_CPU) {
		uint64_t code = cursor_varint(ROW_COLUMN(CPU));

		if (code > 1001)
			return false;
		t->open.cpu_mille = (uint16_t)spool_cpu_mille(code);
	}
	if (run->changed & SPOOL_STEP_SYSCALL) {
		int64_t number = cursor_svarint(ROW_COLUMN(SYSCALL));

		if (number < INT32_MIN || number > INT32_MAX)
			return false;
		t->open.syscall = (int32_t)number;
	}
	return true;
}

static bool take_state(struct replay_run *run, struct replay_thread *t)
{
	uint8_t byte = cursor_u8(ROW_COLUMN(STATE));

	if ((byte & 0x0f) >= STATE_COUNT && byte != SPOOL_ABSENT)
		return false;
	t->seen = byte != SPOOL_ABSENT;
	t->open.state = byte & 0x0f;
	t->open.flags = byte & 0xf0;
	return true;
}

static enum status take_row(struct replay_rows *r, size_t i)
{
	struct replay_run *run = &r->runs[i];
	struct replay_thread *t = &r->threads.row[run->thread];
	enum status st = ST_OK;

	if (!take_values(r, run, t) || (run->changed & SPOOL_STEP_STATE && !take_state(run, t)))
		return ST_BAD_DATA;
	if (t->seen && !t->place && t->id)
		st = appear(r, t);
	else if (!t->seen && t->place)
		vanish(r, t);
	if (st != ST_OK)
		return st;
	if (!t->seen)
		replay_threads_close_row(t);
	if (t->place)
		r->samples[t->place - 1] = t->open;
	if (--run->left)
		return next_row(r, i) ? ST_OK : ST_BAD_DATA;
	r->due[i] = 0;
	return ST_OK;
}

/* ---- ticks */

static bool take_interpreters(struct replay_rows *r)
{
	struct cursor *c = TICK_COLUMN(INTERPRETERS);
	uint64_t head = cursor_varint(c), count = head >> 1;

	if (count > TICK_INTERPRETERS_MAX)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		struct tick_interpreter *in = &r->tick.interpreters[i];

		if (head & 1)
			in->id = cursor_svarint(c);
		else if (i >= r->tick.interpreter_count)
			return false;
	}
	for (uint64_t i = 0; i < count; i++) {
		struct tick_interpreter *in = &r->tick.interpreters[i];
		uint64_t v = cursor_varint(c), holder = v >> 3;
		const struct replay_thread *thread =
			holder <= UINT32_MAX ? replay_threads_find(&r->threads, (uint32_t)holder)
					     : NULL;

		in->holder = thread ? thread->id : 0;
		in->locked = v & SPOOL_GIL_LOCKED;
		in->has_gil = v & SPOOL_GIL_EXISTS;
		in->gc = v & SPOOL_GIL_GC;
	}
	r->tick.interpreter_count = (uint32_t)count;
	return !c->overrun;
}

static bool take_part(struct cursor *column, bool has, nanoseconds *part)
{
	uint64_t us = has ? cursor_varint(column) : 0;

	*part = us > TIME_US_MAX ? 0 : (nanoseconds)us * US;
	return us <= TIME_US_MAX;
}

/* native and others */
static bool take_parts(struct replay_rows *r, unsigned int what)
{
	return take_part(TICK_COLUMN(NATIVE), what & SPOOL_WHAT_NATIVE, &r->tick.native_cpu) &&
	       take_part(TICK_COLUMN(OTHERS), what & SPOOL_WHAT_OTHERS, &r->tick.others_cpu);
}

/* weight, gap, rss, missed and interpreters, as far as they have entries. */
static bool take_rare(struct replay_rows *r, unsigned int what, int64_t *weight_us, int64_t *gap_us)
{
	uint64_t v;

	if (what & SPOOL_WHAT_WEIGHT) {
		v = cursor_varint(TICK_COLUMN(WEIGHT));
		*weight_us = v > WEIGHT_US_MAX ? -1 : (int64_t)v;
		*gap_us = *gap_us > *weight_us ? *gap_us - *weight_us : 0;
	} else {
		*gap_us = 0;
	}
	if (what & SPOOL_WHAT_GAP) {
		v = cursor_varint(TICK_COLUMN(GAP));
		*gap_us = v > TIME_US_MAX ? -1 : (int64_t)v;
	}
	if (what & SPOOL_WHAT_RSS) {
		r->tick.rss_bytes = cursor_varint(TICK_COLUMN(RSS));
		if (r->tick.rss_bytes > RSS_MAX)
			return false;
	}
	if (what & SPOOL_WHAT_MISSED) {
		v = cursor_varint(TICK_COLUMN(MISSED));
		r->tick.missed = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
	}
	if (what & SPOOL_WHAT_INTERPRETERS && !take_interpreters(r))
		return false;
	return take_parts(r, what) && *gap_us >= 0;
}

static enum status take_tick(struct replay_rows *r)
{
	uint64_t head = cursor_varint(TICK_COLUMN(HEAD));
	int64_t since_us = (int64_t)(head >> 2), weight_us = since_us, gap_us = since_us,
		cpu_us = 0;
	unsigned int what = head & 1 ? cursor_u8(TICK_COLUMN(WHAT)) : 0;

	r->tick.missed = 0;
	r->tick.native_cpu = r->tick.others_cpu = 0;
	if (TICK_COLUMN(HEAD)->overrun || since_us > TIME_US_MAX ||
	    r->tick.time / US + since_us > TIME_US_MAX ||
	    !take_rare(r, what, &weight_us, &gap_us) || weight_us < 0 || weight_us > WEIGHT_US_MAX)
		return ST_BAD_DATA;
	if (head & 2) {
		cpu_us = cursor_svarint(TICK_COLUMN(CPU));
		if (cpu_us < -WEIGHT_US_MAX || cpu_us > TIME_US_MAX || cpu_us + weight_us < 0)
			return ST_BAD_DATA;
		cpu_us += weight_us;
	}
	r->tick.time += since_us * US;
	r->tick.weight = weight_us * US;
	r->tick.gap = gap_us * US;
	r->tick.process_cpu = cpu_us * US;
	return ST_OK;
}

enum status replay_rows_next(struct replay_rows *r)
{
	enum status st;

	if (r->tick_at == r->tick_count)
		return ST_ENDED;
	st = take_tick(r);
	r->tick_at++;
	for (size_t i = 0; i < r->run_count && st == ST_OK; i++) {
		if (r->due[i] == r->tick_at)
			st = take_row(r, i);
	}
	return st;
}
