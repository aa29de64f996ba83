/*
 * view_help: what the keys do and what the numbers mean, made from the tables that make them so.
 *
 * Invariant: the lines are produced by one walk over the tables, so their number and their text
 * can not disagree.
 *
 * Called through view_help by loop and commands.
 */
#include <stdio.h>

#include "ui/screen.h"
#include "ui/view.h"

/* One walk: lines before top are skipped, those after the last are only counted. */
struct walk {
	int y, left;  /* where the next is drawn, and how many still fit */
	size_t top;   /* still to skip */
	size_t count; /* so far */
	int indent;   /* of the right half */
};

static void line(struct walk *w, enum theme_role role, const char *left, const char *right)
{
	w->count++;
	if (w->top) {
		w->top--;
		return;
	}
	if (w->left <= 0)
		return;
	int x = 1 + screen_text(w->y, 1, screen_width() - 2, role, left);

	if (right) {
		x = x < w->indent ? w->indent : x + 1;
		screen_text(w->y, x, screen_width() - x - 1, THEME_PLAIN, right);
	}
	w->y++;
	w->left--;
}

static void keys(struct walk *w, unsigned places)
{
	line(w, THEME_STRONG, "Keys", NULL);
	for (size_t i = 0; i < keymap_count; i++)
		if (keymap[i].places & places)
			line(w, THEME_KEY, keymap[i].label, keymap[i].help);
}

static void columns(struct walk *w, const struct column_set *set, const char *title)
{
	line(w, THEME_PLAIN, "", NULL);
	line(w, THEME_STRONG, title, NULL);
	for (size_t i = 0; i < set->count; i++)
		line(w, THEME_KEY, set->columns[i].title, set->columns[i].help);
}

static void states(struct walk *w)
{
	static const char *const meanings[STATE_COUNT] = {
		[STATE_UNKNOWN] = "could not be told",
		[STATE_GIL] = "holds the GIL",
		[STATE_RUNNING] = "on a CPU without the GIL: native code",
		[STATE_GIL_WAIT] = "waits for the GIL",
		[STATE_SUSPENDED] = "parked while the world is stopped (free-threaded)",
		[STATE_LOCK] = "waits for a lock",
		[STATE_SLEEP] = "sleeps",
		[STATE_POLL] = "waits in poll, select or epoll",
		[STATE_IO] = "reads, writes, accepts",
		[STATE_DISK] = "waits for a disk",
		[STATE_STOPPED] = "stopped by a signal or a debugger",
	};

	line(w, THEME_PLAIN, "", NULL);
	line(w, THEME_STRONG, "States of threads", NULL);
	for (int state = 0; state < STATE_COUNT; state++)
		line(w, THEME_KEY, state_name(state), meanings[state]);
}

static void header(struct walk *w)
{
	static const char *const words[][2] = {
		{ "CPU", "of the whole process, native threads too; 100 is one core" },
		{ "GIL", "share of time somebody held it (the busiest interpreter)" },
		{ "wait", "how many threads waited for it, on average" },
		{ "kept", "ticks of the last second; asked is what was wanted" },
		{ "missed", "ticks that came too late and were dropped" },
		{ "torn", "stacks that could not be read whole: shown as <torn>" },
		{ "us/tick", "CPU time pytop spends on one look at all threads" },
		{ "native", "CPU time of the process in no Python row" },
		{ "half-life", "what is that old counts half; off: nothing decays" },
	};

	line(w, THEME_PLAIN, "", NULL);
	line(w, THEME_STRONG, "The header", NULL);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		line(w, THEME_KEY, words[i][0], words[i][1]);
}

static void draw(struct ui *ui, int y, int height)
{
	struct walk count = { 0 };
	struct walk w = {
		.y = y,
		.left = height,
		.indent = screen_width() < 44 ? 10 : 16,
	};
	size_t lines = height > 0 ? (size_t)height : 0;

	for (struct walk *pass = &count;; pass = &w) {
		keys(pass, PLACE_FUNCTIONS | PLACE_THREADS | PLACE_STACK);
		columns(pass, &columns_functions, "Columns of functions and lines");
		columns(pass, &columns_threads, "Columns of threads");
		states(pass);
		header(pass);
		if (pass == &w)
			break;
		if (ui->help_top + lines > count.count)
			ui->help_top = count.count > lines ? count.count - lines : 0;
		w.top = ui->help_top;
	}
	ui->page = height;
}

static bool act(struct ui *ui, enum action action)
{
	size_t page = ui->page > 1 ? (size_t)ui->page - 1 : 1;
	size_t *top = &ui->help_top;

	switch (action) {
	case ACTION_UP:
		*top -= *top > 0;
		return true;
	case ACTION_DOWN:
		*top += 1;
		return true;
	case ACTION_PAGE_UP:
	case ACTION_HALF_UP:
		page = action == ACTION_HALF_UP ? (page + 1) / 2 : page;
		*top -= *top < page ? *top : page;
		return true;
	case ACTION_PAGE_DOWN:
	case ACTION_HALF_DOWN:
		*top += action == ACTION_HALF_DOWN ? (page + 1) / 2 : page;
		return true;
	case ACTION_HOME:
		*top = 0;
		return true;
	case ACTION_END:
		*top = 1 << 20; /* drawing knows where the end is */
		return true;
	case ACTION_BACK:
	case ACTION_HELP:
		view_pop(ui);
		return true;
	default:
		return false;
	}
}

const struct view view_help = {
	.place = PLACE_HELP,
	.draw = draw,
	.act = act,
};
