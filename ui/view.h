/*
 * view: what the user looks at: a view is a const struct of functions, and struct ui is all that
 * views and commands share. The views form a stack: help lies over what was looked at before.
 */
#ifndef PYTOP_UI_VIEW_H
#define PYTOP_UI_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pytop.h"
#include "ui/columns.h"
#include "ui/keymap.h"
#include "ui/loop.h"
#include "ui/notice.h"
#include "ui/prompt.h"
#include "ui/search.h"
#include "ui/table.h"

#define VIEW_STACK_MAX 4

struct ui;

/* What a full bar means: doubled at once when it must be, halved only after a while. */
struct summary_scale {
	double full;   /* threads; 0: not known yet */
	unsigned rest; /* pictures in a row for which half would do */
};

struct view {
	enum place place;
	/* The table it shows; NULL: none. */
	struct table *(*table)(struct ui *ui);
	/* Show the rows of ui->picture, which is not NULL. */
	enum status (*fill)(struct ui *ui);
	void (*draw)(struct ui *ui, int y, int height);
	/* All of the selected row, in parts as format_parts() has them; NULL: nothing to say. */
	void (*detail)(struct ui *ui, char *out, size_t size);
	/* What only this view does; false: not its business. NULL: nothing. */
	bool (*act)(struct ui *ui, enum action action);
};

extern const struct view view_functions, view_threads, view_stack, view_help, view_sort;

struct ui {
	struct pytop *pytop;
	const struct ui_options *options;
	struct loop_result *result;
	bool done;
	int64_t now_ms; /* monotonic, read by the loop alone */

	const struct pytop_snapshot *picture; /* NULL: none yet */
	bool paused;
	bool wants_picture; /* even when paused: what is shown was changed */
	bool by_line;
	double half_life_s, refresh_s;
	struct columns_context context;

	const struct view *views[VIEW_STACK_MAX];
	size_t view_depth; /* >= 1 */
	int page;          /* rows the table had when it was last drawn */
	struct table functions, threads, frames, choices;
	size_t help_top;
	pid_t stack_tid;       /* whose stack is shown */
	double cpu_scale_full; /* cores; 0: not known yet */
	struct summary_scale wait_scale;

	struct prompt prompt;
	struct search search;
	struct notice notice;
	bool log_stop_told;
	const struct export_format *last_format; /* NULL: nothing was exported yet */
	bool exporting;
	double export_done;
	bool quit_asked; /* leave when the export that runs has ended */
};

const struct view *view_now(const struct ui *ui);
void view_push(struct ui *ui, const struct view *view);
void view_pop(struct ui *ui);
/* Look at this one, whatever lay above. */
void view_root(struct ui *ui, const struct view *view);
/* Fill the table of the view that is looked at; the others are emptied. */
void view_fill(struct ui *ui);
void view_draw_table(struct ui *ui, struct table *table, int y, int height);

#endif
