/*
 * table_draw: a table on the screen.
 */
#ifndef PYTOP_UI_TABLE_DRAW_H
#define PYTOP_UI_TABLE_DRAW_H

#include "ui/table.h"

/*
 * Titles in the first of height lines, rows in the others, from the left edge to the right;
 * scrolls so that the selected row is seen. Returns the number of lines for rows. nothing is said
 * when there are none.
 */
int table_draw(struct table *t, const struct columns_context *context, int y, int height,
	       const char *nothing);

#endif
