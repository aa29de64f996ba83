/*
 * spool_rows: each thread's run of rows: one is added only when something differs from the open
 * one.
 *
 * A row begins with one byte, which says what changed and how many ticks later; then only what
 * changed. So a thread that sleeps costs nothing, and one that spins in ever new stacks three or
 * four bytes. The unchanged thread-sample is the hot path: a place looked up, five comparisons.
 *
 * Invariant: `present` counts the threads whose open row is not SPOOL_ABSENT; when fewer were seen
 * in a tick, the rest are found and closed. Called by spool.c, in the sampler's thread.
 */
#include "record/spool_rows.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "record/block.h"

#define COLUMN(c) ((c)-SPOOL_ROWS_STEP)
#define ABOUT(c) ((c)-SPOOL_THREADS_ID)
#define SYSCALL_NONE (-1)

struct spool_thread {
	thread_id id; /* 0: a free place */
	uint32_t next_free;
	/* the open row */
	stack_id stack;  /* of names */
	uint32_t number; /* the same stack in the segment */
	uint8_t state;   /* with flags, or SPOOL_ABSENT */
	uint16_t cpu;
	int32_t syscall;
	/* */
	uint64_t stamp;    /* of the tick in which it was last seen */
	uint32_t row_tick; /* of the last row in the block; 0: none yet */
	uint32_t rows;
	bool defined; /* in the segment, as it is here: */
	string_id name;
	nanoseconds died;
	struct buffer columns[SPOOL_ROW_COLUMNS];
};

/* ---- places */

void spool_rows_open(struct spool_rows *r, const struct names *names, struct spool_define *define)
{
	*r = (struct spool_rows){ .names = names, .define = define };
	r->places.item = sizeof(uint32_t);
	for (size_t i = 0; i < SPOOL_THREAD_COLUMNS; i++)
		buffer_init(&r->about[i], SPOOL_BLOCK_MAX);
}

static void free_columns(struct spool_thread *t)
{
	for (size_t i = 0; i < SPOOL_ROW_COLUMNS; i++)
		buffer_free(&t->columns[i]);
}

void spool_rows_close(struct spool_rows *r)
{
	for (size_t i = 0; i < r->thread_count; i++)
		free_columns(&r->threads[i]);
	for (size_t i = 0; i < SPOOL_THREAD_COLUMNS; i++)
		buffer_free(&r->about[i]);
	free(r->threads);
	pages_free(&r->places);
}

/* The thread is not seen: its next row will say everything. */
static void close_row(struct spool_thread *t)
{
	t->stack = 0;
	t->number = 0;
	t->state = SPOOL_ABSENT;
	t->cpu = 0;
	t->syscall = SYSCALL_NONE;
}

/* As at the beginning of a segment. */
static void forget_rows(struct spool_thread *t)
{
	close_row(t);
	t->row_tick = t->rows = 0;
	t->defined = false;
	for (size_t i = 0; i < SPOOL_ROW_COLUMNS; i++)
		buffer_clear(&t->columns[i]);
}

static void release(struct spool_rows *r, struct spool_thread *t)
{
	uint32_t *place = pages_at(&r->places, t->id);
	size_t page = t->id / PAGE_ITEMS;
	bool used = false;

	if (place)
		*place = 0;
	for (uint32_t i = 0; i < PAGE_ITEMS && !used; i++) {
		place = pages_at(&r->places, (uint32_t)(page * PAGE_ITEMS + i));
		used = place && *place;
	}
	if (!used)
		pages_drop(&r->places, page);
	free_columns(t);
	t->id = 0;
	t->next_free = r->free_place;
	r->free_place = (uint32_t)(t - r->threads) + 1;
}

void spool_rows_clear(struct spool_rows *r)
{
	for (size_t i = 0; i < r->thread_count; i++) {
		struct spool_thread *t = &r->threads[i];

		if (!t->id)
			continue;
		if (t->died || !names_thread_at(r->names, t->id)->born) {
			release(r, t);
			continue;
		}
		forget_rows(t);
	}
	for (size_t i = 0; i < SPOOL_THREAD_COLUMNS; i++)
		buffer_clear(&r->about[i]);
	r->tick = r->present = r->rows = r->about_rows = 0;
	r->bytes = r->biggest = 0;
}

static struct spool_thread *take_place(struct spool_rows *r)
{
	void *items = r->threads;
	struct spool_thread *t;

	if (r->free_place) {
		t = &r->threads[r->free_place - 1];
		r->free_place = t->next_free;
		return t;
	}
	if (alloc_grow(&items, &r->thread_capacity, r->thread_count + 1, NAMES_THREADS_MAX,
		       sizeof(*r->threads)) != ST_OK)
		return NULL;
	r->threads = items;
	return &r->threads[r->thread_count++];
}

