/*
 * gecko: rows, weights, CPU and markers of recordings whose sums are known. That the Firefox
 * Profiler takes the file is seen by the live tests, with its own command line client.
 */
#include "export/gecko.h"

#include <math.h>

#include "export/gecko_range.h"
#include "export/gecko_states.h"
#include "exported.h"

/* The document, or its whole, of a recording. */
static char *document_with(struct recording *r, const struct export_options *options,
			   struct export_result *result)
{
	char folder[64], *text;

	exported_folder(folder);
	text = exported_text(r, "out.json.gz", options, result);
	exported_remove(folder);
	return text;
}

static char *document(struct recording *r, struct export_result *result)
{
	return document_with(r, &exported_options, result);
}

/* What follows key in text. */
static const char *after(const char *text, const char *key)
{
	const char *found = strstr(text, key);

	ck_assert_msg(found != NULL, "%s is not in %.200s", key, text);
	return found + strlen(key);
}

struct column {
	size_t count, nulls;
	double sum, last;
};

/* The list of numbers and nulls that follows "key": in text. */
static struct column column(const char *text, const char *key)
{
	struct column c = { 0 };
	char quoted[64];

	snprintf(quoted, sizeof(quoted), "\"%s\":[", key);
	text = after(text, quoted);
	while (*text != ']') {
		char *end;

		c.count++;
		if (!strncmp(text, "null", 4)) {
			c.nulls++;
			text += 4;
		} else {
			c.last = strtod(text, &end);
			ck_assert(end != text);
			c.sum += c.last;
			text = end;
		}
		text += *text == ',';
	}
	return c;
}

static const char *thread_named(const char *text, const char *name)
{
	char key[128];

	snprintf(key, sizeof(key), "{\"name\":\"%s\",\"isMainThread\"", name);
	return after(text, key);
}

static const char *samples_of(const char *text, const char *name)
{
	return after(thread_named(text, name), "\"samples\":{");
}

static struct sample sample_of(thread_id thread, stack_id stack, enum thread_state state)
{
	bool gil = state == STATE_GIL;

	return (struct sample){ thread,        stack, (uint8_t)state, gil ? SAMPLE_GIL : 0,
				gil ? 750 : 0, -1 };
}

START_TEST(rows_and_cpu)
{
	struct recording r;
	struct export_result result;
	char *text;
	const char *samples;

	recording_open(&r, NULL);

	thread_id one = recording_thread(&r, 4242, "MainThread", true);
	thread_id two = recording_thread(&r, 4243, "Worker \"1\"", false);
	thread_id unseen = recording_thread(&r, 4244, "Unseen", false);
	stack_id top = recording_call(&r, 0, "main", "/srv/shop.py", 1, 2);
	stack_id work = recording_call(&r, top, "work", "/usr/lib/python3.13/queue.py", 10, 11);

	ck_assert_uint_ne(unseen, 0);
	r.tick.weight = 1000333; /* so that microseconds of CPU have a rest */
	for (int i = 0; i < 1000; i++) {
		struct sample s[2] = { sample_of(one, i % 2 ? top : work, STATE_GIL),
				       sample_of(two, work, STATE_LOCK) };

		recording_tick(&r, s, i < 100 ? 1 : 2);
	}
	text = document(&r, &result);
	ck_assert_uint_eq(result.samples, 1900);
	ck_assert_uint_eq(result.rows, 1900);
	samples = samples_of(text, "shop.py: MainThread");
	ck_assert_uint_eq(column(samples, "stack").count, 1000);
	ck_assert_uint_eq(column(samples, "stack").nulls, 0);
	ck_assert_uint_eq(column(samples, "timeDeltas").count, 1000);
	ck_assert_double_eq_tol(column(samples, "timeDeltas").sum, 999 * 1.000333, 1e-3);
	ck_assert_uint_eq(column(samples, "threadCPUDelta").count, 1000);
	ck_assert_double_eq(column(samples, "threadCPUDelta").sum,
			    floor(1000 * 1000.333 * 0.75 - 0.5));
	ck_assert_int_eq(strncmp(after(samples, "\"length\":"), "1000}", 5), 0);
	ck_assert_int_eq(strncmp(after(samples, "\"weight\":"), "null", 4), 0);
	samples = samples_of(text, "Worker \\\"1\\\"");
	ck_assert_uint_eq(column(samples, "stack").count, 900);
	ck_assert_double_eq(column(samples, "threadCPUDelta").sum, 0);
	ck_assert_ptr_null(strstr(text, "Unseen"));
	ck_assert_ptr_null(strstr(text, "\"threadCPUDelta\":[]"));
	free(text);
	recording_close(&r);
}
END_TEST

