/*
 * view_sort: choose the column to sort by, of the table that lies below. A table like the others:
 * its rows are columns.
 *
 * Called through view_sort by loop and commands.
 */
#include <stdio.h>
#include <string.h>

#include "ui/view.h"

static void print_title(char *out, size_t size, const void *row,
			const struct columns_context *context)
{
	(void)context;
	snprintf(out, size, " %s", ((const struct column *)row)->title);
}

static void print_help(char *out, size_t size, const void *row,
		       const struct columns_context *context)
{
	(void)context;
	snprintf(out, size, "%s", ((const struct column *)row)->help);
}

static const struct column columns[] = {
	{ "column", " SORT BY", "a column", 12, 0, 0, true, false, HUE_NAME, NULL, print_title,
	  NULL },
	{ "help", "WHAT IT SHOWS", "of it", 10, 1000, 24, true, false, HUE_QUIET, NULL, print_help,
	  NULL },
};

static uint64_t key(const void *row)
{
	return (uint64_t)(uintptr_t)row;
}

static bool match(const void *row, const char *text)
{
	return columns_contains(((const struct column *)row)->title, text);
}

static const struct column_set set = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.stride = sizeof(struct column),
	.key = key,
	.match = match,
};

/* The table whose column is chosen. */
static struct table *below(struct ui *ui)
{
	const struct view *view = ui->view_depth > 1 ? ui->views[ui->view_depth - 2] : NULL;

	return view && view->table ? view->table(ui) : &ui->functions;
}

static struct table *table(struct ui *ui)
{
	return &ui->choices;
}

static enum status fill(struct ui *ui)
{
	const struct column_set *choices = below(ui)->set;

	if (ui->choices.set != &set) {
		table_init(&ui->choices, &set, ui->context.mode);
		ui->choices.follows = true;
		ui->choices.key = key(below(ui)->sort);
	}
	return table_fill(&ui->choices, choices->columns, choices->count, ui->context.mode);
}

static void draw(struct ui *ui, int y, int height)
{
	view_draw_table(ui, &ui->choices, y, height);
}

static bool act(struct ui *ui, enum action action)
{
	const struct column *chosen = table_row(&ui->choices);

	if (action != ACTION_ENTER && action != ACTION_BACK)
		return false;
	if (action == ACTION_ENTER && chosen)
		below(ui)->sort = chosen;
	table_free(&ui->choices);
	ui->choices.set = NULL;
	view_pop(ui);
	return true;
}

const struct view view_sort = {
	.place = PLACE_SORT,
	.table = table,
	.fill = fill,
	.draw = draw,
	.act = act,
};
