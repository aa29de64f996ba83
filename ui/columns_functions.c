/*
 * columns_functions: the columns of the table of functions, or of lines, and its order.
 *
 * Invariant: a number is compared as it is printed, so that two rows that look equal never swap.
 *
 * Called through columns_functions by whoever shows or sorts rows.
 */
#include "ui/columns.h"

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

/* The percent of a kind in self; SELF(kind, name of the two functions). */
#define SELF(which, noun) \
	static void print_##noun(char *out, size_t size, const void *row, \
				 const struct columns_context *context) \
	{ \
		(void)context; \
		format_percent(out, size, ((const struct pytop_row *)row)->self[which]); \
	} \
	static int compare_##noun(const void *a, const void *b, enum kind mode) \
	{ \
		(void)mode; \
		return by_tenths(((const struct pytop_row *)a)->self[which], \
				 ((const struct pytop_row *)b)->self[which]); \
	}

SELF(KIND_CPU, cpu)
SELF(KIND_GIL, gil)
SELF(KIND_WAIT, wait)
SELF(KIND_WALL, wall)

static void print_total(char *out, size_t size, const void *row,
			const struct columns_context *context)
{
	format_percent(out, size, ((const struct pytop_row *)row)->total[context->mode]);
}

static int compare_total(const void *a, const void *b, enum kind mode)
{
	return by_tenths(((const struct pytop_row *)a)->total[mode],
			 ((const struct pytop_row *)b)->total[mode]);
}

static void print_self_s(char *out, size_t size, const void *row,
			 const struct columns_context *context)
{
	text_seconds(out, size, ((const struct pytop_row *)row)->self_s[context->mode]);
}

static int compare_self_s(const void *a, const void *b, enum kind mode)
{
	return by_tenths(((const struct pytop_row *)a)->self_s[mode],
			 ((const struct pytop_row *)b)->self_s[mode]);
}

static void print_total_s(char *out, size_t size, const void *row,
			  const struct columns_context *context)
{
	text_seconds(out, size, ((const struct pytop_row *)row)->total_s[context->mode]);
}

static int compare_total_s(const void *a, const void *b, enum kind mode)
{
	return by_tenths(((const struct pytop_row *)a)->total_s[mode],
			 ((const struct pytop_row *)b)->total_s[mode]);
}

static void print_gc(char *out, size_t size, const void *row, const struct columns_context *context)
{
	(void)context;
	format_percent(out, size, ((const struct pytop_row *)row)->gc);
}

static int compare_gc(const void *a, const void *b, enum kind mode)
{
	(void)mode;
	return by_tenths(((const struct pytop_row *)a)->gc, ((const struct pytop_row *)b)->gc);
}

static void print_exception(char *out, size_t size, const void *row,
			    const struct columns_context *context)
{
	(void)context;
	format_percent(out, size, ((const struct pytop_row *)row)->exception);
}

static int compare_exception(const void *a, const void *b, enum kind mode)
{
	(void)mode;
	return by_tenths(((const struct pytop_row *)a)->exception,
			 ((const struct pytop_row *)b)->exception);
}

static void print_function(char *out, size_t size, const void *row,
			   const struct columns_context *context)
{
	format_name(out, size, ((const struct pytop_row *)row)->function, context->ascii);
}

static int compare_function(const void *a, const void *b, enum kind mode)
{
	(void)mode;
	return strcmp(((const struct pytop_row *)a)->function,
		      ((const struct pytop_row *)b)->function);
}

static void print_file(char *out, size_t size, const void *row,
		       const struct columns_context *context)
{
	const struct pytop_row *r = row;

	format_path(out, size, r->file, r->line, context->ascii);
}

static int compare_file(const void *a, const void *b, enum kind mode)
{
	const struct pytop_row *one = a, *other = b;
	int order = strcmp(one->file, other->file);

	(void)mode;
	return order ? order : by_number(one->line, other->line);
}

/* Rows that are not Python's are quiet: they are time, but nobody's code. */
static enum column_hue hue_of_function(const void *row)
{
	return *((const struct pytop_row *)row)->file ? HUE_NAME : HUE_QUIET;
}

static const struct column columns[] = {
	{ "cpu", "%CPU", "time on a CPU with this function at the leaf, % of one thread", 6, 0, 12,
	  false, false, HUE_CPU, NULL, print_cpu, compare_cpu },
	{ "gil", "%GIL", "time holding the GIL at the leaf", 6, 0, 28, false, false, HUE_GIL, NULL,
	  print_gil, compare_gil },
	{ "wait", "%WAIT", "time waiting for the GIL at the leaf", 6, 0, 38, false, false, HUE_WAIT,
	  NULL, print_wait, compare_wait },
	{ "wall", "%WALL", "time at the leaf, whatever the thread did", 6, 0, 86, false, false,
	  HUE_PLAIN, NULL, print_wall, compare_wall },
	{ "total", "TOTAL%", "the mode's time, anywhere on the stack", 7, 0, 70, false, false,
	  HUE_PLAIN, NULL, print_total, compare_total },
	{ "self-s", "SELF", "the mode's time at the leaf since start or reset", 6, 0, 96, false,
	  false, HUE_PLAIN, NULL, print_self_s, compare_self_s },
	{ "total-s", "TOTAL", "the mode's time on the stack since start or reset", 6, 0, 108, false,
	  false, HUE_PLAIN, NULL, print_total_s, compare_total_s },
	{ "gc", "%GC", "time collecting garbage at the leaf", 6, 0, 140, false, false, HUE_PLAIN,
	  NULL, print_gc, compare_gc },
	{ "exc", "%EXC", "time handling or raising an exception at the leaf", 6, 0, 147, false,
	  false, HUE_PLAIN, NULL, print_exception, compare_exception },
	{ "function", "FUNCTION", "qualified name where the version has one (3.11), else the name",
	  6, 64, 0, true, false, HUE_NAME, hue_of_function, print_function, compare_function },
	{ "file", "FILE:LINE", "of the definition; with l the line that executes", 14, 1000, 56,
	  true, true, HUE_PLACE, NULL, print_file, compare_file },
};

static uint64_t key(const void *row)
{
	return ((const struct pytop_row *)row)->key;
}

static bool match(const void *row, const char *text)
{
	const struct pytop_row *r = row;

	return columns_contains(r->function, text) || columns_contains(r->file, text);
}

static bool idle(const void *row)
{
	const struct pytop_row *r = row;

	return columns_is_idle(r->total);
}

static int tie(const void *a, const void *b, enum kind mode)
{
	const struct pytop_row *one = a, *other = b;
	int order = by_tenths(other->self[mode], one->self[mode]);

	if (!order)
		order = by_tenths(other->total[mode], one->total[mode]);
	if (!order)
		order = by_tenths(other->self[KIND_WALL], one->self[KIND_WALL]);
	if (!order)
		order = by_tenths(other->total[KIND_WALL], one->total[KIND_WALL]);
	return order;
}

const struct column_set columns_functions = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.stride = sizeof(struct pytop_row),
	.key = key,
	.match = match,
	.idle = idle,
	.tie = tie,
};