static struct spool_thread *new_thread(struct spool_rows *r, thread_id id)
{
	uint32_t *place = pages_make(&r->places, id);
	struct spool_thread *t = place ? take_place(r) : NULL;

	if (!t)
		return NULL;
	*t = (struct spool_thread){ .id = id };
	for (size_t i = 0; i < SPOOL_ROW_COLUMNS; i++)
		buffer_init(&t->columns[i], SPOOL_BLOCK_MAX);
	forget_rows(t);
	*place = (uint32_t)(t - r->threads) + 1;
	return t;
}

static struct spool_thread *thread_of(struct spool_rows *r, thread_id id)
{
	const uint32_t *place = pages_at(&r->places, id);

	return place && *place ? &r->threads[*place - 1] : new_thread(r, id);
}

/* ---- THREADS */

static enum status define_thread(struct spool_rows *r, struct spool_thread *t)
{
	const struct name_thread *is = names_thread_at(r->names, t->id);
	uint32_t name;
	enum status st = spool_define_string(r->define, is->name, &name);

	if (st != ST_OK)
		return st;
	buffer_varint(&r->about[ABOUT(SPOOL_THREADS_ID)], t->id);
	buffer_svarint(&r->about[ABOUT(SPOOL_THREADS_TID)], is->tid);
	buffer_varint(&r->about[ABOUT(SPOOL_THREADS_NAME)], name);
	buffer_svarint(&r->about[ABOUT(SPOOL_THREADS_INTERPRETER)], is->interpreter);
	buffer_svarint(&r->about[ABOUT(SPOOL_THREADS_BORN)], is->born / 1000);
	buffer_svarint(&r->about[ABOUT(SPOOL_THREADS_DIED)], is->died / 1000);
	buffer_varint(&r->about[ABOUT(SPOOL_THREADS_FLAGS)], is->main);
	r->about_rows++;
	t->defined = true;
	t->name = is->name;
	t->died = is->died;
	return ST_OK;
}

enum status spool_rows_look(struct spool_rows *r)
{
	enum status st = ST_OK;

	for (size_t i = 0; i < r->thread_count && st == ST_OK; i++) {
		struct spool_thread *t = &r->threads[i];
		const struct name_thread *is = names_thread_at(r->names, t->id);

		if (t->id && t->defined && (is->name != t->name || is->died != t->died))
			st = define_thread(r, t);
	}
	return st;
}

void spool_rows_write_threads(struct spool_rows *r, struct buffer *out, nanoseconds first,
			      nanoseconds last)
{
	if (r->about_rows)
		block_write(out, SPOOL_THREADS, r->about_rows, first, last, r->about);
	r->about_rows = 0;
}

/* ---- rows */

void spool_rows_begin(struct spool_rows *r)
{
	r->tick++;
	r->stamp++;
	r->seen = 0;
}

static void count_bytes(struct spool_rows *r, const struct spool_thread *t, size_t before)
{
	size_t bytes = 0;

	for (size_t i = 0; i < SPOOL_ROW_COLUMNS; i++) {
		bytes += t->columns[i].size;
		if (t->columns[i].size > r->biggest)
			r->biggest = t->columns[i].size;
	}
	r->bytes += bytes - before;
}

static size_t column_bytes(const struct spool_thread *t)
{
	size_t bytes = 0;

	for (size_t i = 0; i < SPOOL_ROW_COLUMNS; i++)
		bytes += t->columns[i].size;
	return bytes;
}

/* The byte that begins a row: what changed, and how many ticks after the row before. */
static void add_step(struct spool_rows *r, struct spool_thread *t, unsigned int changed)
{
	uint32_t ticks = r->tick - t->row_tick;

	t->row_tick = r->tick;
	t->rows++;
	r->rows++;
	if (ticks > SPOOL_STEP_TICKS_MAX) {
		buffer_varint(&t->columns[COLUMN(SPOOL_ROWS_SKIP)], ticks);
		ticks = 0;
	}
	buffer_u8(&t->columns[COLUMN(SPOOL_ROWS_STEP)],
		  (uint8_t)(ticks << SPOOL_STEP_TICKS_SHIFT | changed));
}

