/*
 * columns: what can be shown of a row, one table a kind of row: functions (or lines), threads,
 * frames, processes. A column is one entry: its name, title, width, the line it needs, how it
 * prints and how it sorts.
 *
 * Rows are passed as const void *: pytop_row, pytop_thread, pytop_frame or columns_process, as the
 * set says.
 */
#ifndef PYTOP_UI_COLUMNS_H
#define PYTOP_UI_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pytop.h"

#define COLUMNS_MAX 16
#define COLUMNS_CELL_MAX 1024 /* bytes of one printed cell, with its zero */

/* What a column is about: the theme gives it its colour. */
enum column_hue { HUE_PLAIN, HUE_CPU, HUE_GIL, HUE_WAIT, HUE_NAME, HUE_PLACE, HUE_QUIET };

struct columns_context {
	enum kind mode; /* what TOTAL%, SELF and TOTAL speak of */
	bool ascii;     /* print nothing beyond 7E */
};

struct column {
	const char *name; /* as --sort knows it */
	const char *title;
	const char *help; /* half a sentence */
	unsigned width;   /* columns; of a flexible one the least */
	unsigned most;    /* 0: width is fixed; else what a flexible one grows to */
	unsigned from;    /* shown on lines at least that wide; the sort column on all */
	bool left;        /* aligned to the left, ascending by nature: a text */
	bool cut_start;   /* what does not fit loses its beginning */
	enum column_hue hue;
	enum column_hue (*hue_of)(const void *row); /* NULL: hue */
	/* Safe to print, in at most width columns unless it is a text. */
	void (*print)(char *out, size_t size, const void *row,
		      const struct columns_context *context);
	/* < 0, 0, > 0, ascending; numbers as precise as shown, so what looks equal does not swap. */
	int (*compare)(const void *a, const void *b, enum kind mode);
};

struct column_set {
	const struct column *columns;
	size_t count;
	size_t stride;                    /* of an array of rows */
	uint64_t (*key)(const void *row); /* the same for the same row in every picture */
	bool (*match)(const void *row, const char *text); /* for filter and search: is in a name */
	bool (*idle)(const void *row); /* NULL: never. Did nothing but wait, and not for the GIL */
	/* Order of rows that the sort column calls equal, best first. NULL: none. */
	int (*tie)(const void *a, const void *b, enum kind mode);
};

extern const struct column_set columns_functions; /* struct pytop_row */
extern const struct column_set columns_threads;   /* struct pytop_thread */
extern const struct column_set columns_frames;    /* struct pytop_frame */
extern const struct column_set columns_processes; /* struct columns_process */

/* A running process and what it did since the list before. */
struct columns_process {
	struct pytop_process process;
	const char *user; /* name of its owner, or number; borrowed */
	double cpu_percent;
	double uptime_s;
};

/* By name or title, case aside; NULL: none. */
const struct column *columns_find(const struct column_set *set, const char *name);
/* The column of functions and threads that shows a kind's percent: what a mode sorts by. */
const struct column *columns_of_kind(const struct column_set *set, enum kind kind);
/* The next to the right (step 1) or left (-1), round the end. */
const struct column *columns_step(const struct column_set *set, const struct column *from,
				  int step);

/* Where each column that fits stands. */
struct columns_layout {
	size_t count;
	struct columns_place {
		const struct column *column;
		unsigned x, width;
	} places[COLUMNS_MAX];
};

/*
 * Choose for a line of width columns, one blank between two. What needs the widest line leaves
 * first, sort (may be NULL) last; what is left over goes to the flexible columns.
 */
void columns_lay_out(struct columns_layout *layout, const struct column_set *set, unsigned width,
		     const struct column *sort);

/* A title in exactly its place's width; the sort column's carries an arrow that moves nothing. */
void columns_title(char *out, size_t size, const struct columns_place *place,
		   const struct column *sort, bool reversed, bool ascii);
/* One cell in exactly its width. */
void columns_cell(char *out, size_t size, const struct columns_place *place, const void *row,
		  const struct columns_context *context);

/* Lines for output without a screen, no blanks at the end. Return their length, cut at size. */
size_t columns_header(char *out, size_t size, const struct columns_layout *layout,
		      const struct column *sort, bool reversed, bool ascii);
size_t columns_line(char *out, size_t size, const struct columns_layout *layout, const void *row,
		    const struct columns_context *context);

/* Numbers from the highest, texts from A, unless reversed; then the set's tie; then the key. */
int columns_compare(const struct column_set *set, const struct column *sort, bool reversed,
		    enum kind mode, const void *a, const void *b);

/* Of the time it was there, all but 2 % was spent on no CPU, without the GIL, and not waiting for it. */
bool columns_is_idle(const double percent[KIND_COUNT]);

/* text is part of name, case of ASCII letters aside; "" is part of everything. */
bool columns_contains(const char *name, const char *text);

#endif
