/*
 * loop: the live screen: wait for a key, a signal or a picture; do what it asks; draw.
 *
 * Invariant: a picture is taken only here, and every table is filled anew before anything of the
 * old one could be looked at; the screen is drawn only when something changed.
 *
 * Called by main.
 */
#include "ui/loop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "ui/commands.h"
#include "ui/exports.h"
#include "ui/footer.h"
#include "ui/format.h"
#include "ui/screen.h"
#include "ui/summary.h"
#include "ui/view.h"

#define LAST_ROWS 10
#define LAST_WIDTH_MAX 160
#define FIRST_PICTURE_MS 100 /* how often the first samples are asked for */
#define EXPORT_LOOK_MS 200
#define NEXT_LOOK_MS 200

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- drawing -------------------------------------------------------------------------------- */

static void draw_detail(struct ui *ui, int y)
{
	const struct view *view = view_now(ui);
	char text[8192] = "", line[8192];
	int width = screen_width() - 2;

	if (!view->detail || width <= 0)
		return;
	view->detail(ui, text, sizeof(text));
	format_parts(line, sizeof(line), text, (size_t)width, ui->context.ascii);
	screen_text(y, 1, width, THEME_PLAIN, line);
}

/* What has the word: a question, an export, a notice; false: nothing has. */
static bool draw_word(const struct ui *ui, int y)
{
	if (ui->prompt.purpose)
		prompt_draw(&ui->prompt, y);
	else if (ui->notice.text[0] && (!ui->exporting || ui->quit_asked))
		notice_draw(&ui->notice, y);
	else if (ui->exporting)
		exports_draw(ui, y);
	else
		return false;
	return true;
}