static enum status add_row(struct spool_rows *r, struct spool_thread *t, const struct sample *s,
			   uint8_t state, uint16_t cpu)
{
	uint32_t number = t->number;
	size_t before = column_bytes(t);
	unsigned int changed = (state != t->state ? SPOOL_STEP_STATE : 0u) |
			       (cpu != t->cpu ? SPOOL_STEP_CPU : 0u) |
			       (s->syscall != t->syscall ? SPOOL_STEP_SYSCALL : 0u);

	if (s->stack != t->stack && spool_define_stack(r->define, s->stack, &number) != ST_OK)
		return ST_NO_MEMORY;
	changed |= number != t->number ? SPOOL_STEP_STACK : 0u;
	add_step(r, t, changed);
	if (changed & SPOOL_STEP_STACK)
		buffer_svarint(&t->columns[COLUMN(SPOOL_ROWS_STACK)], (int64_t)number - t->number);
	if (changed & SPOOL_STEP_STATE)
		buffer_u8(&t->columns[COLUMN(SPOOL_ROWS_STATE)], state);
	if (changed & SPOOL_STEP_CPU)
		buffer_varint(&t->columns[COLUMN(SPOOL_ROWS_CPU)], spool_cpu_code(cpu));
	if (changed & SPOOL_STEP_SYSCALL)
		buffer_svarint(&t->columns[COLUMN(SPOOL_ROWS_SYSCALL)], s->syscall);
	t->stack = s->stack;
	t->number = number;
	t->state = state;
	t->cpu = cpu;
	t->syscall = s->syscall;
	count_bytes(r, t, before);
	return ST_OK;
}

enum status spool_rows_add(struct spool_rows *r, const struct sample *s)
{
	struct spool_thread *t = s->thread ? thread_of(r, s->thread) : NULL;
	unsigned int base = s->state < STATE_COUNT ? s->state : STATE_UNKNOWN;
	uint8_t state = (uint8_t)(base | (s->flags & 0xf0));
	uint16_t cpu = s->cpu_mille < 1000 ? s->cpu_mille : 1000;

	if (!t)
		return s->thread ? ST_NO_MEMORY : ST_OK;
	if (t->stamp == r->stamp)
		return ST_OK;
	t->stamp = r->stamp;
	r->seen++;
	if (t->state == state && t->stack == s->stack && t->cpu == cpu && t->syscall == s->syscall)
		return ST_OK;
	if (!t->defined && define_thread(r, t) != ST_OK)
		return ST_NO_MEMORY;
	r->present += t->state == SPOOL_ABSENT;
	return add_row(r, t, s, state, cpu);
}

void spool_rows_end(struct spool_rows *r)
{
	for (size_t i = 0; i < r->thread_count && r->seen < r->present; i++) {
		struct spool_thread *t = &r->threads[i];
		size_t before;

		if (!t->id || t->state == SPOOL_ABSENT || t->stamp == r->stamp)
			continue;
		before = column_bytes(t);
		close_row(t);
		add_step(r, t, SPOOL_STEP_STATE);
		buffer_u8(&t->columns[COLUMN(SPOOL_ROWS_STATE)], SPOOL_ABSENT);
		count_bytes(r, t, before);
		r->present--;
	}
}

/* ---- ROWS */

static void write_directory(const struct spool_rows *r, struct buffer *out)
{
	uint32_t threads = 0;

	for (size_t i = 0; i < r->thread_count; i++)
		threads += r->threads[i].id && r->threads[i].rows;
	buffer_varint(out, threads);
	for (size_t i = 0; i < r->thread_count; i++) {
		const struct spool_thread *t = &r->threads[i];

		if (!t->id || !t->rows)
			continue;
		buffer_varint(out, t->id);
		buffer_varint(out, t->rows);
		for (size_t c = 0; c < SPOOL_ROW_COLUMNS; c++)
			buffer_varint(out, t->columns[c].size);
	}
}

/* Move the thread's columns to out; returns the memory they keep. */
static size_t write_columns(struct spool_thread *t, struct buffer *out)
{
	size_t kept = 0;

	for (size_t c = 0; c < SPOOL_ROW_COLUMNS; c++) {
		buffer_add(out, t->columns[c].data, t->columns[c].size);
		out->failed |= t->columns[c].failed;
		buffer_clear(&t->columns[c]);
		kept += t->columns[c].capacity;
	}
	t->rows = t->row_tick = 0;
	return kept;
}

void spool_rows_write(struct spool_rows *r, struct buffer *out, nanoseconds first, nanoseconds last,
		      size_t keep_bytes)
{
	size_t begun = block_begin(out, SPOOL_ROWS, r->rows, first, last);
	size_t kept = 0;

	write_directory(r, out);
	for (size_t i = 0; i < r->thread_count; i++) {
		struct spool_thread *t = &r->threads[i];

		if (!t->id)
			continue;
		kept += write_columns(t, out);
		if (t->died && t->state == SPOOL_ABSENT)
			release(r, t);
		else if (kept > keep_bytes)
			free_columns(t);
	}
	block_end(out, begun);
	r->tick = r->rows = 0;
	r->bytes = r->biggest = 0;
}
