/*
 * summary: the lines over the table.
 *
 * Invariant: nothing in it moves while numbers change: bars and the half to the right of them
 * begin at places that depend on the screen's size alone, numbers have fixed widths, scales change
 * seldom and only with a picture.
 *
 * Called by loop, once a picture.
 */
#include "ui/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "ui/format.h"
#include "ui/screen.h"
#include "ui/segments.h"

#define LABEL_WIDTH 5
#define VALUE_WIDTH 5
#define SCALE_WIDTH 11
#define ELSE_WIDTH 10
#define SCALE_MAX 65536
#define SCALE_PATIENCE 5 /* pictures */
#define TIGHT 56         /* the half to the right says less in words */

int summary_height(int screen_height)
{
	return screen_height >= 16 ? 4 : screen_height >= 8 ? 2 : 1;
}

/* ---- who it is ------------------------------------------------------------------------------ */

static void add_fate(struct segments *s, const struct pytop_header *h)
{
	char end[512];

	if (h->target == PYTOP_ENDED) {
		format_fate(end, sizeof(end), h);
		segments_add(s, 0, THEME_ALERT, " %s ", end);
	} else if (h->target == PYTOP_REPLAYED) {
		segments_add(s, 0, THEME_GIL, "kept log");
	} else if (h->stopped) {
		segments_add(s, 0, THEME_ALERT, " stopped ");
	}
}

static void add_identity(struct segments *s, const struct pytop_header *h, bool ascii)
{
	char name[128], version[128], uptime[16], rss[16];

	format_name(name, sizeof(name), h->name, ascii);
	format_name(version, sizeof(version), h->python, ascii);
	format_age(uptime, sizeof(uptime), h->uptime_s);
	text_bytes(rss, sizeof(rss), h->rss_bytes);
	segments_add(s, 0, THEME_STRONG, "%s", name);
	segments_add(s, 2, THEME_PLAIN, "pid %" PRIdMAX, (intmax_t)h->pid);
	add_fate(s, h);
	segments_add(s, 4, THEME_PLAIN, "CPython %s%s", version,
		     h->free_threaded ? " free-threaded" : "");
	if (h->target != PYTOP_REPLAYED)
		segments_add(s, 7, THEME_QUIET, "up %s", uptime);
	if (h->rss_bytes)
		segments_add(s, 8, THEME_QUIET, "%4s", rss);
	if (h->execs)
		segments_add(s, 6, THEME_GIL, "exec %" PRIu32 "x", h->execs);
}

static void add_settings(struct segments *s, const struct ui *ui)
{
	char half_life[16], refresh[16], filter[64];
	const struct table *table =
		view_now(ui)->place == PLACE_THREADS ? &ui->threads : &ui->functions;

	format_setting_seconds(half_life, sizeof(half_life), ui->half_life_s);
	format_setting_seconds(refresh, sizeof(refresh), ui->refresh_s);
	if (ui->paused)
		segments_add(s, 1, THEME_ALERT, " PAUSED ");
	if (table->filter[0]) {
		format_name(filter, sizeof(filter), table->filter, ui->context.ascii);
		segments_add(s, 3, THEME_GIL, "filter %s", filter);
	}
	if (table->hide_idle)
		segments_add(s, 9, THEME_QUIET, "idle hidden");
	if (ui->by_line)
		segments_add(s, 5, THEME_PLAIN, "lines");
	segments_add(s, 3, THEME_STRONG, "mode %s", kind_name(ui->context.mode));
	segments_add(s, 10, THEME_QUIET, "half-life %s", half_life);
	segments_add(s, 11, THEME_QUIET, "every %s", refresh);
}

/* The first line: who it is to the left, how it is looked at to the right. */
static void draw_title(const struct ui *ui, const struct pytop_header *h)
{
	struct segments s = { .count = 0 };

	add_identity(&s, h, ui->context.ascii);
	s.right = true;
	add_settings(&s, ui);
	segments_fit(&s, screen_width() - 2);
	segments_draw(&s, 0, 1, screen_width() - 1);
}

/* ---- who burns, holds, waits ---------------------------------------------------------------- */

