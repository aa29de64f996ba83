/*
 * picker: choose one of the running Python processes.
 *
 * Invariant: rows belong to the list they were made from, which lives until the next one is there;
 * the CPU share of a process is what it used between the two lists.
 *
 * Called by main when no pid is given.
 */
#include "ui/picker.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pytop.h"
#include "ui/columns.h"
#include "ui/footer.h"
#include "ui/format.h"
#include "ui/keymap.h"
#include "ui/notice.h"
#include "ui/prompt.h"
#include "ui/screen.h"
#include "ui/search.h"
#include "ui/table.h"
#include "ui/table_draw.h"

#define LIST_MS 1000
#define FIRST_LIST_MS 300       /* the second list, which knows the CPU shares */
#define SAME_START_NS 500000000 /* a pid is not used again so soon */
#define USERS_MAX 64
#define USER_NAME_MAX 33

struct picker {
	struct columns_process *rows;
	size_t count;
	int64_t listed_ms, next_ms, now_ms;
	struct table table;
	struct columns_context context;
	struct prompt prompt;
	struct notice notice;
	struct search search;
	int page;
	bool done;
	pid_t chosen; /* 0: none */

	struct picker_user {
		uid_t uid;
		char name[USER_NAME_MAX];
	} users[USERS_MAX];
	size_t user_count;
};

static int64_t now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A user's name, asked for once. */
static const char *user_name(struct picker *p, uid_t uid)
{
	struct picker_user *user;
	const struct passwd *entry;

	for (size_t i = 0; i < p->user_count; i++)
		if (p->users[i].uid == uid)
			return p->users[i].name;
	if (p->user_count == USERS_MAX)
		return "?";
	user = &p->users[p->user_count++];
	user->uid = uid;
	entry = getpwuid(uid);
	if (entry)
		snprintf(user->name, sizeof(user->name), "%s", entry->pw_name);
	else
		snprintf(user->name, sizeof(user->name), "%ju", (uintmax_t)uid);
	return user->name;
}

/* The same process in the list before; a start by the clock on the wall is told to a fraction only. */
static const struct pytop_process *before(const struct picker *p, const struct pytop_process *now)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct pytop_process *then = &p->rows[i].process;

		if (then->pid == now->pid &&
		    then->start_time_ns < now->start_time_ns + SAME_START_NS &&
		    now->start_time_ns < then->start_time_ns + SAME_START_NS)
			return then;
	}
	return NULL;
}

static void fill_row(struct picker *p, struct columns_process *row, const struct pytop_process *now,
		     int64_t wall_ms)
{
	const struct pytop_process *then = before(p, now);
	int64_t elapsed_ms = p->now_ms - p->listed_ms;

	row->process = *now;
	row->user = user_name(p, now->uid);
	row->uptime_s = ((double)wall_ms - (double)now->start_time_ns / 1e6) / 1000;
	if (then && now->cpu_ns >= then->cpu_ns && elapsed_ms > 0)
		row->cpu_percent = (double)(now->cpu_ns - then->cpu_ns) / 1e4 / (double)elapsed_ms;
}

/* A new list; ST_NO_PYTHONS when it is empty. */
static enum status list(struct picker *p)
{
	struct pytop_process *found = NULL;
	struct columns_process *rows;
	size_t count = 0;
	enum status status = pytop_processes(0, &found, &count);

	if (status)
		return status;
	if (!count) {
		free(found);
		return ST_NO_PYTHONS;
	}
	rows = alloc_zero(count, sizeof(*rows));
	if (!rows) {
		free(found);
		return ST_NO_MEMORY;
	}
	for (size_t i = 0; i < count; i++)
		fill_row(p, &rows[i], &found[i], now_ms(CLOCK_REALTIME));
	free(found);
	free(p->rows);
	p->next_ms = p->now_ms + (p->rows ? LIST_MS : FIRST_LIST_MS);
	p->rows = rows;
	p->count = count;
	p->listed_ms = p->now_ms;
	return table_fill(&p->table, p->rows, p->count, p->context.mode);
}

static void refill(struct picker *p)
{
	enum status status = table_fill(&p->table, p->rows, p->count, p->context.mode);

	if (status)
		notice_status(&p->notice, status, NULL);
}

static void draw(struct picker *p)
{
	int height = screen_height(), top = height >= 8 ? 2 : height >= 4 ? 1 : 0;
	char title[64];

	screen_begin();
	snprintf(title, sizeof(title), "%zu running Python process%s", p->count,
		 p->count == 1 ? "" : "es");
	screen_text(0, 1, screen_width() - 2, THEME_STRONG, title);
	if (screen_width() >= 60)
		screen_text(0, 2 + (int)strlen(title), screen_width() - 3 - (int)strlen(title),
			    THEME_QUIET, "  which one is to be profiled?");
	p->page = table_draw(&p->table, &p->context, top, height - top - 1,
			     "no row matches the filter (Esc ends it)");
	if (p->prompt.purpose)
		prompt_draw(&p->prompt, height - 1);
	else if (p->notice.text[0] && height >= 4)
		notice_draw_pair(&p->notice, height - 1);
	else if (p->notice.text[0])
		notice_draw(&p->notice, height - 1);
	else
		footer_draw(PLACE_PICKER, height - 1);
	screen_end();
}

