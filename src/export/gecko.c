/*
 * gecko: a range of a replay as a document of the Firefox Profiler, in two steps.
 *
 * One pass over the replay gathers rows and markers by thread into a scratch file; then the
 * document is written from its beginning to its end: meta (which tells what the pass counted),
 * counters, thread after thread, and the tables they share. Memory does not depend on the length
 * of the range. Threads without a thread-sample in it do not appear.
 *
 * Called through the table of formats.
 */
#include "export/gecko.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/gecko_counters.h"
#include "export/gecko_meta.h"
#include "export/gecko_range.h"
#include "export/gecko_rows.h"
#include "export/sink.h"

#define INTERVAL_DEFAULT 1000000 /* ns, when the log does not tell */
#define PROGRESS_SAMPLES 16384   /* between two calls of progress */
#define SHARE_OF_PASS 0.6        /* of the progress */
#define VISIBLE_MAX 10

struct gecko {
	struct replay *replay;
	const struct replay_info *info;
	const struct export_options *options;
	struct gecko_range range;
	struct scratch *scratch;
	struct gecko_tables tables;
	struct gecko_rows rows;
	struct gecko_counters counters;
	nanoseconds first, last, gap; /* of the ticks; first 0: none yet */
	uint64_t missed, told;
	uint32_t *order; /* rows of threads in the order of the file */
	size_t order_count;
	export_progress progress;
	void *context;
};

static enum status tell(struct gecko *g, double done)
{
	return !g->progress || g->progress(g->context, done) ? ST_OK : ST_CANCELLED;
}

static bool writing(void *context, double done)
{
	return tell(context, SHARE_OF_PASS + (1 - SHARE_OF_PASS) * done) == ST_OK;
}

static nanoseconds asked_interval(const struct replay_info *info)
{
	if (info->about.rate_hz > 0)
		return (nanoseconds)(1e9 / info->about.rate_hz);
	if (info->ticks > 1)
		return (info->last - info->first) / (nanoseconds)(info->ticks - 1);
	return INTERVAL_DEFAULT;
}

/* The first tick of the range: time 0 of the file. */
static enum status begin(struct gecko *g, const struct tick *tick)
{
	g->first = tick->time;
	gecko_rows_open(&g->rows, &g->tables, g->scratch, g->range.merge, tick->time,
			asked_interval(g->info));
	g->rows.going = writing;
	g->rows.context = g;
	return gecko_counters_open(&g->counters, g->scratch, tick->time);
}

static enum status add_tick(struct gecko *g, const struct tick *tick, const struct sample *samples,
			    size_t count)
{
	enum status status = g->first ? ST_OK : begin(g, tick);

	if (status == ST_OK)
		status = gecko_rows_tick(&g->rows, tick, samples, count);
	if (status == ST_OK)
		status = gecko_counters_tick(&g->counters, tick);
	if (tick->time != g->first) { /* before the first is before the range */
		g->gap += tick->gap;
		g->missed += tick->missed;
	}
	g->last = tick->time;
	return status;
}

static double share_done(const struct gecko *g)
{
	nanoseconds to = g->range.to && g->range.to < g->info->last ? g->range.to : g->info->last;
	double done = to > g->first ? (double)(g->last - g->first) / (double)(to - g->first) : 1;

	return done < 1 ? done : 1;
}

static enum status gather(struct gecko *g)
{
	enum status status = replay_seek(g->replay, g->range.from);

	while (status == ST_OK) {
		const struct tick *tick;
		const struct sample *samples;
		size_t count;

		status = replay_next(g->replay, &tick, &samples, &count);
		if (status == ST_ENDED ||
		    (status == ST_OK && g->range.to && tick->time >= g->range.to)) {
			status = ST_OK;
			break;
		}
		if (status == ST_OK)
			status = add_tick(g, tick, samples, count);
		if (status == ST_OK && g->rows.samples - g->told >= PROGRESS_SAMPLES) {
			g->told = g->rows.samples;
			status = tell(g, share_done(g) * SHARE_OF_PASS);
		}
	}
	if (status == ST_OK && !g->rows.samples)
		return ST_NO_SAMPLES;
	if (status == ST_OK)
		status = gecko_rows_end(&g->rows, g->last);
	return status == ST_OK ? carry_threads(g->tables.carry) : status;
}

