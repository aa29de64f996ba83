/*
 * columns_processes: the columns of the list of running Python processes.
 *
 * Invariant: a number is compared as it is printed; a command line leaves escaped.
 *
 * Called through columns_processes by the picker.
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

static void print_pid(char *out, size_t size, const void *row,
		      const struct columns_context *context)
{
	const struct columns_process *p = row;

	(void)context;
	snprintf(out, size, "%" PRIdMAX, (intmax_t)p->process.pid);
}

static int compare_pid(const void *a, const void *b, enum kind mode)
{
	const struct columns_process *one = a, *other = b;

	(void)mode;
	return by_number(one->process.pid, other->process.pid);
}

static void print_cpu(char *out, size_t size, const void *row,
		      const struct columns_context *context)
{
	(void)context;
	format_percent(out, size, ((const struct columns_process *)row)->cpu_percent);
}

static int compare_cpu(const void *a, const void *b, enum kind mode)
{
	const struct columns_process *one = a, *other = b;

	(void)mode;
	return by_number(format_tenths(one->cpu_percent), format_tenths(other->cpu_percent));
}

static void print_threads(char *out, size_t size, const void *row,
			  const struct columns_context *context)
{
	const struct columns_process *p = row;

	(void)context;
	text_count(out, size, p->process.thread_count);
}

static int compare_threads(const void *a, const void *b, enum kind mode)
{
	const struct columns_process *one = a, *other = b;

	(void)mode;
	return by_number(one->process.thread_count, other->process.thread_count);
}

static void print_rss(char *out, size_t size, const void *row,
		      const struct columns_context *context)
{
	(void)context;
	text_bytes(out, size, ((const struct columns_process *)row)->process.rss_bytes);
}

static int compare_rss(const void *a, const void *b, enum kind mode)
{
	const struct columns_process *one = a, *other = b;

	(void)mode;
	return by_number((int64_t)one->process.rss_bytes, (int64_t)other->process.rss_bytes);
}

static void print_uptime(char *out, size_t size, const void *row,
			 const struct columns_context *context)
{
	const struct columns_process *p = row;

	(void)context;
	format_age(out, size, p->uptime_s > 0 ? (uint64_t)p->uptime_s : 0);
}

static int compare_uptime(const void *a, const void *b, enum kind mode)
{
	const struct columns_process *one = a, *other = b;

	(void)mode;
	return by_number((int64_t)one->uptime_s, (int64_t)other->uptime_s);
}

static void print_python(char *out, size_t size, const void *row,
			 const struct columns_context *context)
{
	const struct columns_process *p = row;

	if (p->process.readable && p->process.python[0])
		format_name(out, size, p->process.python, context->ascii);
	else
		snprintf(out, size, "%s", p->process.readable ? "?" : "no access");
}

static int compare_python(const void *a, const void *b, enum kind mode)
{
	const struct columns_process *one = a, *other = b;

	(void)mode;
	return strverscmp(one->process.python, other->process.python);
}

static void print_user(char *out, size_t size, const void *row,
		       const struct columns_context *context)
{
	format_name(out, size, ((const struct columns_process *)row)->user, context->ascii);
}

static int compare_user(const void *a, const void *b, enum kind mode)
{
	(void)mode;
	return strcmp(((const struct columns_process *)a)->user,
		      ((const struct columns_process *)b)->user);
}

/* Without the folder of the interpreter: what it runs tells more. */
static void print_command(char *out, size_t size, const void *row,
			  const struct columns_context *context)
{
	const char *command = ((const struct columns_process *)row)->process.command;
	const char *start = command, *end = command + strcspn(command, " ");

	for (const char *at = command; at + 1 < end; at++)
		if (*at == '/')
			start = at + 1;
	format_name(out, size, start, context->ascii);
}

static int compare_command(const void *a, const void *b, enum kind mode)
{
	const struct columns_process *one = a, *other = b;

	(void)mode;
	return strcmp(one->process.command, other->process.command);
}

/* Out of reach without more rights: quiet. */
static enum column_hue hue_of_command(const void *row)
{
	return ((const struct columns_process *)row)->process.readable ? HUE_NAME : HUE_QUIET;
}

static enum column_hue hue_of_python(const void *row)
{
	return ((const struct columns_process *)row)->process.readable ? HUE_PLAIN : HUE_QUIET;
}

static const struct column columns[] = {
	{ "pid", "PID", "its number", 7, 0, 18, false, false, HUE_PLAIN, NULL, print_pid,
	  compare_pid },
	{ "cpu", "%CPU", "since the list before", 6, 0, 26, false, false, HUE_CPU, NULL, print_cpu,
	  compare_cpu },
	{ "threads", "THR", "threads", 5, 0, 52, false, false, HUE_PLAIN, NULL, print_threads,
	  compare_threads },
	{ "rss", "RSS", "resident memory", 6, 0, 60, false, false, HUE_PLAIN, NULL, print_rss,
	  compare_rss },
	{ "up", "UP", "since it started", 6, 0, 68, false, false, HUE_PLAIN, NULL, print_uptime,
	  compare_uptime },
	{ "python", "PYTHON", "version", 9, 0, 40, true, false, HUE_PLAIN, hue_of_python,
	  print_python, compare_python },
	{ "user", "USER", "owner", 8, 0, 78, true, false, HUE_PLAIN, NULL, print_user,
	  compare_user },
	{ "command", "COMMAND", "command line", 6, 1000, 0, true, false, HUE_NAME, hue_of_command,
	  print_command, compare_command },
};

static uint64_t key(const void *row)
{
	return (uint64_t)((const struct columns_process *)row)->process.pid;
}

static bool match(const void *row, const char *text)
{
	const struct columns_process *p = row;
	char pid[24];

	snprintf(pid, sizeof(pid), "%" PRIdMAX, (intmax_t)p->process.pid);
	return columns_contains(p->process.command, text) || columns_contains(p->user, text) ||
	       columns_contains(pid, text);
}

const struct column_set columns_processes = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.stride = sizeof(struct columns_process),
	.key = key,
	.match = match,
};
