/*
 * spool_define: every id that a segment uses is defined in it once, before its use, under a number
 * of the segment's own.
 *
 * Own numbers are what makes segments stand alone, and they are small: what a program does most is
 * numbered first. A stack is defined root first, its frames, functions and strings before it. What
 * is defined waits in columns until the spool flushes; the blocks go out in the order STRINGS,
 * FUNCTIONS, FRAMES, STACKS, so each refers only backwards.
 */
#include "record/spool_define.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/block.h"

static_assert(SPOOL_STRINGS_TEXT == 0, "definitions are the first columns");

void spool_define_open(struct spool_define *d, const struct names *names)
{
	*d = (struct spool_define){ .names = names };
	for (size_t i = 0; i <= SPOOL_STACKS_FRAME; i++)
		buffer_init(&d->columns[i], SPOOL_BLOCK_MAX);
}

void spool_define_close(struct spool_define *d)
{
	for (size_t i = 0; i <= SPOOL_STACKS_FRAME; i++)
		buffer_free(&d->columns[i]);
	free(d->strings.number);
	free(d->functions.number);
	free(d->frames.number);
	free(d->stacks.number);
	free(d->path);
}

static void numbers_clear(struct spool_numbers *n)
{
	if (n->count)
		memset(n->number, 0, n->count * sizeof(*n->number));
	n->last = n->rows = 0;
}

void spool_define_clear(struct spool_define *d)
{
	for (size_t i = 0; i <= SPOOL_STACKS_FRAME; i++)
		buffer_clear(&d->columns[i]);
	numbers_clear(&d->strings);
	numbers_clear(&d->functions);
	numbers_clear(&d->frames);
	numbers_clear(&d->stacks);
}

static uint32_t number_of(const struct spool_numbers *n, uint32_t id)
{
	return id < n->count ? n->number[id] : 0;
}

static enum status give_number(struct spool_numbers *n, uint32_t id, uint32_t *number)
{
	void *items = n->number;
	enum status st =
		alloc_grow(&items, &n->count, (size_t)id + 1, UINT32_MAX, sizeof(*n->number));

	if (st != ST_OK)
		return ST_NO_MEMORY;
	n->number = items;
	*number = n->number[id] = ++n->last;
	n->rows++;
	return ST_OK;
}

enum status spool_define_string(struct spool_define *d, string_id id, uint32_t *number)
{
	const char *text;
	size_t size;
	enum status st;

	*number = number_of(&d->strings, id);
	if (*number || !id)
		return ST_OK;
	st = give_number(&d->strings, id, number);
	if (st != ST_OK)
		return st;
	text = names_text(d->names, id, &size);
	buffer_varint(&d->columns[SPOOL_STRINGS_TEXT], size);
	buffer_add(&d->columns[SPOOL_STRINGS_TEXT], text, size);
	return ST_OK;
}

static enum status define_function(struct spool_define *d, func_id id, uint32_t *number)
{
	const struct name_function *f = names_function_at(d->names, id);
	uint32_t name, file;
	enum status st;

	*number = number_of(&d->functions, id);
	if (*number || !id)
		return ST_OK;
	st = spool_define_string(d, f->name, &name);
	if (st == ST_OK)
		st = spool_define_string(d, f->file, &file);
	if (st == ST_OK)
		st = give_number(&d->functions, id, number);
	if (st != ST_OK)
		return st;
	buffer_varint(&d->columns[SPOOL_FUNCTIONS_NAME], name);
	buffer_varint(&d->columns[SPOOL_FUNCTIONS_FILE], file);
	buffer_svarint(&d->columns[SPOOL_FUNCTIONS_LINE], f->line);
	buffer_svarint(&d->columns[SPOOL_FUNCTIONS_INTERPRETER], f->interpreter);
	return ST_OK;
}

static enum status define_frame(struct spool_define *d, frame_id id, uint32_t *number)
{
	const struct name_frame *f = names_frame_at(d->names, id);
	uint32_t function;
	enum status st;

	*number = number_of(&d->frames, id);
	if (*number || !id)
		return ST_OK;
	st = define_function(d, f->function, &function);
	if (st == ST_OK)
		st = give_number(&d->frames, id, number);
	if (st != ST_OK)
		return st;
	buffer_varint(&d->columns[SPOOL_FRAMES_FUNCTION], function);
	buffer_svarint(&d->columns[SPOOL_FRAMES_LINE], f->line);
	return ST_OK;
}

/* The parent is defined. */
static enum status define_one_stack(struct spool_define *d, stack_id id, uint32_t *number)
{
	const struct name_stack *s = names_stack_at(d->names, id);
	uint32_t frame, parent = number_of(&d->stacks, s->parent);
	enum status st = define_frame(d, s->frame, &frame);

	if (st == ST_OK)
		st = give_number(&d->stacks, id, number);
	if (st != ST_OK)
		return st;
	buffer_varint(&d->columns[SPOOL_STACKS_PARENT], parent ? *number - parent : 0);
	buffer_varint(&d->columns[SPOOL_STACKS_FRAME], frame);
	return ST_OK;
}

enum status spool_define_stack(struct spool_define *d, stack_id id, uint32_t *number)
{
	size_t depth = 0;
	enum status st = ST_OK;

	*number = number_of(&d->stacks, id);
	for (stack_id at = id; at && !number_of(&d->stacks, at) && st == ST_OK;
	     at = names_stack_at(d->names, at)->parent) {
		void *items = d->path;

		st = alloc_grow(&items, &d->path_size, depth + 1, NAMES_STACKS_MAX,
				sizeof(*d->path));
		d->path = items;
		if (st == ST_OK)
			d->path[depth++] = at;
	}
	while (depth && st == ST_OK)
		st = define_one_stack(d, d->path[--depth], number);
	return st;
}

size_t spool_define_bytes(const struct spool_define *d)
{
	size_t bytes = 0;

	for (size_t i = 0; i <= SPOOL_STACKS_FRAME; i++)
		bytes += d->columns[i].size;
	return bytes;
}

void spool_define_write(struct spool_define *d, struct buffer *out, nanoseconds first,
			nanoseconds last)
{
	const struct {
		struct spool_numbers *numbers;
		enum spool_kind kind;
	} kinds[] = { { &d->strings, SPOOL_STRINGS },
		      { &d->functions, SPOOL_FUNCTIONS },
		      { &d->frames, SPOOL_FRAMES },
		      { &d->stacks, SPOOL_STACKS } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].numbers->rows)
			block_write(out, kinds[i].kind, kinds[i].numbers->rows, first, last,
				    &d->columns[block_columns_of(kinds[i].kind).first]);
		kinds[i].numbers->rows = 0;
	}
}
