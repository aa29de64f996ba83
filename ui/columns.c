/*
 * columns: choosing, placing and printing the columns of a table; the columns themselves stand in
 * columns_functions.c, columns_threads.c and columns_processes.c.
 *
 * Invariant: a layout never takes more than the width it was made for, a cell is exactly as wide
 * as its place, and which columns a width has depends on nothing but the width and the sort
 * column.
 *
 * Called by table, by the views, and by batch.
 */
#include "ui/columns.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"

#define IDLE_SHARE 0.02

#define GAP 1

const struct column *columns_find(const struct column_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcasecmp(set->columns[i].name, name) == 0 ||
		    strcasecmp(set->columns[i].title, name) == 0)
			return &set->columns[i];
	return NULL;
}

const struct column *columns_of_kind(const struct column_set *set, enum kind kind)
{
	return columns_find(set, kind_name(kind));
}

const struct column *columns_step(const struct column_set *set, const struct column *from, int step)
{
	size_t at = from ? (size_t)(from - set->columns) : 0;

	return &set->columns[(at + set->count + (step > 0 ? 1 : set->count - 1)) % set->count];
}

/* The least width of the columns kept. */
static unsigned least(const struct column_set *set, const bool *kept)
{
	unsigned width = 0;

	for (size_t i = 0; i < set->count; i++)
		if (kept[i])
			width += set->columns[i].width + (width ? GAP : 0);
	return width;
}

/* Which column leaves next; count when only one is left. */
static size_t leaver(const struct column_set *set, const bool *kept, const struct column *sort)
{
	size_t found = set->count, left = 0;

	for (size_t i = 0; i < set->count; i++) {
		const struct column *c = &set->columns[i];

		if (!kept[i])
			continue;
		left++;
		if (c != sort && (found == set->count || c->from > set->columns[found].from))
			found = i;
	}
	return left > 1 ? found : set->count;
}

/* Share out what is left over: to the narrowest flexible place first, as far as it wants to grow. */
static void grow(struct columns_layout *layout, unsigned spare)
{
	for (; spare; spare--) {
		struct columns_place *narrowest = NULL;

		for (size_t i = 0; i < layout->count; i++) {
			struct columns_place *place = &layout->places[i];

			if (place->width < place->column->most &&
			    (!narrowest || place->width < narrowest->width))
				narrowest = place;
		}
		if (!narrowest)
			return;
		narrowest->width++;
	}
}

void columns_lay_out(struct columns_layout *layout, const struct column_set *set, unsigned width,
		     const struct column *sort)
{
	bool kept[COLUMNS_MAX];
	unsigned used, x = 0;
	size_t gone;

	for (size_t i = 0; i < set->count; i++)
		kept[i] = width >= set->columns[i].from || &set->columns[i] == sort;
	while ((used = least(set, kept)) > width && (gone = leaver(set, kept, sort)) < set->count)
		kept[gone] = false;
	layout->count = 0;
	for (size_t i = 0; i < set->count; i++)
		if (kept[i])
			layout->places[layout->count++] = (struct columns_place){
				.column = &set->columns[i],
				.width = set->columns[i].width,
			};
	if (used > width)
		layout->places[0].width = width;
	else
		grow(layout, width - used);
	for (size_t i = 0; i < layout->count; i++) {
		layout->places[i].x = x;
		x += layout->places[i].width + GAP;
	}
}

/* text in exactly width columns */
static void place_text(char *out, size_t size, const char *text, const struct columns_place *place,
		       bool ascii)
{
	size_t width = text_width(text), blanks = 0;

	if (!place->column->left && width < place->width)
		blanks = place->width - width;
	if (blanks >= size)
		blanks = size - 1;
	memset(out, ' ', blanks);
	text_fit(out + blanks, size - blanks, text, place->width - blanks,
		 place->column->cut_start ? TEXT_CUT_START : TEXT_CUT_END, true, ascii);
}