/* Below the table: what is selected, what is said, which keys there are; less on a low screen. */
static void draw(struct ui *ui)
{
	int height = screen_height(), top = summary_height(height);
	int below = height >= 16 ? 3 : height >= 8 ? 2 : 1;
	enum place place = view_now(ui)->place;

	screen_begin();
	summary_draw(ui, top);
	view_now(ui)->draw(ui, top, height - top - below);
	if (below == 3) {
		draw_detail(ui, height - 3);
		draw_word(ui, height - 2);
	} else if (below == 2 && !draw_word(ui, height - 2)) {
		draw_detail(ui, height - 2);
	}
	if (below > 1 || !draw_word(ui, height - 1))
		footer_draw(place, height - 1);
	screen_end();
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* The log stopped: said once with its cure; the header keeps on saying so. */
static void tell_log_stop(struct ui *ui)
{
	const struct pytop_header *h = &ui->picture->header;

	if (h->log != PYTOP_LOG_STOPPED || ui->log_stop_told)
		return;
	ui->log_stop_told = true;
	notice_status(&ui->notice, h->log_status,
		      &(struct status_args){ .what = "the log stopped", .errnum = h->log_errnum });
}

/* True: there is a new one. */
static bool take_picture(struct ui *ui)
{
	const struct pytop_snapshot *picture;
	uint64_t before = ui->picture ? ui->picture->number : 0;
	bool first = !ui->picture;
	enum status status;

	if (ui->paused && !ui->wants_picture)
		return false;
	status = pytop_snapshot(ui->pytop, &picture);
	if (status) {
		/* What the old one points to may be gone. */
		ui->picture = NULL;
		notice_status(&ui->notice, status, NULL);
	} else {
		ui->picture = picture;
	}
	if (!status && !first && picture->number == before)
		return false;
	ui->wants_picture = false;
	if (ui->picture) {
		summary_take(ui);
		tell_log_stop(ui);
	}
	view_fill(ui);
	return true;
}

static bool has_samples(const struct ui *ui)
{
	return ui->picture && (ui->picture->header.ticks || ui->picture->header.target);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void handle_keys(struct ui *ui)
{
	for (int key; !ui->done && (key = screen_key()) >= 0;) {
		if (ui->prompt.purpose)
			commands_prompt(ui, key);
		else
			commands_do(ui, keymap_find(key, view_now(ui)->place));
	}
}

static void handle_signal(struct ui *ui)
{
	ui->result->end = LOOP_SIGNAL;
	ui->result->signal = screen_signal();
	ui->done = true;
	if (screen_signal() == SIGHUP &&
	    pytop_keep_log(ui->pytop, ui->result->kept_log, sizeof(ui->result->kept_log)))
		ui->result->kept_log[0] = '\0';
}

static int64_t sooner(int64_t a, int64_t b)
{
	return b >= 0 && (a < 0 || b < a) ? b : a;
}

/* Could another process take the place of this one? */
static bool may_go_on(const struct ui *ui)
{
	return ui->options->goes_on && ui->picture && ui->picture->header.target == PYTOP_ENDED &&
	       !ui->exporting && !ui->prompt.purpose;
}

static void look_for_next(struct ui *ui)
{
	if (ui->done || !may_go_on(ui) || !ui->options->goes_on(ui->options->goes_on_context))
		return;
	ui->result->end = LOOP_NEXT;
	ui->done = true;
}

/* How long nothing need be done; -1: without end. */
static int patience(const struct ui *ui, int64_t end_ms)
{
	int64_t wait = -1;

	if (!has_samples(ui))
		wait = sooner(wait, FIRST_PICTURE_MS);
	if (ui->exporting)
		wait = sooner(wait, EXPORT_LOOK_MS);
	if (may_go_on(ui))
		wait = sooner(wait, NEXT_LOOK_MS);
	if (ui->notice.text[0] && ui->notice.until_ms != INT64_MAX)
		wait = sooner(wait, ui->notice.until_ms > ui->now_ms
					    ? ui->notice.until_ms - ui->now_ms
					    : 0);
	if (end_ms)
		wait = sooner(wait, end_ms > ui->now_ms ? end_ms - ui->now_ms : EXPORT_LOOK_MS);
	return wait > 60000 ? 60000 : (int)wait;
}

/* A terminal was lost before: its log waits. */
static void tell_kept_logs(struct ui *ui)
{
	char newest[4096], safe[4096];
	size_t count = pytop_kept_logs(newest, sizeof(newest));

	format_name(safe, sizeof(safe), newest, ui->context.ascii);
	if (count > 0)
		notice_say(&ui->notice, ui->now_ms,
			   count == 1
				   ? "the log of a lost terminal is kept: pytop --open %s"
				   : "logs of lost terminals are kept, the newest: pytop --open %s",
			   safe);
}

static void run(struct ui *ui)
{
	int event_fd = pytop_event_fd(ui->pytop);
	int64_t end_ms = 0;
	bool changed = true;

	ui->now_ms = now_ms();
	if (ui->options->duration_s > 0)
		end_ms = ui->now_ms + (int64_t)(ui->options->duration_s * 1000) + 1;
	take_picture(ui);
	tell_kept_logs(ui);
	while (!ui->done) {
		if (changed)
			draw(ui);
		unsigned events = screen_wait(event_fd, patience(ui, end_ms));

		ui->now_ms = now_ms();
		if (!has_samples(ui))
			pytop_wake(ui->pytop);
		changed = (events & (SCREEN_KEYS | SCREEN_RESIZED)) != 0;
		if (events & SCREEN_PICTURE || !has_samples(ui))
			changed |= take_picture(ui);
		if (events & SCREEN_SIGNAL)
			handle_signal(ui);
		if (events & SCREEN_KEYS)
			handle_keys(ui);
		if (ui->wants_picture)
			changed |= take_picture(ui);
		changed |= exports_update(ui);
		changed |= notice_expire(&ui->notice, ui->now_ms);
		if (end_ms && ui->now_ms >= end_ms && !ui->done && !ui->exporting) {
			ui->result->end = LOOP_DURATION;
			ui->done = true;
		}
		look_for_next(ui);
	}
}

/* ---- what stays ----------------------------------------------------------------------------- */

/* The last rows as text, for the scrollback; NULL when nothing was seen. */
static char *last_rows(struct ui *ui)
{
	unsigned width =
		screen_width() > LAST_WIDTH_MAX ? LAST_WIDTH_MAX : (unsigned)screen_width();
	struct columns_layout layout;
	char *text = NULL, line[1024];
	const struct table *t = &ui->functions;

	if (!has_samples(ui) || view_functions.fill(ui))
		return NULL;
	columns_lay_out(&layout, t->set, width, t->sort);
	for (size_t i = 0; i < LAST_ROWS + 2 && i < t->count + 2; i++) {
		char *longer;

		if (i == 0)
			summary_lines(line, sizeof(line), &ui->picture->header, width);
		else if (i == 1)
			columns_header(line, sizeof(line), &layout, t->sort, t->reversed,
				       ui->context.ascii);
		else
			columns_line(line, sizeof(line), &layout, t->rows[i - 2], &ui->context);
		longer = alloc_format("%s%s\n", text ? text : "", line);
		free(text);
		text = longer;
		if (!text)
			return NULL;
	}
	return text;
}

static void begin(struct ui *ui)
{
	const struct ui_options *options = ui->options;
	const struct column *sort = NULL;

	ui->context.mode = options->mode;
	ui->context.ascii = screen_ascii();
	ui->by_line = options->by_line;
	ui->half_life_s = options->half_life_s;
	ui->refresh_s = options->refresh_s > 0 ? options->refresh_s : 1;
	table_init(&ui->functions, &columns_functions, options->mode);
	table_init(&ui->threads, &columns_threads, options->mode);
	table_init(&ui->frames, &columns_frames, options->mode);
	ui->frames.sort = NULL;
	if (options->sort)
		sort = columns_find(&columns_functions, options->sort);
	if (sort)
		ui->functions.sort = sort;
	ui->functions.hide_idle = ui->threads.hide_idle = options->hide_idle;
	if (options->filter)
		snprintf(ui->functions.filter, sizeof(ui->functions.filter), "%s", options->filter);
	ui->views[0] = &view_functions;
	ui->view_depth = 1;
	pytop_set_rows_by_line(ui->pytop, ui->by_line);
}

enum status loop_run(struct pytop *p, const struct ui_options *options, struct loop_result *result)
{
	struct ui *ui = alloc_zero(1, sizeof(*ui));
	enum status status;

	if (!ui)
		return ST_NO_MEMORY;
	status = screen_open();
	if (status) {
		free(ui);
		return status;
	}
	memset(result, 0, sizeof(*result));
	ui->pytop = p;
	ui->options = options;
	ui->result = result;
	begin(ui);
	run(ui);
	exports_cancel(ui);
	result->last_rows = last_rows(ui);
	screen_close();
	table_free(&ui->functions);
	table_free(&ui->threads);
	table_free(&ui->frames);
	table_free(&ui->choices);
	free(ui);
	return ST_OK;
}

void loop_result_free(struct loop_result *result)
{
	free(result->last_rows);
	for (size_t i = 0; i < result->file_count; i++)
		free(result->files[i]);
	memset(result, 0, sizeof(*result));
}
