/*
 * view_functions: the table of functions, or of lines.
 *
 * Called through view_functions by loop and commands.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/format.h"
#include "ui/screen.h"
#include "ui/view.h"

static struct table *table(struct ui *ui)
{
	return &ui->functions;
}

static enum status fill(struct ui *ui)
{
	return table_fill(&ui->functions, ui->picture->rows, ui->picture->row_count,
			  ui->context.mode);
}

static void draw(struct ui *ui, int y, int height)
{
	view_draw_table(ui, &ui->functions, y, height);
}

/* "total: cpu 61.0  gil 60.1  wait 4.0  wall 66.0": a function in all kinds at once. */
static void all_kinds(char *out, size_t size, const char *label, const double values[KIND_COUNT])
{
	size_t used = (size_t)snprintf(out, size, "%s", label);

	for (int kind = 0; kind < KIND_COUNT && used < size; kind++) {
		char percent[16];

		format_percent(percent, sizeof(percent), values[kind]);
		used += (size_t)snprintf(out + used, size - used, " %s %s", kind_name(kind),
					 percent);
	}
}

static void detail(struct ui *ui, char *out, size_t size)
{
	const struct pytop_row *row = table_row(&ui->functions);
	char name[1024], path[4608], total[128], samples[32];

	if (!row)
		return;
	format_name(name, sizeof(name), row->function, ui->context.ascii);
	format_whole_path(path, sizeof(path), row->file, row->line, ui->context.ascii);
	all_kinds(total, sizeof(total), "total", row->total);
	text_grouped(samples, sizeof(samples), row->samples);
	snprintf(out, size, "%s%s%s\t%s", name, *path ? "  " : "", path, total);
	if (ui->picture->interpreter_count > 1) {
		size_t used = strlen(out);

		snprintf(out + used, size - used, "\tinterpreter %" PRId64, row->interpreter);
	}
	size_t used = strlen(out);

	snprintf(out + used, size - used, "\t%s samples", samples);
}

const struct view view_functions = {
	.place = PLACE_FUNCTIONS,
	.table = table,
	.fill = fill,
	.draw = draw,
	.detail = detail,
};
