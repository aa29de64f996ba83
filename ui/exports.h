/*
 * exports: writing a profile while one looks on: the keys g f c and W, the progress, and what is
 * said after.
 */
#ifndef PYTOP_UI_EXPORTS_H
#define PYTOP_UI_EXPORTS_H

#include <stdbool.h>

#include "ui/view.h"

/* Begin; whole: the whole log, however long. What stands against it is said. */
void exports_begin(struct ui *ui, const struct export_format *format, bool whole);
/*
 * Look how far it is; when it has ended, say so, remember the file, and leave if that was asked.
 * True: something changed.
 */
bool exports_update(struct ui *ui);
void exports_cancel(struct ui *ui);
/* The progress, while one runs. */
void exports_draw(const struct ui *ui, int y);

#endif