void columns_title(char *out, size_t size, const struct columns_place *place,
		   const struct column *sort, bool reversed, bool ascii)
{
	const char *title = place->column->title;
	bool down = place->column->left == reversed;
	const char *arrow = ascii ? (down ? "v" : "^") : down ? "\xe2\x96\xbc" : "\xe2\x96\xb2";
	char text[64];

	if (place->column != sort)
		arrow = "";
	text[0] = '\0';
	if (!place->column->left)
		strcat(text, arrow);
	strncat(text, title, sizeof(text) - 8);
	if (place->column->left)
		strcat(text, arrow);
	place_text(out, size, text, place, ascii);
}

void columns_cell(char *out, size_t size, const struct columns_place *place, const void *row,
		  const struct columns_context *context)
{
	char text[COLUMNS_CELL_MAX];

	text[0] = '\0';
	place->column->print(text, sizeof(text), row, context);
	place_text(out, size, text, place, context->ascii);
}

/* Append a cell and the blanks before it. */
static void append(char *out, size_t size, size_t *used, size_t *columns,
		   const struct columns_place *place, const char *cell)
{
	size_t length = strlen(cell);

	for (; *columns < place->x && *used + 1 < size; (*columns)++)
		out[(*used)++] = ' ';
	if (*used + length >= size)
		return;
	memcpy(out + *used, cell, length);
	*used += length;
	*columns += text_width(cell);
}

static size_t finish(char *out, size_t used)
{
	while (used && out[used - 1] == ' ')
		used--;
	out[used] = '\0';
	return used;
}

size_t columns_header(char *out, size_t size, const struct columns_layout *layout,
		      const struct column *sort, bool reversed, bool ascii)
{
	size_t used = 0, columns = 0;

	for (size_t i = 0; i < layout->count; i++) {
		char cell[COLUMNS_CELL_MAX];

		columns_title(cell, sizeof(cell), &layout->places[i], sort, reversed, ascii);
		append(out, size, &used, &columns, &layout->places[i], cell);
	}
	return finish(out, used);
}

size_t columns_line(char *out, size_t size, const struct columns_layout *layout, const void *row,
		    const struct columns_context *context)
{
	size_t used = 0, columns = 0;

	for (size_t i = 0; i < layout->count; i++) {
		char cell[COLUMNS_CELL_MAX];

		columns_cell(cell, sizeof(cell), &layout->places[i], row, context);
		append(out, size, &used, &columns, &layout->places[i], cell);
	}
	return finish(out, used);
}

int columns_compare(const struct column_set *set, const struct column *sort, bool reversed,
		    enum kind mode, const void *a, const void *b)
{
	uint64_t key_a = set->key(a), key_b = set->key(b);
	int order = sort ? sort->compare(a, b, mode) : 0;

	if (sort && sort->left == reversed)
		order = -order;
	if (!order && set->tie)
		order = set->tie(a, b, mode);
	if (!order && sort)
		order = (key_a > key_b) - (key_a < key_b);
	return order;
}

static bool begins(const char *name, const char *text)
{
	for (; *text; name++, text++) {
		unsigned char a = (unsigned char)*name, b = (unsigned char)*text;

		a = a >= 'A' && a <= 'Z' ? (unsigned char)(a + 32) : a;
		b = b >= 'A' && b <= 'Z' ? (unsigned char)(b + 32) : b;
		if (a != b)
			return false;
	}
	return true;
}

bool columns_is_idle(const double percent[KIND_COUNT])
{
	double busy = percent[KIND_CPU] + percent[KIND_GIL] + percent[KIND_WAIT];

	return busy < 0.05 || busy < percent[KIND_WALL] * IDLE_SHARE;
}

bool columns_contains(const char *name, const char *text)
{
	if (!*text)
		return true;
	for (; *name; name++)
		if (begins(name, text))
			return true;
	return false;
}
