/*
 * view_stack: one thread's stack now, leaf first, with the lines that execute.
 *
 * Invariant: a stack is shown only under the name of the thread it belongs to; until the picture
 * carries it, the view says that it is coming.
 *
 * Called through view_stack by loop and commands.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ui/format.h"
#include "ui/screen.h"
#include "ui/table_draw.h"
#include "ui/view.h"

static struct table *table(struct ui *ui)
{
	return &ui->frames;
}

static enum status fill(struct ui *ui)
{
	bool here = ui->picture->stack_tid == ui->stack_tid;

	return table_fill(&ui->frames, ui->picture->stack, here ? ui->picture->stack_depth : 0,
			  ui->context.mode);
}

static const struct pytop_thread *thread_of(const struct ui *ui)
{
	for (size_t i = 0; ui->picture && i < ui->picture->thread_count; i++)
		if (ui->picture->threads[i].tid == ui->stack_tid)
			return &ui->picture->threads[i];
	return NULL;
}

static void title(const struct ui *ui, char *out, size_t size)
{
	const struct pytop_thread *thread = thread_of(ui);
	char name[512], cpu[16], gil[16], wait[16];

	if (!thread) {
		snprintf(out, size, "thread %" PRIdMAX, (intmax_t)ui->stack_tid);
		return;
	}
	format_name(name, sizeof(name), thread->name, ui->context.ascii);
	format_percent(cpu, sizeof(cpu), thread->percent[KIND_CPU]);
	format_percent(gil, sizeof(gil), thread->percent[KIND_GIL]);
	format_percent(wait, sizeof(wait), thread->percent[KIND_WAIT]);
	snprintf(out, size, "%s\tthread %" PRIdMAX "\t%s\tcpu %s  gil %s  wait %s", name,
		 (intmax_t)thread->tid, thread->ended ? "ended" : state_name(thread->state), cpu,
		 gil, wait);
}

static const char *nothing(const struct ui *ui)
{
	const struct pytop_thread *thread = thread_of(ui);

	if (!thread || thread->ended)
		return "this thread has ended";
	if (ui->picture->stack_tid != ui->stack_tid && ui->picture->header.target != PYTOP_LIVE)
		return "the process has ended: there is no stack any more";
	if (ui->picture->stack_tid != ui->stack_tid)
		return "its stack is on its way ...";
	return "no Python on its stack";
}

static void draw(struct ui *ui, int y, int height)
{
	char text[1024], line[1024];
	int width = screen_width() - 2;

	if (height >= 4 && width > 0) {
		title(ui, text, sizeof(text));
		format_parts(line, sizeof(line), text, (size_t)width, ui->context.ascii);
		screen_text(y, 1, width, THEME_STRONG, line);
		y++;
		height--;
	}
	ui->page = table_draw(&ui->frames, &ui->context, y, height, nothing(ui));
}

static void detail(struct ui *ui, char *out, size_t size)
{
	const struct pytop_frame *frame = table_row(&ui->frames);
	char name[1024], path[4608];

	if (!frame)
		return;
	format_name(name, sizeof(name), frame->function, ui->context.ascii);
	format_whole_path(path, sizeof(path), frame->file, frame->line, ui->context.ascii);
	snprintf(out, size, "%s%s%s\tframe %zu of %zu", name, *path ? "  " : "", path,
		 ui->frames.selected + 1, ui->frames.count);
}

static bool act(struct ui *ui, enum action action)
{
	if (action != ACTION_BACK || ui->exporting)
		return false;
	pytop_watch_thread(ui->pytop, 0);
	view_pop(ui);
	return true;
}

const struct view view_stack = {
	.place = PLACE_STACK,
	.table = table,
	.fill = fill,
	.draw = draw,
	.detail = detail,
	.act = act,
};