START_TEST(says_what_it_is)
{
	struct export_options options = exported_options;
	struct recording r;
	struct export_result result;
	char *text;

	recording_open(&r, NULL);

	thread_id main_thread = recording_thread(&r, 4242, "MainThread", true);
	thread_id worker = recording_thread(&r, 4250, "W", false);
	struct sample s[2] = {
		sample_of(worker, recording_call(&r, 0, "f", "/srv/shop.py", 1, 2), STATE_SLEEP),
		sample_of(main_thread, recording_call(&r, 0, "g", "/srv/shop.py", 3, 0), STATE_GIL),
	};

	recording_tick(&r, s, 2);
	names_thread_died(r.names, worker, r.tick.time);
	recording_tick(&r, s + 1, 1);
	text = document(&r, &result);
	ck_assert_ptr_nonnull(strstr(text, "\"preprocessedProfileVersion\":75,"));
	ck_assert_ptr_nonnull(strstr(text, "\"startTime\":1795000000000,"));
	ck_assert_ptr_nonnull(strstr(text, "\"product\":\"shop.py\",\"misc\":\"CPython 3.13.1\""));
	ck_assert_ptr_nonnull(strstr(text, "\"pid\":\"4242\",\"tid\":4242,"));
	ck_assert_ptr_nonnull(strstr(text, "\"processStartupTime\":-60000,"));
	ck_assert_ptr_nonnull(strstr(text, "\"threadCPUDelta\":\"\xc2\xb5s\""));
	ck_assert_ptr_nonnull(strstr(text, "\"/srv/shop.py\""));
	ck_assert_ptr_nonnull(strstr(text, "\"initialSelectedThreads\":[0]"));
	ck_assert_ptr_nonnull(
		strstr(thread_named(text, "shop.py: MainThread"), "\"unregisterTime\":null"));
	ck_assert_int_eq(strncmp(after(thread_named(text, "W"), "\"unregisterTime\":"), "1,", 2),
			 0);
	ck_assert_int_eq(strncmp(thread_named(text, "W"), ":false", 6), 0);
	ck_assert_ptr_null(strstr(text, "secret"));
	free(text);
	options.with_arguments = true;
	text = document_with(&r, &options, &result);
	ck_assert_ptr_nonnull(strstr(text, "\"arguments\":\"python3 shop.py --password secret\""));
	free(text);
	recording_close(&r);
}
END_TEST

/*
 * A thread of another interpreter, and a process whose main thread was not recorded: one stands
 * for it.
 */
START_TEST(other_interpreters)
{
	struct recording r;
	struct export_result result;
	struct name_thread thread = { .tid = 4250, .interpreter = 3, .main = false };
	thread_id one, two;
	char *text;

	recording_open(&r, NULL);
	thread.name = recording_string(&r, "sub");
	ck_assert_int_eq(names_thread(r.names, &thread, &one), ST_OK);
	thread.interpreter = 0;
	thread.name = recording_string(&r, "plain");
	ck_assert_int_eq(names_thread(r.names, &thread, &two), ST_OK);

	struct sample s[2] = { sample_of(one, 0, STATE_POLL), sample_of(two, 0, STATE_POLL) };

	recording_tick(&r, s, 2);
	text = document(&r, &result);
	ck_assert_int_eq(strncmp(thread_named(text, "sub"), ":false", 6), 0);
	ck_assert_ptr_nonnull(strstr(thread_named(text, "sub"), "\"tid\":\"4250/interp3\""));
	ck_assert_int_eq(strncmp(thread_named(text, "shop.py: plain"), ":true", 5), 0);
	free(text);
	recording_close(&r);
}
END_TEST

