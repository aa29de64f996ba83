/*
 * format: numbers, bars, paths and names as they are shown.
 *
 * Invariant: no output depends on the locale (numbers are built from integers), none is longer
 * than its header says, and no byte of a target's name leaves unescaped.
 *
 * Called by columns, summary, exports and the views.
 */
#include "ui/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/text.h"
#include "pytop.h"

#define PATH_TEXT_MAX 4352 /* a path and a line number */

/* Rounded, not below 0, and never so big that a cell overflows. */
static int64_t rounded(double value)
{
	if (!(value > 0))
		return 0;
	return value < 1e15 ? (int64_t)(value + 0.5) : (int64_t)1e15;
}

int64_t format_tenths(double value)
{
	return rounded(value * 10);
}

/* value with that many decimals (0-2) */
static void decimals(char *out, size_t size, double value, int count, const char *unit)
{
	static const int64_t powers[] = { 1, 10, 100 };
	int64_t n = rounded(value * (double)powers[count]);

	if (count)
		snprintf(out, size, "%" PRId64 ".%0*" PRId64 "%s", n / powers[count], count,
			 n % powers[count], unit);
	else
		snprintf(out, size, "%" PRId64 "%s", n, unit);
}

void format_percent(char *out, size_t size, double percent)
{
	if (percent > 999999)
		percent = 999999;
	decimals(out, size, percent, format_tenths(percent) < 10000, "");
}

void format_share(char *out, size_t size, double percent)
{
	if (!(percent > 0))
		snprintf(out, size, "0%%");
	else
		decimals(out, size, percent, percent < 0.995 ? 2 : percent < 9.95 ? 1 : 0, "%");
}

/* hz in kHz from 10,000 on; without decimals that are 0 */
static void rate(char *out, size_t size, double hz, const char *unit, const char *kilo)
{
	bool big = hz >= 9999.5;
	double value = big ? hz / 1000 : hz;
	int64_t hundredths = rounded(value * 100);
	int count = hundredths % 100 == 0 || value >= 100 ? 0 : hundredths % 10 == 0 ? 1 : 2;

	decimals(out, size, value, count, big ? kilo : unit);
}

void format_rate(char *out, size_t size, double hz)
{
	if (!(hz > 0))
		snprintf(out, size, "max");
	else
		rate(out, size, hz, " Hz", " kHz");
}

void format_rate_number(char *out, size_t size, double hz)
{
	rate(out, size, hz > 0 ? hz : 0, "", "k");
}

void format_setting_seconds(char *out, size_t size, double seconds)
{
	int64_t tenths = format_tenths(seconds);

	if (tenths <= 0)
		snprintf(out, size, "off");
	else if (tenths % 600 == 0)
		decimals(out, size, seconds / 60, 0, "m");
	else
		decimals(out, size, seconds, tenths % 10 != 0, "s");
}

void format_age(char *out, size_t size, uint64_t seconds)
{
	if (seconds < 60)
		snprintf(out, size, "%" PRIu64 "s", seconds);
	else
		text_seconds(out, size, (double)seconds);
}

void format_us(char *out, size_t size, double microseconds)
{
	if (microseconds < 9.95)
		decimals(out, size, microseconds, 1, " us");
	else if (microseconds < 9999.5)
		decimals(out, size, microseconds, 0, " us");
	else
		decimals(out, size, microseconds / 1000, 0, " ms");
}

/* Append n times the text; false when it does not fit. */
static void repeat(char *out, size_t size, size_t *used, const char *text, unsigned n)
{
	size_t length = strlen(text);

	for (; n && *used + length < size; n--) {
		memcpy(out + *used, text, length);
		*used += length;
	}
	out[*used] = '\0';
}

void format_bar(char *out, size_t size, unsigned width, double share, bool ascii, unsigned *filled)
{
	static const char *const eighths[] = { "",
					       "\xe2\x96\x8f",
					       "\xe2\x96\x8e",
					       "\xe2\x96\x8d",
					       "\xe2\x96\x8c",
					       "\xe2\x96\x8b",
					       "\xe2\x96\x8a",
					       "\xe2\x96\x89" };
	unsigned steps = ascii ? 1 : 8;
	unsigned full, part;
	size_t used = 0;

	if (!(share > 0))
		share = 0;
	if (share > 1)
		share = 1;
	full = (unsigned)rounded(share * width * steps);
	/* What is there is seen, however little. */
	if (!full && share * width * 100 > 1)
		full = 1;
	part = full % steps;
	full /= steps;
	repeat(out, size, &used, ascii ? "#" : "\xe2\x96\x88", full);
	if (part)
		repeat(out, size, &used, eighths[part], 1);
	full += part != 0;
	repeat(out, size, &used, ascii ? "-" : " ", width - full);
	if (filled)
		*filled = full;
}

