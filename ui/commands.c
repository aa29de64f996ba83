/*
 * commands: what each action of the keymap does.
 *
 * Invariant: a command changes ui and asks the library; it draws nothing and waits for nothing.
 *
 * Called by loop, once a key.
 */
#include "ui/commands.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "ui/exports.h"
#include "ui/format.h"
#include "ui/screen.h"

static const double half_lives[] = { 1, 2, 5, 10, 20, 60, 120, 300, 600 };
static const double refreshes[] = { 0.1, 0.2, 0.5, 1, 2, 5, 10, 30 };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The next longer or shorter of a list; value itself at the end. */
static double step(const double *list, size_t count, double value, bool longer)
{
	for (size_t i = 0; i < count; i++) {
		double candidate = list[longer ? i : count - 1 - i];

		if (longer ? candidate > value * 1.001 : candidate < value * 0.999)
			return candidate;
	}
	return value;
}

/* After the longest comes 0: no decay. */
static void change_half_life(struct ui *ui, bool longer)
{
	double last = half_lives[COUNT(half_lives) - 1], now = ui->half_life_s, then;
	char text[16];

	if (now <= 0)
		then = longer ? 0 : last;
	else if (longer && now >= last)
		then = 0;
	else
		then = step(half_lives, COUNT(half_lives), now, longer);
	ui->half_life_s = then;
	pytop_set_half_life(ui->pytop, then);
	pytop_wake(ui->pytop);
	format_setting_seconds(text, sizeof(text), then);
	notice_say(&ui->notice, ui->now_ms, "half-life %s", text);
}

static void change_refresh(struct ui *ui, bool longer)
{
	char text[16];

	ui->refresh_s = step(refreshes, COUNT(refreshes), ui->refresh_s, longer);
	pytop_set_refresh(ui->pytop, ui->refresh_s);
	format_setting_seconds(text, sizeof(text), ui->refresh_s);
	notice_say(&ui->notice, ui->now_ms, "a new picture every %s", text);
}

/* A table sorted by a kind's percent is then sorted by the new kind's. */
static void follow_mode(struct table *table, enum kind mode)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct column *column = columns_of_kind(table->set, mode);

		if (column && table->sort == columns_of_kind(table->set, (enum kind)kind)) {
			table->sort = column;
			return;
		}
	}
}

static void change_mode(struct ui *ui, enum kind mode)
{
	ui->context.mode = mode;
	follow_mode(&ui->functions, mode);
	follow_mode(&ui->threads, mode);
	view_fill(ui);
}

static void change_sort(struct ui *ui, enum action action)
{
	const struct view *view = view_now(ui);
	struct table *table = view->table ? view->table(ui) : NULL;

	if (!table)
		return;
	if (action == ACTION_REVERSE)
		table->reversed = !table->reversed;
	else
		table->sort =
			columns_step(table->set, table->sort, action == ACTION_SORT_RIGHT ? 1 : -1);
	view_fill(ui);
}

/* Ask for a picture now, also when the picture is paused: what it shows was changed. */
static void ask_for_picture(struct ui *ui)
{
	ui->wants_picture = true;
	pytop_wake(ui->pytop);
}

static void toggle_lines(struct ui *ui)
{
	ui->by_line = !ui->by_line;
	pytop_set_rows_by_line(ui->pytop, ui->by_line);
	table_home(&ui->functions);
	ask_for_picture(ui);
	if (view_now(ui)->place != PLACE_FUNCTIONS)
		view_root(ui, &view_functions);
}

static void toggle_threads(struct ui *ui)
{
	if (view_now(ui)->place == PLACE_STACK)
		pytop_watch_thread(ui->pytop, 0);
	view_root(ui, view_now(ui)->place == PLACE_FUNCTIONS ? &view_threads : &view_functions);
}

static void toggle_pause(struct ui *ui)
{
	ui->paused = !ui->paused;
	if (ui->paused)
		notice_say(&ui->notice, ui->now_ms,
			   "the picture is paused; sampling and the log go on");
	else
		ask_for_picture(ui);
}

static void switch_to_child(struct ui *ui)
{
	pid_t child = ui->picture ? ui->picture->header.busy_child : 0;

	if (!child) {
		notice_say(&ui->notice, ui->now_ms, "no Python child is busier than this process");
		return;
	}
	ui->result->end = LOOP_SWITCH;
	ui->result->switch_to = child;
	ui->done = true;
}

static void quit(struct ui *ui)
{
	if (ui->exporting && !ui->quit_asked) {
		ui->quit_asked = true;
		notice_keep(&ui->notice,
			    "leaving when the profile is written\tq again gives it up");
		return;
	}
	ui->result->end = LOOP_QUIT;
	ui->done = true;
}

/* Esc: the nearest thing that can be ended. */
static void back(struct ui *ui)
{
	const struct view *view = view_now(ui);
	struct table *table = view->table ? view->table(ui) : NULL;

	if (ui->exporting) {
		ui->quit_asked = false;
		notice_clear(&ui->notice);
		exports_cancel(ui);
	} else if (ui->notice.text[0]) {
		notice_clear(&ui->notice);
	} else if (table && table->filter[0]) {
		table->filter[0] = '\0';
		view_fill(ui);
	} else if (view->place == PLACE_THREADS) {
		view_root(ui, &view_functions);
	}
}

static void hide_idle(struct ui *ui)
{
	ui->functions.hide_idle = ui->threads.hide_idle = !ui->functions.hide_idle;
	view_fill(ui);
}