/* Cores: two, or as many as were ever used, up to all there are. It never shrinks. */
static void scale_cores(struct ui *ui, const struct pytop_header *h)
{
	double there = (double)sysconf(_SC_NPROCESSORS_ONLN), full = ui->cpu_scale_full;
	double most = h->target == PYTOP_LIVE && there >= 1 ? there : SCALE_MAX;

	if (full < 1)
		full = most < 2 ? most : 2;
	while (h->cpu_percent / 100 > full * 1.1 && full < most)
		full = full * 2 < most ? full * 2 : most;
	ui->cpu_scale_full = full;
}

static void scale_to(struct summary_scale *scale, double value)
{
	if (scale->full < 1)
		scale->full = 1;
	while (value > scale->full * 1.005 && scale->full < SCALE_MAX) {
		scale->full *= 2;
		scale->rest = 0;
	}
	if (scale->full < 2 || value > scale->full * 0.45)
		scale->rest = 0;
	else if (++scale->rest >= SCALE_PATIENCE) {
		scale->full /= 2;
		scale->rest = 0;
	}
}

void summary_take(struct ui *ui)
{
	const struct pytop_header *h = &ui->picture->header;

	scale_cores(ui, h);
	scale_to(&ui->wait_scale, h->gil_wait_percent / 100);
}

struct meter {
	const char *label;
	char value[24];
	double share;
	enum theme_role role;
	char scale[24]; /* what a full bar means */
};

static void draw_meter(const struct meter *m, int y, int width)
{
	char bar[1024], value[24];
	unsigned filled;
	int x = 1, room = width - LABEL_WIDTH - VALUE_WIDTH - 4;

	snprintf(value, sizeof(value), "%*s ", VALUE_WIDTH, m->value);
	screen_text(y, x, LABEL_WIDTH, THEME_QUIET, m->label);
	x += LABEL_WIDTH;
	x += screen_text(y, x, VALUE_WIDTH + 1, m->role == THEME_QUIET ? THEME_QUIET : THEME_STRONG,
			 value);
	if (room >= 10 + SCALE_WIDTH) {
		screen_text(y, x + room - SCALE_WIDTH + 3, SCALE_WIDTH, THEME_QUIET, m->scale);
		room -= SCALE_WIDTH;
	}
	if (room < 4)
		return;
	format_bar(bar, sizeof(bar), (unsigned)room, m->share, screen_ascii_bars(), &filled);
	screen_text(y, x, 1, THEME_QUIET, screen_ascii_bars() ? "[" : "\xe2\x96\x95");
	screen_text(y, x + 1, room, m->role, bar);
	screen_text(y, x + 1 + room, 1, THEME_QUIET, screen_ascii_bars() ? "]" : "\xe2\x96\x8f");
}

/* The three, in the order of the lines. */
static void take_meters(const struct ui *ui, const struct pytop_header *h, struct meter meters[3])
{
	double cores = ui->cpu_scale_full, threads = ui->wait_scale.full;
	double waiters = h->gil_wait_percent / 100;
	bool seen = h->ticks > 0;

	meters[0] = (struct meter){
		.label = "CPU",
		.share = h->cpu_percent / 100 / cores,
		.role = THEME_CPU,
	};
	if (seen)
		snprintf(meters[0].value, sizeof(meters[0].value), "%" PRId64 "%%",
			 (format_tenths(h->cpu_percent) + 5) / 10);
	else
		snprintf(meters[0].value, sizeof(meters[0].value), "-");
	snprintf(meters[0].scale, sizeof(meters[0].scale), "of %.0f core%s", cores,
		 cores > 1 ? "s" : "");
	meters[1] = (struct meter){
		.label = "GIL",
		.share = h->has_gil ? h->gil_percent / 100 : 0,
		.role = h->has_gil ? THEME_GIL : THEME_QUIET,
		.scale = "held",
	};
	meters[2] = (struct meter){
		.label = "wait",
		.share = h->has_gil ? waiters / threads : 0,
		.role = h->has_gil ? THEME_WAIT : THEME_QUIET,
	};
	snprintf(meters[2].scale, sizeof(meters[2].scale), "of %.0f", threads);
	if (!h->has_gil) {
		snprintf(meters[1].value, sizeof(meters[1].value), seen ? "none" : "-");
		snprintf(meters[2].value, sizeof(meters[2].value), "-");
		return;
	}
	snprintf(meters[1].value, sizeof(meters[1].value), "%" PRId64 "%%",
		 (format_tenths(h->gil_percent) + 5) / 10);
	format_percent(meters[2].value, sizeof(meters[2].value), waiters);
}

