/*
 * tally_rows: from stacks to functions and lines.
 *
 * A program shows the same few thousand stacks again and again, so a thread-sample is one addition
 * to the pending sums of its stack, and only when a stack leaves the ring of pending ones is the
 * stack walked, once for all its samples. Pending decayed sums are scaled like all others, so it
 * does not matter when they are spread.
 *
 * Invariant: place[s] - 1 is where stack s waits in the ring, for exactly the stacks that wait. A
 * function (and a frame) is counted once a stack, whatever the recursion: marks remember on which
 * stack it was counted last.
 */
#include "record/tally_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SPREAD_WHEN_FULL 4 /* stacks that leave a full ring at once */
#define DEPTH_MAX \
	1000000     /* a stack of names cannot have circles; this bounds a walk all the same */
#define TINY 1e-290 /* a decayed sum below this is nothing, and slow to add to */
#define RENEW_KEEPS \
	8192 /* functions that keep their sums over a generation that forgets functions */

struct tally_pending {
	stack_id stack;
	uint32_t samples;
	struct tally_values recent, seconds;
	double gc, exception;
};

_Static_assert(TALLY_PENDING < UINT16_MAX, "a place in the ring is 16 bits");

/* ---- spreading */

static void add_values(struct tally_values *to, const struct tally_values *from)
{
	for (int k = 0; k < KIND_COUNT; k++)
		to->v[k] += from->v[k];
}

/* The stack of p has this row on it, for the first time from the leaf. */
static void add_to_row(struct tally_rows *r, struct tally_row *row, const struct tally_pending *p,
		       bool leaf)
{
	add_values(&row->total, &p->recent);
	add_values(&row->total_s, &p->seconds);
	if (leaf) {
		add_values(&row->self, &p->recent);
		add_values(&row->self_s, &p->seconds);
		row->gc += p->gc;
		row->exception += p->exception;
	}
	row->samples += p->samples;
	row->changed = r->settles;
}

/* First time on this stack? marks grows to hold id. */
static bool mark(struct tally_rows *r, uint32_t **marks, size_t *count, uint32_t id)
{
	void *items = *marks;

	if (id >= *count) {
		if (alloc_grow(&items, count, (size_t)id + 1, UINT32_MAX, sizeof(**marks)) !=
		    ST_OK) {
			r->no_memory = true;
			return false;
		}
		*marks = items;
	}
	if ((*marks)[id] == r->mark)
		return false;
	(*marks)[id] = r->mark;
	return true;
}

static void spread_over(struct tally_rows *r, struct pages *rows, uint32_t id,
			const struct tally_pending *p, bool leaf)
{
	struct tally_row *row = pages_make(rows, id);

	if (row)
		add_to_row(r, row, p, leaf);
	else
		r->no_memory = true;
}

static void next_mark(struct tally_rows *r)
{
	if (++r->mark)
		return;
	memset(r->function_mark, 0, r->function_mark_count * sizeof(*r->function_mark));
	memset(r->frame_mark, 0, r->frame_mark_count * sizeof(*r->frame_mark));
	r->mark = 1;
}

static void spread(struct tally_rows *r, const struct tally_pending *p)
{
	bool leaf = true;
	int depth = 0;

	next_mark(r);
	for (stack_id s = p->stack; s && depth < DEPTH_MAX; depth++, leaf = false) {
		const struct name_stack *stack = names_stack_at(r->names, s);
		func_id function = names_frame_at(r->names, stack->frame)->function;

		if (mark(r, &r->frame_mark, &r->frame_mark_count, stack->frame))
			spread_over(r, &r->frames, stack->frame, p, leaf);
		if (mark(r, &r->function_mark, &r->function_mark_count, function))
			spread_over(r, &r->functions, function, p, leaf);
		s = stack->parent;
	}
}

static void spread_oldest(struct tally_rows *r)
{
	struct tally_pending *p = &r->pending[r->first];

	r->place[p->stack] = 0;
	spread(r, p);
	r->first = (r->first + 1) % TALLY_PENDING;
	r->count--;
}

size_t tally_rows_settle(struct tally_rows *r, size_t budget)
{
	if (!budget || budget > r->count)
		budget = r->count;
	while (budget--)
		spread_oldest(r);
	r->settles++;
	return r->count;
}

/* ---- adding */