/* ---- order of threads */

static const struct name_thread *name_of(const struct gecko *g, uint32_t row)
{
	return names_thread_at(g->tables.names, row + 1);
}

/* How well a thread would do as the process' main one; exactly one is. */
static int mainness(const struct gecko *g, uint32_t row)
{
	const struct name_thread *name = name_of(g, row);

	return name->main * 4 + (name->interpreter == 0) * 2 + (name->tid == g->info->about.pid);
}

/* Threads with samples, the main one first, the others as they were met. */
static enum status put_in_order(struct gecko *g)
{
	uint32_t main_row = UINT32_MAX;

	g->order = alloc_zero(g->rows.count, sizeof(*g->order));
	if (!g->order)
		return ST_NO_MEMORY;
	for (uint32_t row = 0; row < g->rows.count; row++)
		if (g->rows.threads[row].samples &&
		    (main_row == UINT32_MAX || mainness(g, row) > mainness(g, main_row)))
			main_row = row;
	g->order[g->order_count++] = main_row;
	for (uint32_t row = 0; row < g->rows.count; row++)
		if (g->rows.threads[row].samples && row != main_row)
			g->order[g->order_count++] = row;
	return ST_OK;
}

static uint64_t cpu_of(const struct gecko *g, size_t index)
{
	return g->rows.threads[g->order[index]].cpu_told_us;
}

static bool listed(const uint32_t *list, size_t count, uint32_t index)
{
	while (count--)
		if (list[count] == index)
			return true;
	return false;
}

/* The busiest threads, the one to select first, and the main thread in any case. */
static size_t choose_visible(const struct gecko *g, uint32_t visible[VISIBLE_MAX])
{
	size_t count = 0;

	while (count < VISIBLE_MAX && count < g->order_count) {
		uint32_t best = UINT32_MAX;

		for (uint32_t i = 0; i < g->order_count; i++)
			if (!listed(visible, count, i) &&
			    (best == UINT32_MAX || cpu_of(g, i) > cpu_of(g, best)))
				best = i;
		visible[count++] = best;
	}
	if (!listed(visible, count, 0))
		visible[count - 1] = 0;
	return count;
}

/* ---- writing */

static double ms_since_zero(const struct gecko *g, nanoseconds time)
{
	return (double)((time - g->first) / 1000) / 1e3;
}

static const char *process_name(const struct gecko *g)
{
	const char *name = g->info->about.name;

	return name && *name ? name : "python";
}

static void write_thread_name(const struct gecko *g, struct json *j, const struct name_thread *name,
			      bool main)
{
	size_t size;
	const char *plain = names_text(g->tables.names, name->name, &size);
	char text[512];

	json_key(j, "name");
	if (main)
		snprintf(text, sizeof(text), "%s: %s", process_name(g),
			 size ? plain : "MainThread");
	else if (!size)
		snprintf(text, sizeof(text), "Thread %ld", (long)name->tid);
	if (main || !size)
		json_string(j, text);
	else
		json_string_n(j, plain, size);
}

static void write_tid(struct json *j, const struct name_thread *name)
{
	char text[64];

	json_key(j, "tid");
	if (!name->interpreter) {
		json_int(j, name->tid);
		return;
	}
	snprintf(text, sizeof(text), "%ld/interp%lld", (long)name->tid,
		 (long long)name->interpreter);
	json_string(j, text);
}

static void write_life(const struct gecko *g, struct json *j, const struct name_thread *name)
{
	nanoseconds started =
		g->info->about.process_started - gecko_meta_wall(&g->info->about, g->first);

	json_key(j, "processStartupTime");
	json_double(j, (double)(started / 1000) / 1e3, 3);
	json_key(j, "processShutdownTime");
	json_null(j);
	json_key(j, "registerTime");
	json_double(j, ms_since_zero(g, name->born ? name->born : g->first), 3);
	json_key(j, "unregisterTime");
	if (name->died && name->died <= g->last)
		json_double(j, ms_since_zero(g, name->died), 3);
	else
		json_null(j);
	json_key(j, "pausedRanges");
	json_array(j);
	json_array_end(j);
}