/* ---- the half to the right ------------------------------------------------------------------ */

static const struct slot {
	const char *label, *brief;
	unsigned states; /* bits */
	enum theme_role role;
	unsigned rank;
} slots[] = {
	{ "gil", "gil", 1u << STATE_GIL, THEME_GIL, 1 },
	{ "run", "run", 1u << STATE_RUNNING, THEME_CPU, 2 },
	{ "gil-wait", "wait", 1u << STATE_GIL_WAIT, THEME_WAIT, 3 },
	{ "lock", "lock", 1u << STATE_LOCK, THEME_PLAIN, 4 },
	{ "poll", "poll", 1u << STATE_POLL, THEME_PLAIN, 6 },
	{ "sleep", "sleep", 1u << STATE_SLEEP, THEME_PLAIN, 7 },
	{ "io", "io", 1u << STATE_IO | 1u << STATE_DISK, THEME_PLAIN, 5 },
};

/* Each state at its own place, whether there are any or not; what has none is summed up. */
static void draw_threads(const struct pytop_header *h, int y, int x, int width)
{
	bool tight = width < TIGHT;
	struct segments s = { .count = 0 };
	uint32_t seen = 0;

	segments_add(&s, 0, THEME_STRONG, "%" PRIu32 " thread%s", h->thread_count,
		     h->thread_count == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		uint32_t count = 0;

		for (int state = 0; state < STATE_COUNT; state++)
			if (slots[i].states & 1u << state)
				count += h->threads_by_state[state];
		segments_add(&s, slots[i].rank, count ? slots[i].role : THEME_QUIET,
			     "%" PRIu32 " %s", count, tight ? slots[i].brief : slots[i].label);
	}
	segments_fit(&s, width);
	for (unsigned i = 1; i < s.count; i++)
		seen += (uint32_t)strtoul(s.list[i].text, NULL, 10);
	if (seen == h->thread_count) {
		segments_draw(&s, y, x, x + width);
		return;
	}
	seen = 0;
	segments_fit(&s, width - ELSE_WIDTH);
	for (unsigned i = 1; i < s.count; i++)
		seen += (uint32_t)strtoul(s.list[i].text, NULL, 10);
	seen = h->thread_count - seen;
	if (seen == h->threads_by_state[STATE_STOPPED])
		segments_add(&s, 1, THEME_ALERT, "%" PRIu32 " stopped", seen);
	else
		segments_add(&s, 8, THEME_QUIET, "%" PRIu32 " else", seen);
	segments_fit(&s, width);
	segments_draw(&s, y, x, x + width);
}

static void add_pace(struct segments *s, const struct pytop_header *h, bool tight)
{
	char asked[16], kept[16], missed[16], torn[16], cost[16];
	bool behind = h->rate_asked_hz > 0 && h->rate_real_hz < h->rate_asked_hz * 0.95;
	enum theme_role role = behind ? THEME_WAIT : THEME_PLAIN;

	format_rate(asked, sizeof(asked), h->rate_asked_hz);
	format_rate_number(kept, sizeof(kept), h->rate_real_hz);
	format_share(missed, sizeof(missed), h->missed_percent);
	format_share(torn, sizeof(torn), h->torn_percent);
	format_us(cost, sizeof(cost), h->tick_mean_us);
	if (!h->ticks) {
		segments_add(s, 0, THEME_PLAIN, "asked %s", asked);
		return;
	}
	if (tight) {
		segments_add(s, 0, role, "%4s/%s", kept, asked);
	} else {
		segments_add(s, 3, THEME_PLAIN, "asked %s", asked);
		segments_add(s, 0, role, "kept %4s", kept);
	}
	segments_add(s, 1, h->missed_percent >= 1 ? THEME_WAIT : THEME_PLAIN, "missed %5s", missed);
	segments_add(s, 2, h->torn_percent >= 5 ? THEME_WAIT : THEME_PLAIN, "torn %5s", torn);
	if (h->target != PYTOP_REPLAYED)
		segments_add(s, 4, THEME_PLAIN, "%s/tick", cost);
	if (h->spinning)
		segments_add(s, 5, THEME_GIL, "spins");
	if (h->blocked_percent > 0) {
		format_share(cost, sizeof(cost), h->blocked_percent);
		segments_add(s, 4, THEME_GIL, "blocks it %s", cost);
	}
}