/* The stack does not wait yet: give it a place. NULL: no memory. */
static struct tally_pending *begin_pending(struct tally_rows *r, stack_id stack)
{
	void *items = r->place;
	struct tally_pending *p;
	size_t place;

	if (alloc_grow(&items, &r->place_count, (size_t)stack + 1, UINT32_MAX, sizeof(*r->place)) !=
	    ST_OK)
		return NULL;
	r->place = items;
	for (int i = 0; i < SPREAD_WHEN_FULL && r->count == TALLY_PENDING; i++)
		spread_oldest(r);
	place = (r->first + r->count++) % TALLY_PENDING;
	r->place[stack] = (uint16_t)(place + 1);
	p = &r->pending[place];
	*p = (struct tally_pending){ .stack = stack };
	return p;
}

enum status tally_rows_add(struct tally_rows *r, const struct sample *s,
			   const struct tally_values *values, double scale)
{
	struct tally_pending *p;

	if (!s->stack)
		return ST_OK;
	if (s->stack < r->place_count && r->place[s->stack])
		p = &r->pending[r->place[s->stack] - 1];
	else
		p = begin_pending(r, s->stack);
	if (!p || r->no_memory) {
		r->no_memory = false;
		return ST_NO_MEMORY;
	}
	for (int k = 0; k < KIND_COUNT; k++) {
		p->seconds.v[k] += values->v[k];
		p->recent.v[k] += values->v[k] * scale;
	}
	if (s->flags & SAMPLE_GC)
		p->gc += values->v[KIND_WALL] * scale;
	if (s->flags & SAMPLE_EXCEPTION)
		p->exception += values->v[KIND_WALL] * scale;
	p->samples++;
	return ST_OK;
}

/* ---- rows as a whole */

static double scaled(double sum, double factor)
{
	return sum * factor < TINY ? 0 : sum * factor;
}

static void scale_values(struct tally_values *values, double factor)
{
	for (int k = 0; k < KIND_COUNT; k++)
		values->v[k] = scaled(values->v[k], factor);
}

static void scale_rows(struct pages *rows, double factor, uint32_t settles)
{
	for (size_t page = 0; page < rows->count; page++) {
		struct tally_row *row = rows->page[page];

		for (size_t i = 0; row && i < PAGE_ITEMS; i++, row++) {
			scale_values(&row->self, factor);
			scale_values(&row->total, factor);
			row->gc = scaled(row->gc, factor);
			row->exception = scaled(row->exception, factor);
			row->changed = settles;
		}
	}
}

void tally_rows_scale(struct tally_rows *r, double factor)
{
	scale_rows(&r->functions, factor, r->settles);
	scale_rows(&r->frames, factor, r->settles);
	for (size_t i = 0; i < r->count; i++) {
		struct tally_pending *p = &r->pending[(r->first + i) % TALLY_PENDING];

		scale_values(&p->recent, factor);
		p->gc *= factor;
		p->exception *= factor;
	}
}

static void drop_pending(struct tally_rows *r)
{
	for (; r->count; r->count--, r->first = (r->first + 1) % TALLY_PENDING)
		r->place[r->pending[r->first].stack] = 0;
}

static void reset_rows(struct pages *rows, uint32_t settles)
{
	for (size_t page = 0; page < rows->count; page++) {
		struct tally_row *row = rows->page[page];

		for (size_t i = 0; row && i < PAGE_ITEMS; i++)
			row[i] = (struct tally_row){ .changed = settles };
	}
}

void tally_rows_reset(struct tally_rows *r)
{
	drop_pending(r);
	reset_rows(&r->functions, r->settles);
	reset_rows(&r->frames, r->settles);
}

/* ---- another generation of names */

/* A function that is carried over: its sums, and what it is called while names has forgotten it. */
struct carried {
	struct tally_row row;
	func_id old;
	char *name, *file;
	size_t name_size, file_size;
	struct name_function function;
};

static int heavier(const void *left, const void *right)
{
	const struct carried *a = left, *b = right;

	if (a->row.total_s.v[KIND_WALL] != b->row.total_s.v[KIND_WALL])
		return a->row.total_s.v[KIND_WALL] < b->row.total_s.v[KIND_WALL] ? 1 : -1;
	return 0;
}

