/*
 * format: numbers, bars, paths and names as the screen and the batch table show them. Nothing here
 * depends on the locale; what comes from a target leaves escaped. All terminate out (size > 0).
 */
#ifndef PYTOP_UI_FORMAT_H
#define PYTOP_UI_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Tenths, rounded: what the tables show, and what they sort by. Not a number and below 0: 0. */
int64_t format_tenths(double value);

/* "38.2", "0.0", "1234": one decimal below 1,000, at most 6 columns. */
void format_percent(char *out, size_t size, double percent);
/* "0.02%", "4.1%", "37%": two decimals below 1, one below 10; exactly 0 is "0%". */
void format_share(char *out, size_t size, double percent);
/* "1000 Hz", "10 kHz", "0.5 Hz"; 0 is "max". */
void format_rate(char *out, size_t size, double hz);
/* "999", "9.98k": a rate without its unit. */
void format_rate_number(char *out, size_t size, double hz);
/* "10s", "2.5s", "1m", "off" for 0: a setting, without decimals it does not have. */
void format_setting_seconds(char *out, size_t size, double seconds);
/* "48s", "3d04h": an age, without tenths. */
void format_age(char *out, size_t size, uint64_t seconds);
/* "28 us", "1.2 ms" */
void format_us(char *out, size_t size, double microseconds);

/*
 * A bar of exactly width columns, filled by share (0..1): eighth blocks, or '#' and '-' when
 * ascii. *filled (may be NULL) gets how many columns are not empty.
 */
void format_bar(char *out, size_t size, unsigned width, double share, bool ascii, unsigned *filled);

/* "14:02:10", local time; the date in front when it is not of the same day as now. */
void format_clock(char *out, size_t size, int64_t wall_seconds, int64_t now);

/* "exited with status 3", "killed by signal 9 (Killed)", "ended" when it is not known. */
void format_end(char *out, size_t size, bool known, int wait_status);
/* The same of a target, which may also have become another program: "is no longer Python: it runs sleep". */
struct pytop_header;
void format_fate(char *out, size_t size, const struct pytop_header *header);

/* "disk full": why a log stopped. */
void format_log_stop(char *out, size_t size, enum status status, int errnum);

/* text_escape() of a string that ends with a zero. */
void format_name(char *out, size_t size, const char *name, bool ascii);

/*
 * The telling end of a path, with ":line" when line > 0: from the package on for what is installed
 * (site-packages, lib/python3.x), else the last two parts: "json/decoder.py:343". "" for "".
 */
void format_path(char *out, size_t size, const char *file, int32_t line, bool ascii);
/*
 * As many parts of text, which tabs separate, as fit into width columns, two blanks between; the
 * first always, cut in its middle if it must be.
 */
void format_parts(char *out, size_t size, const char *text, size_t width, bool ascii);

/* The whole path, with ":line" when line > 0. */
void format_whole_path(char *out, size_t size, const char *file, int32_t line, bool ascii);

#endif
