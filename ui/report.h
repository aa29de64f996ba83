/*
 * report: what pytop says on stderr and after the screen: errors with their cure, files written.
 */
#ifndef PYTOP_UI_REPORT_H
#define PYTOP_UI_REPORT_H

#include "pytop.h"

/* "pytop: sentence" and, when there is one, a line with the hint. */
void report_error(enum status status, const struct status_args *args);
/* "wrote FILE (412 kB, last 3 min, 180,211 samples): open it at profiler.firefox.com" */
void report_export(const struct pytop_export_state *state);
/* How the target ended, when it did. */
void report_end(const struct pytop_header *header);
/* After that, of a command that has not ended: what comes next is waited for, or is there. */
void report_next(const char *command, bool waits);
/* On a terminal: a line that stands while a command's interpreter is waited for. */
void report_waiting(const char *command, bool waits);

#endif