static void search_again(struct picker *p, int direction)
{
	if (!search_on(&p->search, &p->table, direction))
		search_say_missed(&p->search, &p->notice, p->now_ms);
}

static void asked(struct picker *p, int key)
{
	enum prompt_purpose purpose = p->prompt.purpose;
	enum prompt_result result = prompt_key(&p->prompt, key);

	if (result == PROMPT_UNCHANGED)
		return;
	if (purpose == PROMPT_FILTER) {
		snprintf(p->table.filter, sizeof(p->table.filter), "%s", p->prompt.text);
		refill(p);
	} else if (!search_typed(&p->search, &p->table, &p->prompt, result)) {
		search_say_missed(&p->search, &p->notice, p->now_ms);
	}
}

/* False: it is said why not. */
static bool may_read(struct picker *p, pid_t pid)
{
	struct pytop_options options = { .rate_hz = 1, .no_spool = true };
	struct status_args args = { .pid = pid };
	struct pytop *tried = NULL;
	enum status status = pytop_open(&tried, pid, &options, &args);

	pytop_close(tried);
	if (status != ST_OK)
		notice_status(&p->notice, status, &args);
	return status == ST_OK;
}

static void choose(struct picker *p)
{
	const struct columns_process *row = table_row(&p->table);

	if (!row || (!row->process.readable && !may_read(p, row->process.pid)))
		return;
	p->chosen = row->process.pid;
	p->done = true;
}

static void back(struct picker *p)
{
	if (!p->table.filter[0]) {
		p->done = true;
		return;
	}
	p->table.filter[0] = '\0';
	refill(p);
}

static bool move(struct picker *p, enum action action)
{
	ptrdiff_t page = p->page > 1 ? p->page - 1 : 1, half = (page + 1) / 2;
	ptrdiff_t by = action == ACTION_UP          ? -1
		       : action == ACTION_DOWN      ? 1
		       : action == ACTION_PAGE_UP   ? -page
		       : action == ACTION_PAGE_DOWN ? page
		       : action == ACTION_HALF_UP   ? -half
		       : action == ACTION_HALF_DOWN ? half
						    : 0;

	if (by)
		table_move(&p->table, by);
	else if (action == ACTION_HOME)
		table_home(&p->table);
	else if (action == ACTION_END)
		table_end(&p->table);
	else
		return false;
	return true;
}

static void act(struct picker *p, enum action action)
{
	notice_clear(&p->notice);
	if (move(p, action))
		return;
	switch (action) {
	case ACTION_ENTER:
		choose(p);
		break;
	case ACTION_BACK:
		back(p);
		break;
	case ACTION_QUIT:
		p->done = true;
		break;
	case ACTION_SEARCH:
		search_begin(&p->search, &p->table);
		prompt_begin(&p->prompt, PROMPT_SEARCH, "");
		break;
	case ACTION_FILTER:
		prompt_begin(&p->prompt, PROMPT_FILTER, p->table.filter);
		break;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		search_again(p, action == ACTION_NEXT ? 1 : -1);
		break;
	case ACTION_SORT_LEFT:
	case ACTION_SORT_RIGHT:
		p->table.sort = columns_step(p->table.set, p->table.sort,
					     action == ACTION_SORT_RIGHT ? 1 : -1);
		refill(p);
		break;
	case ACTION_REVERSE:
		p->table.reversed = !p->table.reversed;
		refill(p);
		break;
	case ACTION_REDRAW:
		screen_redraw();
		break;
	default:
		break;
	}
}

static enum status run(struct picker *p)
{
	enum status status = list(p);

	while (!status && !p->done) {
		int64_t wait = p->next_ms - p->now_ms;
		unsigned events;

		draw(p);
		events = screen_wait(-1, wait > 0 ? (int)wait : 0);
		p->now_ms = now_ms(CLOCK_MONOTONIC);
		if (events & SCREEN_SIGNAL)
			p->done = true;
		for (int key; !p->done && (key = screen_key()) >= 0;) {
			if (p->prompt.purpose)
				asked(p, key);
			else
				act(p, keymap_find(key, PLACE_PICKER));
		}
		notice_expire(&p->notice, p->now_ms);
		if (!p->done && p->now_ms >= p->next_ms)
			status = list(p);
	}
	return status;
}

enum status picker_run(pid_t *pid)
{
	struct picker *p = alloc_zero(1, sizeof(*p));
	enum status status;

	if (!p)
		return ST_NO_MEMORY;
	status = screen_open();
	if (!status) {
		p->context.ascii = screen_ascii();
		p->now_ms = now_ms(CLOCK_MONOTONIC);
		table_init(&p->table, &columns_processes, KIND_CPU);
		status = run(p);
		screen_close();
	}
	if (!status && !p->chosen)
		status = ST_CANCELLED;
	if (!status)
		*pid = p->chosen;
	table_free(&p->table);
	free(p->rows);
	free(p);
	return status;
}
