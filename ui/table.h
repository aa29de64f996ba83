/*
 * table: which rows of a picture are shown, in what order, and where one stands among them. No
 * curses: batch sorts and filters with it too.
 *
 * The rows are borrowed from the picture they were filled from, and hold no longer than it. The
 * selection follows the row's key from picture to picture once the user has moved it; until then,
 * and after Home, the first row is selected.
 */
#ifndef PYTOP_UI_TABLE_H
#define PYTOP_UI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "ui/columns.h"

#define TABLE_TEXT_MAX 256

struct table {
	const struct column_set *set;
	const struct column *sort; /* NULL: as they come */
	bool reversed;
	bool hide_idle;
	char filter[TABLE_TEXT_MAX]; /* "": all */

	const void **rows; /* shown, in order */
	size_t count;
	size_t capacity;
	size_t all; /* rows of the picture, shown or not */

	size_t selected; /* < count, or 0 */
	size_t top;      /* the first on the screen */
	bool follows;
	uint64_t key; /* of the selected row, when follows */
};

/* The sort column is that of mode (none for sets without kinds). Freed by table_free(). */
void table_init(struct table *t, const struct column_set *set, enum kind mode);
void table_free(struct table *t);

/* Show a picture's rows: filter, sort, find the selected row again. ST_NO_MEMORY: it is empty. */
enum status table_fill(struct table *t, const void *rows, size_t count, enum kind mode) MUST_CHECK;
/* Forget the rows, keep settings and place: the picture is about to go. */
void table_empty(struct table *t);

/* NULL when the table is empty. */
const void *table_row(const struct table *t);
void table_move(struct table *t, ptrdiff_t by);
void table_home(struct table *t);
void table_end(struct table *t);
/* Scroll as little as shows the selected row among height lines and wastes none of them. */
void table_scroll(struct table *t, size_t height);

/* Where one stood, to come back to: of the row itself when one was chosen. */
struct table_place {
	size_t selected, top;
	bool follows;
	uint64_t key;
};
struct table_place table_place(const struct table *t);
void table_return(struct table *t, const struct table_place *place);

/*
 * Select the next row (step 1) or the one before (-1) that holds text, round the end; with here,
 * the selected row itself comes first. False: none.
 */
bool table_search(struct table *t, const char *text, int step, bool here);

#endif