/* Since when no more is written, and why. */
static void add_log_stop(struct segments *s, unsigned rank, const struct pytop_header *h, bool why)
{
	char at[32], reason[64];

	format_clock(at, sizeof(at), h->log_stopped_wall, (int64_t)time(NULL));
	format_log_stop(reason, sizeof(reason), h->log_status, h->log_errnum);
	if (why)
		segments_add(s, rank, THEME_ALERT, " LOG STOPPED %s: %s ", at, reason);
	else
		segments_add(s, rank, THEME_ALERT, " LOG STOPPED %s ", at);
}

static void add_log(struct segments *s, const struct pytop_header *h, bool live)
{
	char bytes[16], since[32];

	if (h->log == PYTOP_LOG_NONE) {
		if (live)
			segments_add(s, 6, THEME_QUIET, "no log");
		return;
	}
	text_bytes(bytes, sizeof(bytes), h->log_bytes);
	format_clock(since, sizeof(since), h->log_from_wall, (int64_t)time(NULL));
	if (h->log == PYTOP_LOG_STOPPED)
		add_log_stop(s, 1, h, true);
	else
		segments_add(s, 3, THEME_PLAIN, "log %s since %s", bytes, since);
	if (h->log_lost_ticks)
		segments_add(s, 2, THEME_WAIT, "%" PRIu64 " ticks lost", h->log_lost_ticks);
}

static void add_rest(struct segments *s, const struct pytop_snapshot *picture)
{
	const struct pytop_header *h = &picture->header;
	char own[16], gc[16], native[16], child[16];

	format_share(own, sizeof(own), h->self_cpu_percent);
	format_share(gc, sizeof(gc), h->gc_percent);
	format_share(native, sizeof(native), h->native_percent);
	if (h->busy_child) {
		format_share(child, sizeof(child), h->busy_child_percent);
		segments_add(s, 0, THEME_ALERT, " child %" PRIdMAX " uses %s: press b ",
			     (intmax_t)h->busy_child, child);
	}
	add_log(s, h, h->target == PYTOP_LIVE);
	if (h->target != PYTOP_REPLAYED)
		segments_add(s, 2, h->self_cpu_percent >= 10 ? THEME_WAIT : THEME_PLAIN,
			     "pytop %5s", own);
	segments_add(s, 4, h->gc_percent >= 10 ? THEME_GIL : THEME_QUIET, "GC %5s", gc);
	segments_add(s, 5, THEME_QUIET, "native %4s", native);
	if (picture->interpreter_count > 1)
		segments_add(s, 7, THEME_QUIET, "%zu interpreters", picture->interpreter_count);
}

/* ---- the three sizes ------------------------------------------------------------------------ */

static void draw_four(const struct ui *ui, const struct pytop_header *h)
{
	int width = screen_width(), half = width >= 110 ? 46 : width >= 76 ? 26 : width;
	int x = half + 2, room = width - x - 1;
	struct segments pace = { .count = 0 }, rest = { .count = 0 };
	struct meter meters[3];

	if (width >= 150)
		half = width * 2 / 5, x = half + 2, room = width - x - 1;
	take_meters(ui, h, meters);
	for (int i = 0; i < 3; i++)
		draw_meter(&meters[i], i + 1, half);
	if (room < 20)
		return;
	draw_threads(h, 1, x, room);
	add_pace(&pace, h, room < TIGHT);
	segments_fit(&pace, room);
	segments_draw(&pace, 2, x, x + room);
	add_rest(&rest, ui->picture);
	segments_fit(&rest, room);
	segments_draw(&rest, 3, x, x + room);
}

