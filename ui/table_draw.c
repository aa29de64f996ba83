/*
 * table_draw: a table on the screen.
 *
 * Invariant: each cell is put at its own place, so that a character whose width the terminal sees
 * otherwise shifts nothing but its own cell.
 *
 * Called by the views and the picker.
 */
#include "ui/table_draw.h"

#include <string.h>

#include "ui/screen.h"

static enum theme_role role_of(enum column_hue hue)
{
	switch (hue) {
	case HUE_CPU:
		return THEME_CPU;
	case HUE_GIL:
		return THEME_GIL;
	case HUE_WAIT:
		return THEME_WAIT;
	case HUE_PLACE:
		return THEME_PLACE;
	case HUE_QUIET:
		return THEME_QUIET;
	default:
		return THEME_PLAIN;
	}
}

/* Nothing but zeros: of no interest, and not to catch the eye. */
static bool is_zero(const char *cell)
{
	return strchr(cell, '0') && cell[strspn(cell, " 0.%s")] == '\0';
}

static void draw_titles(const struct table *t, const struct columns_layout *layout, int y)
{
	screen_fill(y, 0, screen_width(), THEME_HEAD);
	for (size_t i = 0; i < layout->count; i++) {
		const struct columns_place *place = &layout->places[i];
		char title[COLUMNS_CELL_MAX];

		columns_title(title, sizeof(title), place, t->sort, t->reversed, screen_ascii());
		screen_text(y, (int)place->x, (int)place->width,
			    place->column == t->sort ? THEME_SORT : THEME_HEAD, title);
	}
}

static enum theme_role role_of_cell(const struct columns_place *place, const struct column *sort,
				    const void *row, const char *cell)
{
	const struct column *column = place->column;
	enum theme_role role = role_of(column->hue_of ? column->hue_of(row) : column->hue);

	if (!column->left && is_zero(cell))
		return THEME_QUIET;
	return column == sort ? (enum theme_role)(role | THEME_BOLD) : role;
}

static void draw_row(const struct table *t, const struct columns_layout *layout,
		     const struct columns_context *context, size_t index, int y)
{
	const void *row = t->rows[index];
	bool selected = index == t->selected;

	if (selected)
		screen_fill(y, 0, screen_width(), THEME_SELECTED);
	for (size_t i = 0; i < layout->count; i++) {
		const struct columns_place *place = &layout->places[i];
		char cell[COLUMNS_CELL_MAX];
		enum theme_role role = THEME_SELECTED;

		columns_cell(cell, sizeof(cell), place, row, context);
		if (!selected)
			role = role_of_cell(place, t->sort, row, cell);
		screen_text(y, (int)place->x, (int)place->width, role, cell);
	}
}

int table_draw(struct table *t, const struct columns_context *context, int y, int height,
	       const char *nothing)
{
	struct columns_layout layout;
	int lines = height - 1, width = screen_width();

	if (height < 1)
		return 0;
	columns_lay_out(&layout, t->set, width > 0 ? (unsigned)width : 0, t->sort);
	draw_titles(t, &layout, y);
	if (!t->count && lines > 0)
		screen_text(y + 1 + (lines > 2), 2, width - 2, THEME_QUIET, nothing);
	table_scroll(t, lines > 0 ? (size_t)lines : 0);
	for (size_t i = t->top; i < t->count && i - t->top < (size_t)(lines > 0 ? lines : 0); i++)
		draw_row(t, &layout, context, i, y + 1 + (int)(i - t->top));
	return lines > 0 ? lines : 0;
}
