/*
 * lines: the four forms of line tables, decoded into one.
 *
 * Invariant: ranges ascend strictly by start and two neighbours never have the same line, so
 * that a range without a line always stands behind one that has one (or is the first). A line
 * below 1 can only come from a table that somebody made up; it becomes 1. Lines are added up in
 * 64 bits, which no table of a size we accept can overflow.
 *
 * Called by code.c once a code object; lines_find() by the resolver. The input is hostile.
 */
#include "python/lines.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

#define RANGES_LIMIT (1u << 21)

/* A table while it is being decoded. */
struct decoder {
	struct lines_range *ranges;
	size_t count, capacity;
	int64_t line;
	uint64_t at; /* in the unit of the table */
};

/* From d->at on the line is d->line, or there is none. */
static enum status put(struct decoder *d, bool has_line)
{
	int32_t line = !has_line             ? 0
		       : d->line < 1         ? 1
		       : d->line > INT32_MAX ? INT32_MAX
					     : (int32_t)d->line;
	enum status status;

	if (d->at > UINT32_MAX)
		return ST_BAD_DATA;
	if (d->count && d->ranges[d->count - 1].start == d->at)
		d->count--; /* the range before turned out to be empty */
	if (d->count && d->ranges[d->count - 1].line == line)
		return ST_OK;
	status = alloc_grow((void **)&d->ranges, &d->capacity, d->count + 1, RANGES_LIMIT,
			    sizeof(*d->ranges));
	if (status != ST_OK)
		return status;
	d->ranges[d->count++] = (struct lines_range){ (uint32_t)d->at, line };
	return ST_OK;
}

/* Pairs (bytes, lines): the line moves at the end of the bytes. Lines are signed from 3.6 on. */
static enum status decode_lnotab(struct decoder *d, struct bytes table, bool is_signed)
{
	enum status status = put(d, true);

	if (table.size % 2)
		return ST_BAD_DATA;
	for (size_t i = 0; i < table.size && status == ST_OK; i += 2) {
		uint8_t step = table.data[i + 1];

		d->at += table.data[i];
		d->line += is_signed ? (int8_t)step : step;
		status = put(d, true);
	}
	d->at = UINT32_MAX; /* the last line goes on to the end of the code */
	return status;
}

/* Pairs (bytes, lines): the line moves first and holds for the bytes; -128: they have no line. */
static enum status decode_310(struct decoder *d, struct bytes table)
{
	enum status status = ST_OK;

	if (table.size % 2)
		return ST_BAD_DATA;
	for (size_t i = 0; i < table.size && status == ST_OK; i += 2) {
		int8_t step = (int8_t)table.data[i + 1];

		if (step != INT8_MIN)
			d->line += step;
		if (table.data[i])
			status = put(d, step != INT8_MIN);
		d->at += table.data[i];
	}
	return status;
}

/* Six bits a byte, low first, bit 6: more follows. At most 6 bytes, so that sums stay small. */
static uint64_t take_varint(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 36; shift += 6) {
		uint8_t byte = cursor_u8(c);

		value |= (uint64_t)(byte & 63) << shift;
		if (!(byte & 64))
			return value;
	}
	c->overrun = true;
	return 0;
}

static int64_t take_svarint(struct cursor *c)
{
	uint64_t value = take_varint(c);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Entries of a byte 1cccclll (code, units - 1) and what the code says that follows. */
static enum status decode_311(struct decoder *d, struct bytes table)
{
	struct cursor c = cursor_over(table);
	enum status status = ST_OK;

	while (cursor_left(&c) && status == ST_OK) {
		uint8_t first = cursor_u8(&c);
		unsigned code = first >> 3 & 15;

		if (!(first & 128))
			return ST_BAD_DATA;
		if (code == 13 || code == 14)
			d->line += take_svarint(&c);
		if (code == 14)
			for (int i = 0; i < 3; i++) /* end line, column, end column */
				(void)take_varint(&c);
		else if (code >= 10 && code <= 12)
			d->line += code - 10;
		if (code <= 12) /* the columns */
			cursor_take(&c, code < 10 ? 1 : 2);
		if (c.overrun)
			return ST_BAD_DATA;
		status = put(d, code != 15);
		d->at += (first & 7) + 1;
	}
	return status;
}

static enum status decode(struct decoder *d, enum py_lines_form form, struct bytes table)
{
	switch (form) {
	case PY_LINES_LNOTAB_27:
		return decode_lnotab(d, table, false);
	case PY_LINES_LNOTAB:
		return decode_lnotab(d, table, true);
	case PY_LINES_310:
		return decode_310(d, table);
	case PY_LINES_311:
		return decode_311(d, table);
	}
	return ST_BAD_DATA;
}

enum status lines_parse(struct lines *lines, enum py_lines_form form, struct bytes table,
			int32_t first_line)
{
	struct decoder d = { .line = first_line };
	enum status status = decode(&d, form, table);
	struct lines_range *fitted;

	if (status != ST_OK) {
		free(d.ranges);
		return status;
	}
	fitted = d.count ? realloc(d.ranges, d.count * sizeof(*fitted)) : NULL;
	*lines = (struct lines){
		.ranges = fitted ? fitted : d.ranges,
		.count = d.count,
		.end = d.at < UINT32_MAX ? (uint32_t)d.at : UINT32_MAX,
		.first_line = first_line < 1 ? 1 : first_line,
	};
	return ST_OK;
}

void lines_free(struct lines *lines)
{
	free(lines->ranges);
	*lines = (struct lines){ 0 };
}

int32_t lines_find(const struct lines *lines, int64_t lasti)
{
	size_t low = 0, high = lines->count; /* ranges before low start at or before lasti */

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines->ranges[middle].start <= lasti)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low; low--)
		if (lines->ranges[low - 1].line)
			return lines->ranges[low - 1].line;
	return lines->first_line < 1 ? 1 : lines->first_line;
}