/* Three intervals, the last open at the cut. */
START_TEST(states_are_markers)
{
	struct recording r;
	struct export_result result;
	char *text;
	const char *markers;

	recording_open(&r, NULL);

	thread_id one = recording_thread(&r, 4242, "MainThread", true);
	stack_id top = recording_call(&r, 0, "main", "/srv/shop.py", 1, 2);

	for (int i = 0; i < 30; i++) {
		struct sample s = sample_of(one, top,
					    i < 10   ? STATE_POLL
					    : i < 20 ? STATE_GIL_WAIT
						     : STATE_RUNNING);

		recording_tick(&r, &s, 1);
	}
	text = document(&r, &result);
	markers = after(text, "\"markers\":{");
	ck_assert_uint_eq(column(markers, "name").count, 3);
	ck_assert_double_eq(column(markers, "startTime").sum, 0 + 10 + 20);
	ck_assert_double_eq(column(markers, "endTime").sum, 10 + 20 + 29);
	ck_assert_double_eq(column(markers, "phase").sum, 3);
	ck_assert_ptr_nonnull(strstr(markers, "\"data\":[{\"type\":\"Poll\",\"color\":\"grey\"},"
					      "{\"type\":\"GILWait\",\"color\":\"red\"},"
					      "{\"type\":\"NativeCode\",\"color\":\"blue\"}]"));
	ck_assert_ptr_nonnull(strstr(text, "(waiting for GIL)"));
	ck_assert_ptr_nonnull(strstr(text, "runs without the GIL"));
	free(text);
	recording_close(&r);
}
END_TEST

/* Nothing was seen for a second: no sample, no CPU and no marker in it. */
START_TEST(gaps)
{
	struct recording r;
	struct export_result result;
	char *text;
	const char *samples, *markers;

	recording_open(&r, NULL);

	thread_id one = recording_thread(&r, 4242, "MainThread", true);
	struct sample s =
		sample_of(one, recording_call(&r, 0, "main", "/srv/shop.py", 1, 2), STATE_POLL);

	for (int i = 0; i < 20; i++) {
		if (i == 10) {
			r.tick.time += 1000 * MS;
			r.tick.gap = 1000 * MS;
		}
		recording_tick(&r, &s, 1);
	}
	text = document(&r, &result);
	ck_assert_uint_eq(result.samples, 20);
	samples = samples_of(text, "shop.py: MainThread");
	ck_assert_uint_eq(column(samples, "stack").count, 21);
	ck_assert_uint_eq(column(samples, "stack").nulls, 1);
	ck_assert_double_eq_tol(column(samples, "timeDeltas").sum, 1019, 1e-9);
	markers = after(text, "\"markers\":{");
	ck_assert_double_eq_tol(column(markers, "endTime").sum - column(markers, "startTime").sum,
				10 + 9, 1e-9);
	free(text);
	recording_close(&r);
}
END_TEST

enum { IDLE_THREADS = 100, IDLE_TICKS = 21000 };

/*
 * More than two million thread-samples, nearly all of them idle: one thread runs a little each 70
 * ms.
 */
static void record_idle(struct recording *r)
{
	struct sample s[IDLE_THREADS];

	recording_open(r, NULL);
	for (int i = 0; i < IDLE_THREADS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "T%d", i);
		s[i] = sample_of(recording_thread(r, 4242 + i, name, !i),
				 recording_call(r, 0, name, "/srv/shop.py", i + 1, i + 1),
				 STATE_POLL);
	}
	for (int i = 0; i < IDLE_TICKS; i++) {
		s[1].state = i % 70 < 3 ? STATE_GIL : STATE_POLL;
		s[1].flags = i % 70 < 3 ? SAMPLE_GIL : 0;
		s[1].cpu_mille = i % 70 < 3 ? 1000 : 0;
		recording_tick(r, s, IDLE_THREADS);
		if (i % 1000 == 0)
			recording_drain(r);
	}
}