/* ---- moving --------------------------------------------------------------------------------- */

static bool move(struct ui *ui, enum action action)
{
	const struct view *view = view_now(ui);
	struct table *table = view->table ? view->table(ui) : NULL;
	ptrdiff_t page = ui->page > 1 ? ui->page - 1 : 1, half = (page + 1) / 2;

	if (!table)
		return false;
	switch (action) {
	case ACTION_UP:
		table_move(table, -1);
		return true;
	case ACTION_DOWN:
		table_move(table, 1);
		return true;
	case ACTION_PAGE_UP:
		table_move(table, -page);
		return true;
	case ACTION_PAGE_DOWN:
		table_move(table, page);
		return true;
	case ACTION_HALF_UP:
		table_move(table, -half);
		return true;
	case ACTION_HALF_DOWN:
		table_move(table, half);
		return true;
	case ACTION_HOME:
		table_home(table);
		return true;
	case ACTION_END:
		table_end(table);
		return true;
	default:
		return false;
	}
}

/* ---- search and filter ---------------------------------------------------------------------- */

static void search_again(struct ui *ui, int direction)
{
	const struct view *view = view_now(ui);
	struct table *table = view->table ? view->table(ui) : NULL;

	if (!table)
		return;
	if (!ui->search.text[0])
		notice_say(&ui->notice, ui->now_ms, "nothing was searched yet: / first");
	else if (!search_on(&ui->search, table, direction))
		search_say_missed(&ui->search, &ui->notice, ui->now_ms);
}

static void ask(struct ui *ui, enum prompt_purpose purpose)
{
	const struct view *view = view_now(ui);
	struct table *table = view->table ? view->table(ui) : NULL;

	if (!table)
		return;
	if (purpose == PROMPT_SEARCH)
		search_begin(&ui->search, table);
	prompt_begin(&ui->prompt, purpose, purpose == PROMPT_FILTER ? table->filter : "");
}

void commands_prompt(struct ui *ui, int key)
{
	enum prompt_purpose purpose = ui->prompt.purpose;
	enum prompt_result result = prompt_key(&ui->prompt, key);
	const struct view *view = view_now(ui);
	struct table *table = view->table ? view->table(ui) : NULL;

	if (result == PROMPT_UNCHANGED || !table)
		return;
	if (purpose == PROMPT_FILTER) {
		snprintf(table->filter, sizeof(table->filter), "%s", ui->prompt.text);
		view_fill(ui);
		return;
	}
	if (result == PROMPT_DONE && !ui->prompt.text[0])
		search_again(ui, 1);
	else if (!search_typed(&ui->search, table, &ui->prompt, result))
		search_say_missed(&ui->search, &ui->notice, ui->now_ms);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void export_as(struct ui *ui, const char *format)
{
	exports_begin(ui, export_format_by_name(format), false);
}

static void reset(struct ui *ui)
{
	pytop_reset(ui->pytop);
	ask_for_picture(ui);
	notice_say(&ui->notice, ui->now_ms, "all sums begin anew; the log keeps everything");
}

void commands_do(struct ui *ui, enum action action)
{
	const struct view *view = view_now(ui);

	/* Esc sends a notice away, and does no more. */
	if (action != ACTION_BACK)
		notice_pass(&ui->notice);
	if ((view->act && view->act(ui, action)) || move(ui, action))
		return;
	switch (action) {
	case ACTION_BACK:
		back(ui);
		break;
	case ACTION_SEARCH:
	case ACTION_FILTER:
		ask(ui, action == ACTION_SEARCH ? PROMPT_SEARCH : PROMPT_FILTER);
		break;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		search_again(ui, action == ACTION_NEXT ? 1 : -1);
		break;
	case ACTION_SORT_LEFT:
	case ACTION_SORT_RIGHT:
	case ACTION_REVERSE:
		change_sort(ui, action);
		break;
	case ACTION_SORT_MENU:
		view_push(ui, &view_sort);
		break;
	case ACTION_WALL:
	case ACTION_CPU:
	case ACTION_GIL:
	case ACTION_WAIT:
		change_mode(ui, (enum kind)(KIND_WALL + (action - ACTION_WALL)));
		break;
	case ACTION_SHORTER:
	case ACTION_LONGER:
		change_half_life(ui, action == ACTION_LONGER);
		break;
	case ACTION_FASTER:
	case ACTION_SLOWER:
		change_refresh(ui, action == ACTION_SLOWER);
		break;
	case ACTION_THREADS:
		toggle_threads(ui);
		break;
	case ACTION_LINES:
		toggle_lines(ui);
		break;
	case ACTION_IDLE:
		hide_idle(ui);
		break;
	case ACTION_PAUSE:
		toggle_pause(ui);
		break;
	case ACTION_RESET:
		reset(ui);
		break;
	case ACTION_GECKO:
		export_as(ui, "gecko");
		break;
	case ACTION_FLAMEGRAPH:
		export_as(ui, "flamegraph");
		break;
	case ACTION_COLLAPSED:
		export_as(ui, "collapsed");
		break;
	case ACTION_WHOLE:
		exports_begin(ui, ui->last_format, true);
		break;
	case ACTION_CHILD:
		switch_to_child(ui);
		break;
	case ACTION_REDRAW:
		screen_redraw();
		break;
	case ACTION_HELP:
		ui->help_top = 0;
		view_push(ui, &view_help);
		break;
	case ACTION_QUIT:
		quit(ui);
		break;
	default:
		break;
	}
}
