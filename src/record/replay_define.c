/*
 * replay_define: interns what a segment defines, so that ids are one space over all segments.
 *
 * Every reference must be to what was defined before. When a table of names is full, which a log
 * of many generations can bring about, what is new is <forgotten>: counted, but not told apart.
 */
#include "record/replay_define.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static enum status intern_forgotten(struct replay_define *d)
{
	struct name_function f = { 0 };
	enum status st = names_string(d->names, NAMES_FORGOTTEN, strlen(NAMES_FORGOTTEN),
				      &d->forgotten_string);

	f.name = d->forgotten_string;
	if (st == ST_OK)
		st = names_function(d->names, &f, &d->forgotten_function);
	if (st == ST_OK)
		st = names_frame(d->names, d->forgotten_function, 0, &d->forgotten_frame);
	if (st == ST_OK)
		st = names_stack(d->names, 0, d->forgotten_frame, &d->forgotten_stack);
	return st;
}

enum status replay_define_open(struct replay_define *d, struct names *names)
{
	*d = (struct replay_define){ .names = names };
	return intern_forgotten(d);
}

void replay_define_close(struct replay_define *d)
{
	free(d->strings.id);
	free(d->functions.id);
	free(d->frames.id);
	free(d->stacks.id);
}

void replay_define_clear(struct replay_define *d)
{
	d->strings.count = d->functions.count = d->frames.count = d->stacks.count = 0;
}

/* Give the next number (from 1) this id. */
static enum status add_id(struct replay_ids *ids, uint32_t id, size_t max)
{
	void *items = ids->id;
	size_t count = ids->count ? ids->count : 1;
	enum status st = alloc_grow(&items, &ids->capacity, count + 1, max + 1, sizeof(*ids->id));

	ids->id = items;
	if (st != ST_OK)
		return st == ST_TOO_BIG ? ST_BAD_DATA : st;
	ids->id[0] = 0;
	ids->id[count] = id;
	ids->count = count + 1;
	return ST_OK;
}

/* A full table is no failure: it gives what is forgotten. */
static enum status or_forgotten(enum status st, uint32_t *id, uint32_t forgotten)
{
	if (st == ST_TOO_BIG) {
		*id = forgotten;
		return ST_OK;
	}
	return st;
}

/* The id that a reference (0: none) means. */
static bool refer(const struct replay_ids *ids, uint64_t number, uint32_t *id)
{
	*id = 0;
	return !number || replay_id(ids, number, id);
}

static bool as_line(int64_t v, int32_t *line)
{
	*line = (int32_t)v;
	return v >= INT32_MIN && v <= INT32_MAX;
}

static enum status take_string(struct replay_define *d, struct cursor *columns)
{
	uint64_t size = cursor_varint(&columns[0]);
	struct bytes text;
	string_id id;
	enum status st;

	if (size > cursor_left(&columns[0]))
		return ST_BAD_DATA;
	text = cursor_take(&columns[0], (size_t)size);
	if (columns[0].overrun)
		return ST_BAD_DATA;
	st = or_forgotten(
		names_string(d->names, text.size ? (const char *)text.data : "", text.size, &id),
		&id, d->forgotten_string);
	return st == ST_OK ? add_id(&d->strings, id, NAMES_STRINGS_MAX) : st;
}

#define COLUMN(kind, column) (&columns[SPOOL_##kind##_##column - first])

static enum status take_function(struct replay_define *d, struct cursor *columns)
{
	const int first = SPOOL_FUNCTIONS_NAME;
	struct name_function f;
	func_id id;
	enum status st;

	if (!refer(&d->strings, cursor_varint(COLUMN(FUNCTIONS, NAME)), &f.name) ||
	    !refer(&d->strings, cursor_varint(COLUMN(FUNCTIONS, FILE)), &f.file) ||
	    !as_line(cursor_svarint(COLUMN(FUNCTIONS, LINE)), &f.line))
		return ST_BAD_DATA;
	f.interpreter = cursor_svarint(COLUMN(FUNCTIONS, INTERPRETER));
	if (COLUMN(FUNCTIONS, NAME)->overrun || COLUMN(FUNCTIONS, FILE)->overrun)
		return ST_BAD_DATA;
	st = or_forgotten(names_function(d->names, &f, &id), &id, d->forgotten_function);
	return st == ST_OK ? add_id(&d->functions, id, NAMES_FUNCTIONS_MAX) : st;
}

static enum status take_frame(struct replay_define *d, struct cursor *columns)
{
	const int first = SPOOL_FRAMES_FUNCTION;
	func_id function;
	int32_t line;
	frame_id id;
	enum status st;

	if (!refer(&d->functions, cursor_varint(COLUMN(FRAMES, FUNCTION)), &function) ||
	    !as_line(cursor_svarint(COLUMN(FRAMES, LINE)), &line) ||
	    COLUMN(FRAMES, FUNCTION)->overrun)
		return ST_BAD_DATA;
	st = or_forgotten(names_frame(d->names, function, line, &id), &id, d->forgotten_frame);
	return st == ST_OK ? add_id(&d->frames, id, NAMES_FRAMES_MAX) : st;
}

static enum status take_stack(struct replay_define *d, struct cursor *columns)
{
	const int first = SPOOL_STACKS_PARENT;
	uint64_t number = d->stacks.count ? d->stacks.count : 1;
	uint64_t distance = cursor_varint(COLUMN(STACKS, PARENT));
	stack_id parent = 0, id;
	frame_id frame;
	enum status st;

	if (COLUMN(STACKS, PARENT)->overrun || distance >= number ||
	    (distance && !refer(&d->stacks, number - distance, &parent)) ||
	    !refer(&d->frames, cursor_varint(COLUMN(STACKS, FRAME)), &frame))
		return ST_BAD_DATA;
	st = or_forgotten(names_stack(d->names, parent, frame, &id), &id, d->forgotten_stack);
	return st == ST_OK ? add_id(&d->stacks, id, NAMES_STACKS_MAX) : st;
}

enum status replay_define_block(struct replay_define *d, const struct block_layout *layout,
				const struct spool_block *block, struct bytes payload)
{
	static enum status (*const take[SPOOL_KIND_COUNT])(struct replay_define *,
							   struct cursor *) = {
		[SPOOL_STRINGS] = take_string,
		[SPOOL_FUNCTIONS] = take_function,
		[SPOOL_FRAMES] = take_frame,
		[SPOOL_STACKS] = take_stack,
	};
	enum spool_kind kind = (enum spool_kind)block->kind;
	struct cursor c = cursor_over(payload), columns[BLOCK_COLUMNS_MAX];
	uint32_t sizes[BLOCK_COLUMNS_MAX];
	enum status st = ST_OK;

	if (block->kind >= SPOOL_KIND_COUNT || !take[kind])
		return ST_OK;
	if (!block_sizes(&c, layout, kind, sizes) || !block_split(&c, layout, kind, sizes, columns))
		return ST_BAD_DATA;
	for (uint32_t i = 0; i < block->rows && st == ST_OK; i++)
		st = take[kind](d, columns);
	return st;
}