/* A function that is not carried over leaves what was its own; its callers keep their totals. */
static void forget(struct tally_row *to, const struct tally_row *row)
{
	add_values(&to->self, &row->self);
	add_values(&to->total, &row->self);
	add_values(&to->self_s, &row->self_s);
	add_values(&to->total_s, &row->self_s);
	to->gc += row->gc;
	to->exception += row->exception;
	to->samples += row->samples;
}

/* Every row that counts, heaviest first. NULL: no memory, or there are none. */
static struct carried *collect(const struct tally_rows *r, size_t *count)
{
	size_t functions = names_function_count(r->names), n = 0;
	struct carried *all = alloc_zero(functions + 1, sizeof(*all));

	for (func_id id = 1; all && id <= functions; id++) {
		const struct tally_row *row = pages_at(&r->functions, id);

		if (row && row->samples)
			all[n++] = (struct carried){ .row = *row, .old = id };
	}
	if (all)
		qsort(all, n, sizeof(*all), heavier);
	*count = all ? n : 0;
	return all;
}

static void copy_names(const struct tally_rows *r, struct carried *c)
{
	const char *text;

	c->function = *names_function_at(r->names, c->old);
	text = names_text(r->names, c->function.name, &c->name_size);
	c->name = alloc_string(text, c->name_size);
	text = names_text(r->names, c->function.file, &c->file_size);
	c->file = alloc_string(text, c->file_size);
}

/* Intern it again, and give it its row; without names, or without room, it is forgotten. */
static void carry_over(struct tally_rows *r, struct names *names, struct carried *c,
		       struct tally_row *forgotten)
{
	struct tally_row *row = NULL;
	func_id id;

	if (c->name && c->file &&
	    names_string(names, c->name, c->name_size, &c->function.name) == ST_OK &&
	    names_string(names, c->file, c->file_size, &c->function.file) == ST_OK &&
	    names_function(names, &c->function, &id) == ST_OK)
		row = pages_make(&r->functions, id);
	if (row) {
		*row = c->row;
		row->changed = r->settles;
	} else {
		forget(forgotten, &c->row);
	}
	free(c->name);
	free(c->file);
}

static enum status add_forgotten(struct tally_rows *r, struct names *names,
				 const struct tally_row *sums)
{
	struct name_function function = { 0 };
	struct tally_row *row;
	func_id id;
	enum status st;

	if (!sums->samples)
		return ST_OK;
	st = names_string(names, NAMES_FORGOTTEN, strlen(NAMES_FORGOTTEN), &function.name);
	if (st == ST_OK)
		st = names_function(names, &function, &id);
	if (st != ST_OK)
		return st;
	row = pages_make(&r->functions, id);
	if (!row)
		return ST_NO_MEMORY;
	forget(row, sums);
	row->changed = r->settles;
	return ST_OK;
}

static enum status renew_functions(struct tally_rows *r, struct names *names, struct carried *all,
				   size_t count)
{
	struct tally_row forgotten = { 0 };

	pages_free(&r->functions);
	for (size_t i = 0; i < count; i++)
		carry_over(r, names, &all[i], &forgotten);
	return add_forgotten(r, names, &forgotten);
}

enum status tally_rows_renew(struct tally_rows *r, struct names *names)
{
	enum status st = ST_OK;
	bool kept;
	size_t count;
	struct carried *all;

	tally_rows_settle(r, 0);
	all = collect(r, &count);
	for (size_t i = 0; i < count && i < RENEW_KEEPS; i++)
		copy_names(r, &all[i]);
	names_renew(names, &kept);
	pages_free(&r->frames);
	if (!kept)
		st = all ? renew_functions(r, names, all, count) : ST_NO_MEMORY;
	for (size_t i = 0; kept && i < count; i++) {
		free(all[i].name);
		free(all[i].file);
	}
	free(all);
	return st;
}

/* ---- open and close */

enum status tally_rows_open(struct tally_rows *r, const struct names *names)
{
	*r = (struct tally_rows){ .names = names, .settles = 1 };
	r->functions.item = r->frames.item = sizeof(struct tally_row);
	r->pending = malloc(TALLY_PENDING * sizeof(*r->pending));
	return r->pending ? ST_OK : ST_NO_MEMORY;
}

void tally_rows_close(struct tally_rows *r)
{
	pages_free(&r->functions);
	pages_free(&r->frames);
	free(r->pending);
	free(r->place);
	free(r->function_mark);
	free(r->frame_mark);
}
