/*
 * batch: the table, printed.
 *
 * Rows go through the screen's own table (sort, filter, idle) and columns, so that both show the same. A refresh is asked
 * for when it is due, and printed when it has come.
 */
#include "ui/batch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "ui/batch_json.h"
#include "ui/columns.h"
#include "ui/format.h"
#include "ui/output.h"
#include "ui/table.h"

#define LIMIT_TEXT 20
#define LIMIT_JSON 100
#define WIDTH 120  /* where stdout is no terminal */
#define LATE_S 0.5 /* a picture that does not come in time is not waited for any longer */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Wait until a time, a signal, or the target's end. */
static void wait_until(struct pytop *p, double until, const volatile int *stop)
{
	const struct pytop_snapshot *s;
	struct pollfd poll_fd = { .fd = pytop_event_fd(p), .events = POLLIN };

	while (!*stop) {
		double left = until - now_s();
		if (left <= 0)
			return;
		if (poll(&poll_fd, 1, left > 1 ? 1000 : (int)(left * 1000) + 1) <= 0)
			continue;
		if (pytop_snapshot(p, &s) == ST_OK && s->header.target != PYTOP_LIVE)
			return;
	}
}

/* A picture newer than the one of that number, if it comes soon. */
static enum status next_snapshot(struct pytop *p, uint64_t number, const struct pytop_snapshot **s,
				 const volatile int *stop)
{
	double until = now_s() + LATE_S;
	struct pollfd poll_fd = { .fd = pytop_event_fd(p), .events = POLLIN };

	pytop_wake(p);
	for (;;) {
		enum status status = pytop_snapshot(p, s);
		if (status != ST_OK || (*s)->number > number || (*s)->header.target != PYTOP_LIVE)
			return status;
		if (now_s() >= until || *stop)
			return ST_OK;
		(void)poll(&poll_fd, 1, 20);
	}
}

static unsigned line_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return WIDTH;
}

static void print_head(const struct pytop_header *h, const struct batch_options *o)
{
	char name[600], up[16], rss[16], asked[24], real[24], gil[64] = "none";
	bool kept_log = h->target == PYTOP_REPLAYED;

	format_name(name, sizeof(name), h->name, o->ascii);
	text_seconds(up, sizeof(up), (double)h->uptime_s);
	text_bytes(rss, sizeof(rss), h->rss_bytes);
	format_rate(asked, sizeof(asked), h->rate_asked_hz);
	format_rate_number(real, sizeof(real), h->rate_real_hz);
	if (h->has_gil)
		snprintf(gil, sizeof(gil), "%.1f%% held, %.1f waiting", h->gil_percent,
			 h->gil_wait_percent / 100);
	printf("pytop  %s  pid %d  CPython %s", name, (int)h->pid, h->python);
	if (kept_log)
		printf("  kept log");
	else
		printf("  up %s", up);
	if (h->rss_bytes)
		printf("  %sB", rss);
	printf("  asked %s", asked);
	if (h->ticks)
		printf("  kept %s", real);
	if (h->ticks && !kept_log)
		printf("  %.0f us/tick  pytop %.1f%% CPU", h->tick_mean_us, h->self_cpu_percent);
	putchar('\n');
	if (!h->ticks) {
		puts("no samples yet");
		return;
	}
	printf("CPU %.1f%%  GIL %s  GC %.1f%%  missed %.2f%%  torn %.2f%%  %u threads:",
	       h->cpu_percent, gil, h->gc_percent, h->missed_percent, h->torn_percent,
	       h->thread_count);
	for (int i = 0; i < STATE_COUNT; i++)
		if (h->threads_by_state[i])
			printf(" %u %s", h->threads_by_state[i], state_name((enum thread_state)i));
	putchar('\n');
	if (h->log == PYTOP_LOG_STOPPED) {
		format_clock(up, sizeof(up), h->log_stopped_wall, h->log_stopped_wall);
		format_log_stop(gil, sizeof(gil), h->log_status, h->log_errnum);
		printf("the log stopped at %s: %s\n", up, gil);
	}
}

static enum status print_text(const struct pytop_snapshot *s, const struct table *table,
			      size_t rows, const struct batch_options *o)
{
	struct columns_context context = { .mode = o->mode, .ascii = o->ascii };
	struct columns_layout layout;
	char line[8192];

	columns_lay_out(&layout, table->set, line_width(), table->sort);
	print_head(&s->header, o);
	columns_header(line, sizeof(line), &layout, table->sort, table->reversed, true);
	puts(line);
	for (size_t i = 0; i < rows; i++) {
		columns_line(line, sizeof(line), &layout, table->rows[i], &context);
		puts(line);
	}
	putchar('\n');
	return output_flush();
}

static enum status print(const struct pytop_snapshot *s, struct table *table,
			 const struct batch_options *o)
{
	enum status status = table_fill(table, s->rows, s->row_count, o->mode);
	size_t limit = o->limit ? o->limit : o->json ? LIMIT_JSON : LIMIT_TEXT;
	size_t rows = table->count < limit ? table->count : limit;

	if (status != ST_OK)
		return status;
	if (!o->json)
		return print_text(s, table, rows, o);
	status = batch_json_print(s, o->mode, (const struct pytop_row *const *)table->rows, rows);
	return status == ST_OK ? output_flush() : status;
}

/* Is there another refresh after this many? */
static bool goes_on(const struct pytop_snapshot *s, const struct batch_options *o,
		    unsigned long done, double began, const volatile int *stop)
{
	if (*stop || s->header.target != PYTOP_LIVE)
		return false;
	if (o->iterations && done >= o->iterations)
		return false;
	return o->duration_s <= 0 || now_s() - began < o->duration_s;
}

enum status batch_run(struct pytop *p, const struct batch_options *o, const volatile int *stop)
{
	const struct pytop_snapshot *s;
	struct table table;
	double began = now_s();
	enum status status = pytop_snapshot(p, &s);

	table_init(&table, &columns_functions, o->mode);
	if (o->sort)
		table.sort = columns_find(table.set, o->sort);
	table.hide_idle = o->hide_idle;
	snprintf(table.filter, sizeof(table.filter), "%s", o->filter ? o->filter : "");
	for (unsigned long done = 0; status == ST_OK;) {
		double due = began + o->interval_s * (double)(done + 1);
		if (o->duration_s > 0 && (o->quiet || due > began + o->duration_s))
			due = began + o->duration_s;
		if (s->header.target == PYTOP_LIVE)
			wait_until(p, due, stop);
		status = next_snapshot(p, s->number, &s, stop);
		if (status == ST_OK && !o->quiet)
			status = print(s, &table, o);
		done++;
		if (o->printed)
			++*o->printed;
		if (status != ST_OK || !goes_on(s, o, done, began, stop))
			break;
	}
	table_free(&table);
	return status;
}
