/*
 * columns_threads: the columns of the table of threads: what each does, and where.
 *
 * Invariant: a number is compared as it is printed, so that two rows that look equal never swap.
 *
 * Called through columns_threads by whoever shows or sorts rows.
 */
#include "ui/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/format.h"

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_tenths(double a, double b)
{
	return by_number(format_tenths(a), format_tenths(b));
}

/* The percent of a kind; PERCENT(kind, name of the two functions). */
#define PERCENT(which, noun) \
	static void print_##noun(char *out, size_t size, const void *row, \
				 const struct columns_context *context) \
	{ \
		(void)context; \
		format_percent(out, size, ((const struct pytop_thread *)row)->percent[which]); \
	} \
	static int compare_##noun(const void *a, const void *b, enum kind mode) \
	{ \
		(void)mode; \
		return by_tenths(((const struct pytop_thread *)a)->percent[which], \
				 ((const struct pytop_thread *)b)->percent[which]); \
	}

PERCENT(KIND_CPU, cpu)
PERCENT(KIND_GIL, gil)
PERCENT(KIND_WAIT, wait)

static void print_tid(char *out, size_t size, const void *row,
		      const struct columns_context *context)
{
	(void)context;
	snprintf(out, size, "%" PRIdMAX, (intmax_t)((const struct pytop_thread *)row)->tid);
}

static int compare_tid(const void *a, const void *b, enum kind mode)
{
	(void)mode;
	return by_number(((const struct pytop_thread *)a)->tid,
			 ((const struct pytop_thread *)b)->tid);
}

static const char *state_of(const struct pytop_thread *thread)
{
	return thread->ended ? "ended" : state_name(thread->state);
}

static void print_state(char *out, size_t size, const void *row,
			const struct columns_context *context)
{
	(void)context;
	snprintf(out, size, "%s", state_of(row));
}

static int compare_state(const void *a, const void *b, enum kind mode)
{
	(void)mode;
	return strcmp(state_of(a), state_of(b));
}

static enum column_hue hue_of_state(const void *row)
{
	const struct pytop_thread *thread = row;

	if (thread->ended)
		return HUE_QUIET;
	switch (thread->state) {
	case STATE_GIL:
		return HUE_GIL;
	case STATE_RUNNING:
		return HUE_CPU;
	case STATE_GIL_WAIT:
		return HUE_WAIT;
	default:
		return HUE_QUIET;
	}
}

static void print_seconds(char *out, size_t size, const void *row,
			  const struct columns_context *context)
{
	text_seconds(out, size, ((const struct pytop_thread *)row)->seconds[context->mode]);
}

static int compare_seconds(const void *a, const void *b, enum kind mode)
{
	return by_tenths(((const struct pytop_thread *)a)->seconds[mode],
			 ((const struct pytop_thread *)b)->seconds[mode]);
}

static void print_unseen(char *out, size_t size, const void *row,
			 const struct columns_context *context)
{
	(void)context;
	text_seconds(out, size, ((const struct pytop_thread *)row)->unseen_cpu_s);
}

static int compare_unseen(const void *a, const void *b, enum kind mode)
{
	(void)mode;
	return by_tenths(((const struct pytop_thread *)a)->unseen_cpu_s,
			 ((const struct pytop_thread *)b)->unseen_cpu_s);
}

static void print_name(char *out, size_t size, const void *row,
		       const struct columns_context *context)
{
	format_name(out, size, ((const struct pytop_thread *)row)->name, context->ascii);
}

static int compare_name(const void *a, const void *b, enum kind mode)
{
	(void)mode;
	return strcmp(((const struct pytop_thread *)a)->name,
		      ((const struct pytop_thread *)b)->name);
}

static void print_function(char *out, size_t size, const void *row,
			   const struct columns_context *context)
{
	format_name(out, size, ((const struct pytop_thread *)row)->function, context->ascii);
}

static int compare_function(const void *a, const void *b, enum kind mode)
{
	(void)mode;
	return strcmp(((const struct pytop_thread *)a)->function,
		      ((const struct pytop_thread *)b)->function);
}

static enum column_hue hue_of_function(const void *row)
{
	return *((const struct pytop_thread *)row)->file ? HUE_NAME : HUE_QUIET;
}

static void print_file(char *out, size_t size, const void *row,
		       const struct columns_context *context)
{
	const struct pytop_thread *thread = row;

	format_path(out, size, thread->file, thread->line, context->ascii);
}

static int compare_file(const void *a, const void *b, enum kind mode)
{
	const struct pytop_thread *one = a, *other = b;
	int order = strcmp(one->file, other->file);

	(void)mode;
	return order ? order : by_number(one->line, other->line);
}

static const struct column columns[] = {
	{ "cpu", "%CPU", "its time on a CPU", 6, 0, 12, false, false, HUE_CPU, NULL, print_cpu,
	  compare_cpu },
	{ "gil", "%GIL", "its time holding the GIL", 6, 0, 28, false, false, HUE_GIL, NULL,
	  print_gil, compare_gil },
	{ "wait", "%WAIT", "its time waiting for the GIL", 6, 0, 38, false, false, HUE_WAIT, NULL,
	  print_wait, compare_wait },
	{ "time", "TIME", "the mode's time since start or reset", 6, 0, 108, false, false,
	  HUE_PLAIN, NULL, print_seconds, compare_seconds },
	{ "unseen", "UNSEEN", "CPU time the kernel counted that no tick saw", 6, 0, 147, false,
	  false, HUE_PLAIN, NULL, print_unseen, compare_unseen },
	{ "state", "STATE", "what it does now", 9, 0, 60, true, false, HUE_QUIET, hue_of_state,
	  print_state, compare_state },
	{ "tid", "TID", "its number, as /proc outside shows it", 8, 0, 96, false, false, HUE_QUIET,
	  NULL, print_tid, compare_tid },
	{ "name", "THREAD", "its name", 6, 32, 0, true, false, HUE_NAME, NULL, print_name,
	  compare_name },
	{ "function", "FUNCTION", "what it executes now", 14, 48, 50, true, false, HUE_NAME,
	  hue_of_function, print_function, compare_function },
	{ "file", "FILE:LINE", "and the line", 14, 1000, 76, true, true, HUE_PLACE, NULL,
	  print_file, compare_file },
};

static uint64_t key(const void *row)
{
	return (uint64_t)((const struct pytop_thread *)row)->tid;
}

static bool match(const void *row, const char *text)
{
	const struct pytop_thread *thread = row;
	char tid[24];

	snprintf(tid, sizeof(tid), "%" PRIdMAX, (intmax_t)thread->tid);
	return columns_contains(thread->name, text) || columns_contains(thread->function, text) ||
	       columns_contains(thread->file, text) || columns_contains(state_of(thread), text) ||
	       strcmp(tid, text) == 0;
}

static bool idle(const void *row)
{
	const struct pytop_thread *thread = row;

	return columns_is_idle(thread->percent);
}

static int tie(const void *a, const void *b, enum kind mode)
{
	const struct pytop_thread *one = a, *other = b;
	int order = (int)one->ended - (int)other->ended;

	return order ? order : by_tenths(other->percent[mode], one->percent[mode]);
}

const struct column_set columns_threads = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.stride = sizeof(struct pytop_thread),
	.key = key,
	.match = match,
	.idle = idle,
	.tie = tie,
};