void format_clock(char *out, size_t size, int64_t wall_seconds, int64_t now)
{
	time_t at = (time_t)wall_seconds, today = (time_t)now;
	struct tm then, here;

	if (!localtime_r(&at, &then) || !localtime_r(&today, &here)) {
		snprintf(out, size, "?");
		return;
	}
	if (then.tm_year == here.tm_year && then.tm_yday == here.tm_yday)
		strftime(out, size, "%H:%M:%S", &then);
	else
		strftime(out, size, "%Y-%m-%d %H:%M:%S", &then);
}

void format_end(char *out, size_t size, bool known, int wait_status)
{
	if (known && WIFEXITED(wait_status))
		snprintf(out, size, "exited with status %d", WEXITSTATUS(wait_status));
	else if (known && WIFSIGNALED(wait_status))
		snprintf(out, size, "killed by signal %d (%s)", WTERMSIG(wait_status),
			 strsignal(WTERMSIG(wait_status)));
	else
		snprintf(out, size, "ended");
}

void format_fate(char *out, size_t size, const struct pytop_header *h)
{
	struct status_args args = { .pid = h->pid, .what = "its tracer" };
	char became[300], why[256];

	format_name(became, sizeof(became), h->became, false);
	if (h->has_exit_status || h->end == ST_OK || h->end == ST_ENDED) {
		format_end(out, size, h->has_exit_status, h->wait_status);
	} else if (h->end == ST_NOT_PYTHON) {
		snprintf(out, size, "is no longer Python: it runs %s", became);
	} else if (h->end == ST_OLD_VERSION || h->end == ST_UNSUPPORTED_VERSION) {
		snprintf(out, size, "now runs %s, which pytop does not support", became);
	} else {
		status_sentence(why, sizeof(why), h->end, &args);
		snprintf(out, size, "is no longer read: %s", why);
	}
}

void format_log_stop(char *out, size_t size, enum status status, int errnum)
{
	struct status_args args = { .what = "writing it", .errnum = errnum };

	if (status == ST_SPOOL_FULL)
		snprintf(out, size, "disk full");
	else
		status_sentence(out, size, status, &args);
}

void format_name(char *out, size_t size, const char *name, bool ascii)
{
	text_escape(out, size, name, strlen(name), ascii);
}

/* Where the part of a path begins that follows the last such folder; NULL: none. */
static const char *after(const char *path, const char *folder)
{
	const char *found = NULL;

	for (const char *at = path; (at = strstr(at, folder)) != NULL;) {
		at += strlen(folder);
		found = at;
	}
	return found;
}

/* "/usr/lib/python3.13/json/decoder.py": "json/decoder.py"; NULL: not of the standard library. */
static const char *after_library(const char *path)
{
	const char *at = after(path, "/lib/python3");

	if (!at)
		at = after(path, "/lib64/python3");
	if (!at)
		return NULL;
	at += strspn(at, ".0123456789t");
	return *at == '/' && at[1] ? at + 1 : NULL;
}

/* The last two parts. */
static const char *last_parts(const char *path)
{
	int slashes = 0;

	for (const char *at = path + strlen(path); at > path; at--)
		if (at[-1] == '/' && ++slashes == 2)
			return at;
	return *path == '/' && path[1] && slashes == 1 ? path + 1 : path;
}

static const char *telling_part(const char *path)
{
	const char *at = after(path, "/site-packages/");

	if (!at)
		at = after(path, "/dist-packages/");
	if (!at)
		at = after_library(path);
	return at && *at ? at : last_parts(path);
}

static void with_line(char *out, size_t size, const char *path, int32_t line, bool ascii)
{
	char number[16] = "";
	size_t room, used;

	if (line > 0)
		snprintf(number, sizeof(number), ":%" PRId32, line);
	room = size > sizeof(number) ? size - sizeof(number) : size;
	text_escape(out, room, path, strnlen(path, PATH_TEXT_MAX), ascii);
	used = strlen(out);
	snprintf(out + used, size - used, "%s", number);
}

void format_path(char *out, size_t size, const char *file, int32_t line, bool ascii)
{
	with_line(out, size, telling_part(file), *file ? line : 0, ascii);
}

void format_whole_path(char *out, size_t size, const char *file, int32_t line, bool ascii)
{
	with_line(out, size, file, *file ? line : 0, ascii);
}

void format_parts(char *out, size_t size, const char *text, size_t width, bool ascii)
{
	size_t used = 0, columns = 0;

	out[0] = '\0';
	for (bool first = true;; first = false) {
		size_t length = strcspn(text, "\t");
		char part[PATH_TEXT_MAX];

		snprintf(part, sizeof(part), "%s%.*s", first ? "" : "  ", (int)length, text);
		columns += text_width(part);
		if (columns > width && !first)
			return;
		text_fit(out + used, size - used, part, width, TEXT_CUT_MIDDLE, false, ascii);
		used += strlen(out + used);
		if (columns > width || !text[length])
			return;
		text += length + 1;
	}
}