START_TEST(idle_runs_are_merged)
{
	struct recording r;
	struct export_result result;
	char *text;
	const char *samples;

	record_idle(&r);
	text = document(&r, &result);
	ck_assert(!result.shortened);
	ck_assert_uint_eq(result.samples, (uint64_t)IDLE_THREADS * IDLE_TICKS);
	ck_assert_uint_lt(result.rows, 300 * IDLE_THREADS);
	samples = samples_of(text, "T99");
	ck_assert_double_eq(column(samples, "weight").sum, IDLE_TICKS);
	ck_assert_uint_eq(column(samples, "weight").count, column(samples, "stack").count);
	ck_assert_double_eq_tol(column(samples, "timeDeltas").sum, IDLE_TICKS - 1, 1e-6);
	samples = samples_of(text, "T1");
	ck_assert_double_eq(column(samples, "weight").sum, IDLE_TICKS);
	ck_assert_double_eq(column(samples, "threadCPUDelta").sum, 900 * 1000.0);
	free(text);
	recording_close(&r);
}
END_TEST

/* What a limit on rows leaves of a log: the last part, and never more rows than the limit. */
START_TEST(range)
{
	const struct export_options *all = &exported_options;
	struct export_options options = exported_options;
	struct gecko_range g;
	struct recording r;
	const struct replay *replay;

	record_idle(&r);
	replay = recording_replay(&r);
	gecko_range_choose(replay, all, EXPORT_ROWS_MAX, &g);
	ck_assert(g.merge && !g.shortened);
	gecko_range_choose(replay, all, 3000000, &g);
	ck_assert(!g.merge && !g.shortened);
	gecko_range_choose(replay, all, 12000, &g);
	ck_assert(g.merge && g.shortened);
	ck_assert_int_gt(g.from, RECORDING_START + 8000 * MS);
	ck_assert_int_lt(g.from, RECORDING_START + 15000 * MS);
	gecko_range_choose(replay, all, 1, &g); /* a second at least */
	ck_assert(g.shortened);
	ck_assert_int_lt(g.from, RECORDING_START + IDLE_TICKS * MS);
	options.whole = true;
	gecko_range_choose(replay, &options, 12000, &g);
	ck_assert(g.merge && !g.shortened);
	ck_assert_int_eq(g.from, 0);
	options.whole = false;
	options.from = RECORDING_START + 19000 * MS;
	gecko_range_choose(replay, &options, 3000000, &g);
	ck_assert(!g.shortened);
	ck_assert_int_eq(g.from, options.from);
	recording_close(&r);
}
END_TEST

START_TEST(range_bounds_rows)
{
	const struct replay_second busy = { .ticks = 1000, .samples = 8000, .rows = 8000 };
	const struct replay_second idle = { .ticks = 1000, .samples = 8000, .rows = 0 };
	const struct replay_second half = { .ticks = 1000, .samples = 8000, .rows = 4000 };
	const struct replay_second odd = { .ticks = 0, .samples = 5, .rows = 900 };

	ck_assert_uint_eq(gecko_range_rows(&busy), 8000);
	ck_assert_uint_eq(gecko_range_rows(&idle), 8 * 11);
	ck_assert_uint_eq(gecko_range_rows(&half), 8000);
	ck_assert_uint_eq(gecko_range_rows(&odd), 5);
}
END_TEST

/* Each state has a leaf or is Python running, each marker a schema. */
START_TEST(looks)
{
	for (int i = 0; i < STATE_COUNT; i++) {
		struct gecko_leaf leaf = gecko_leaf_of((enum thread_state)i, false);
		struct sample s = { .state = (uint8_t)i };
		uint32_t marks = gecko_markers_of(&s, false);

		ck_assert_int_eq(leaf.name == NULL, i == STATE_GIL);
		ck_assert_int_eq(marks == 0, i == STATE_UNKNOWN);
		ck_assert_uint_lt(leaf.category, GECKO_CATEGORY_COUNT);
	}
	for (int i = 0; i < GECKO_MARK_COUNT; i++) {
		const struct gecko_marker_look *look = gecko_marker_look((enum gecko_marker)i);

		ck_assert_ptr_nonnull(look->name);
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(look->type, gecko_marker_look((enum gecko_marker)k)->type);
	}
	ck_assert_ptr_null(gecko_leaf_of(STATE_RUNNING, true).name);
	ck_assert_ptr_nonnull(gecko_leaf_of((enum thread_state)200, false).name);
}
END_TEST

UNIT_MAIN("gecko", rows_and_cpu, says_what_it_is, other_interpreters, states_are_markers, gaps,
	  idle_runs_are_merged, range, range_bounds_rows, looks)
