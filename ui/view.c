/*
 * view: the stack of views, and the table of the one on top.
 *
 * Invariant: view_depth >= 1; of all tables only that of the view on top holds rows, and they are
 * those of ui->picture.
 *
 * Called by loop and commands; the views themselves use it to go on and back.
 */
#include "ui/view.h"

#include "ui/screen.h"
#include "ui/table_draw.h"

const struct view *view_now(const struct ui *ui)
{
	return ui->views[ui->view_depth - 1];
}

void view_push(struct ui *ui, const struct view *view)
{
	if (ui->view_depth < VIEW_STACK_MAX)
		ui->views[ui->view_depth++] = view;
	screen_renew();
	view_fill(ui);
}

void view_pop(struct ui *ui)
{
	if (ui->view_depth > 1)
		ui->view_depth--;
	screen_renew();
	view_fill(ui);
}

void view_root(struct ui *ui, const struct view *view)
{
	ui->views[0] = view;
	ui->view_depth = 1;
	screen_renew();
	view_fill(ui);
}

void view_fill(struct ui *ui)
{
	const struct view *view = view_now(ui);
	enum status status;

	table_empty(&ui->functions);
	table_empty(&ui->threads);
	table_empty(&ui->frames);
	if (!ui->picture || !view->fill)
		return;
	status = view->fill(ui);
	if (status)
		notice_status(&ui->notice, status, NULL);
}

void view_draw_table(struct ui *ui, struct table *table, int y, int height)
{
	const char *nothing = "nothing was seen yet";

	if (!ui->picture || !ui->picture->header.ticks)
		nothing = "the first samples are on their way ...";
	else if (table->filter[0] && table->all)
		nothing = "no row matches the filter (Esc ends it)";
	else if (table->hide_idle && table->all)
		nothing = "nothing but idle rows (H shows them)";
	ui->page = table_draw(table, &ui->context, y, height, nothing);
}