/* All in one line: the three, then how honest they are. */
static void draw_one(const struct ui *ui, const struct pytop_header *h, int y, bool named)
{
	struct segments s = { .count = 0 };
	struct meter meters[3];
	char name[128];
	unsigned honest;

	take_meters(ui, h, meters);
	if (named) {
		format_name(name, sizeof(name), h->name, ui->context.ascii);
		add_fate(&s, h);
	}
	segments_add(&s, 1, THEME_CPU, "CPU %4s", meters[0].value);
	segments_add(&s, 2, meters[1].role, "GIL %4s", meters[1].value);
	segments_add(&s, 5, meters[2].role, "wait %3s", meters[2].value);
	if (named)
		segments_add(&s, 6, THEME_STRONG, "%s", name);
	if (h->busy_child)
		segments_add(&s, 0, THEME_ALERT, " b: child %" PRIdMAX " ",
			     (intmax_t)h->busy_child);
	if (h->log == PYTOP_LOG_STOPPED && screen_width() < 50)
		segments_add(&s, 2, THEME_ALERT, " LOG STOPPED ");
	else if (h->log == PYTOP_LOG_STOPPED)
		add_log_stop(&s, 4, h, screen_width() >= 70);
	honest = s.count;
	add_pace(&s, h, true);
	for (unsigned i = honest; i < s.count; i++)
		s.list[i].rank += 7;
	segments_fit(&s, screen_width() - 2);
	segments_draw(&s, y, 1, screen_width() - 1);
}

void summary_draw(const struct ui *ui, int height)
{
	const struct pytop_header *h = ui->picture ? &ui->picture->header : NULL;

	if (!h) {
		screen_text(0, 1, screen_width() - 2, THEME_QUIET, "pytop");
		return;
	}
	if (height >= 2)
		draw_title(ui, h);
	if (height >= 4)
		draw_four(ui, h);
	else
		draw_one(ui, h, height - 1, height < 2);
}

/* The parts on as few lines as they fit on. */
static void wrap(char *out, size_t size, const char *parts, size_t width)
{
	size_t used = 0, columns = 0;

	out[0] = '\0';
	for (const char *at = parts; *at && used < size;) {
		size_t length = strcspn(at, "\t");
		bool first = !columns, over = !first && columns + 2 + length > width;

		used += (size_t)snprintf(out + used, size - used, "%s%.*s",
					 first  ? ""
					 : over ? "\n"
						: "  ",
					 (int)length, at);
		columns = first || over ? length : columns + 2 + length;
		at += length + (at[length] == '\t');
	}
}

void summary_lines(char *out, size_t size, const struct pytop_header *h, size_t width)
{
	char name[512], cpu[16], gil[16], waiters[16], kept[16], missed[16], torn[16], seen[16];
	char held[64] = "", parts[1024];
	/* of all that was seen, where the header tells of the last second */
	double share = h->rate_asked_hz > 0 ? h->rate_mean_hz / h->rate_asked_hz : 1;
	double torn_share = h->samples ? (double)h->torn / (double)h->samples : 0;

	format_name(name, sizeof(name), h->name, true);
	format_share(cpu, sizeof(cpu), h->cpu_percent);
	format_share(gil, sizeof(gil), h->gil_percent);
	format_percent(waiters, sizeof(waiters), h->gil_wait_percent / 100);
	format_rate(kept, sizeof(kept), h->rate_mean_hz);
	format_share(missed, sizeof(missed), share < 1 ? 100 * (1 - share) : 0);
	format_share(torn, sizeof(torn), 100 * torn_share);
	text_seconds(seen, sizeof(seen), h->seen_s);
	if (h->has_gil)
		snprintf(held, sizeof(held), "\tGIL held %s, %s waiting", gil, waiters);
	snprintf(parts, sizeof(parts),
		 "%s\tpid %" PRIdMAX "\t%s seen at %s\tCPU %s%s\tmissed %s\ttorn %s", name,
		 (intmax_t)h->pid, seen, kept, cpu, held, missed, torn);
	wrap(out, size, parts, width);
}
