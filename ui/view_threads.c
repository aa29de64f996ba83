/*
 * view_threads: the table of threads; Enter goes to the stack of one.
 *
 * Called through view_threads by loop and commands.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/format.h"
#include "ui/view.h"

static struct table *table(struct ui *ui)
{
	return &ui->threads;
}

static enum status fill(struct ui *ui)
{
	return table_fill(&ui->threads, ui->picture->threads, ui->picture->thread_count,
			  ui->context.mode);
}

static void draw(struct ui *ui, int y, int height)
{
	view_draw_table(ui, &ui->threads, y, height);
}

static void detail(struct ui *ui, char *out, size_t size)
{
	const struct pytop_thread *thread = table_row(&ui->threads);
	char name[512], function[1024], path[4608], unseen[16];
	size_t used;

	if (!thread)
		return;
	format_name(name, sizeof(name), thread->name, ui->context.ascii);
	format_name(function, sizeof(function), thread->function, ui->context.ascii);
	format_whole_path(path, sizeof(path), thread->file, thread->line, ui->context.ascii);
	snprintf(out, size, "%s (%" PRIdMAX "%s) %s\t%s%s%s", name, (intmax_t)thread->tid,
		 thread->main ? ", main" : "", thread->ended ? "ended" : state_name(thread->state),
		 function, *path ? "  " : "", path);
	used = strlen(out);
	if (ui->picture->interpreter_count > 1) {
		snprintf(out + used, size - used, "\tinterpreter %" PRId64, thread->interpreter);
		used = strlen(out);
	}
	if (format_tenths(thread->unseen_cpu_s) > 0) {
		text_seconds(unseen, sizeof(unseen), thread->unseen_cpu_s);
		snprintf(out + used, size - used, "\t%s of CPU unseen", unseen);
	}
}

static bool act(struct ui *ui, enum action action)
{
	const struct pytop_thread *thread = table_row(&ui->threads);

	if (action != ACTION_ENTER)
		return false;
	if (!thread)
		return true;
	ui->stack_tid = thread->tid;
	pytop_watch_thread(ui->pytop, thread->tid);
	pytop_wake(ui->pytop);
	ui->wants_picture = true;
	table_home(&ui->frames);
	view_push(ui, &view_stack);
	return true;
}

const struct view view_threads = {
	.place = PLACE_THREADS,
	.table = table,
	.fill = fill,
	.draw = draw,
	.detail = detail,
	.act = act,
};