static enum status write_thread(struct gecko *g, struct json *j, size_t index, const char *pid)
{
	uint32_t row = g->order[index];
	const struct name_thread *name = name_of(g, row);
	enum status status;

	json_object(j);
	write_thread_name(g, j, name, index == 0);
	json_key(j, "isMainThread");
	json_bool(j, index == 0);
	json_key(j, "processType");
	json_string(j, "default");
	json_key(j, "processName");
	json_string(j, process_name(g));
	write_life(g, j, name);
	json_key(j, "showMarkersInTimeline");
	json_bool(j, true);
	json_key(j, "pid");
	json_string(j, pid);
	write_tid(j, name);
	status = gecko_rows_write(&g->rows, &g->rows.threads[row], j);
	json_object_end(j);
	return status;
}

static enum status write_threads(struct gecko *g, struct json *j, const char *pid)
{
	enum status status = ST_OK;
	uint64_t rows = 0;

	json_array(j);
	for (size_t i = 0; i < g->order_count && status == ST_OK; i++) {
		status = write_thread(g, j, i, pid);
		rows += g->rows.threads[g->order[i]].rows;
	}
	json_array_end(j);
	return status == ST_OK && rows != g->rows.rows ? ST_BAD_DATA : status;
}

static void write_meta(struct gecko *g, struct json *j)
{
	uint32_t visible[VISIBLE_MAX];
	struct gecko_meta meta = {
		.info = g->info,
		.zero = g->first,
		.end = g->last + g->rows.interval,
		.interval = g->rows.interval,
		.gap = g->gap,
		.ticks = g->rows.ticks,
		.samples = g->rows.samples,
		.missed = g->missed,
		.torn = g->rows.torn,
		.with_arguments = g->options->with_arguments,
		.merged = g->range.merge,
		.shortened = g->range.shortened,
		.visible = visible,
		.visible_count = choose_visible(g, visible),
	};

	json_key(j, "meta");
	gecko_meta_write(&meta, j);
}

static enum status write_document(struct gecko *g, struct export_sink *sink)
{
	struct json j;
	char pid[32];
	enum status status, closed;

	snprintf(pid, sizeof(pid), "%ld", (long)g->info->about.pid);
	json_open(&j, sink_json, sink);
	json_object(&j);
	write_meta(g, &j);
	json_key(&j, "libs");
	json_array(&j);
	json_array_end(&j);
	json_key(&j, "pages");
	json_array(&j);
	json_array_end(&j);
	json_key(&j, "counters");
	status = gecko_counters_write(&g->counters, &j, pid, 0);
	json_key(&j, "threads");
	if (status == ST_OK)
		status = write_threads(g, &j, pid);
	json_key(&j, "shared");
	if (status == ST_OK)
		status = gecko_tables_write(&g->tables, &j);
	json_object_end(&j);
	closed = json_close(&j);
	return status == ST_OK ? closed : status;
}

static void close_all(struct gecko *g)
{
	free(g->order);
	gecko_rows_close(&g->rows);
	gecko_tables_close(&g->tables);
	scratch_close(g->scratch);
}

static enum status gecko_write(struct export_sink *sink, struct replay *replay,
			       const struct export_options *options, struct export_result *result,
			       export_progress progress, void *context)
{
	struct gecko g = {
		.replay = replay, .options = options, .progress = progress, .context = context
	};
	enum status status;

	g.info = replay_info(replay);
	gecko_range_choose(replay, options, EXPORT_ROWS_MAX, &g.range);
	status = scratch_open(&g.scratch, 0);
	if (status == ST_OK)
		status = gecko_tables_open(&g.tables, replay_names(replay),
					   g.info->about.free_threaded);
	if (status == ST_OK)
		status = gather(&g);
	if (status == ST_OK)
		status = put_in_order(&g);
	if (status == ST_OK)
		status = write_document(&g, sink);
	if (status == ST_OK) {
		result->samples = g.rows.samples;
		result->rows = g.rows.rows;
		result->from = g.first;
		result->to = g.last;
		result->shortened = g.range.shortened;
	}
	close_all(&g);
	return status;
}

const struct export_format gecko_format = {
	.name = "gecko",
	.suffix = ".json.gz",
	.suffixes = ".json.gz .json",
	.opens_in = "open it at profiler.firefox.com",
	.write = gecko_write,
};
