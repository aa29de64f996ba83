/*
 * summary: the lines over the table: who it is, who burns, who holds, who waits, and how honest
 * all that is.
 */
#ifndef PYTOP_UI_SUMMARY_H
#define PYTOP_UI_SUMMARY_H

#include "ui/view.h"

/* Lines it takes on a screen that high: 4, 2 or 1. */
int summary_height(int screen_height);
/* There is a new picture: ui->picture, not NULL. */
void summary_take(struct ui *ui);
/* From line 0. Before the first picture it says only that there is none. */
void summary_draw(const struct ui *ui, int height);
/* For the scrollback: on one line, or on as many as it takes; no newline at the end. */
void summary_lines(char *out, size_t size, const struct pytop_header *header, size_t width);

#endif
