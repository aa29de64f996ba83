/*
 * export: the table of formats, names for files, and files that are written whole or not at all.
 */
#include "export/export.h"

#include <errno.h>

#include "exported.h"

static void record_some(struct recording *r, int ticks)
{
	recording_open(r, NULL);

	thread_id one = recording_thread(r, 4242, "MainThread", true);
	stack_id stack = recording_call(r, 0, "main", "/srv/shop.py", 1, 2);

	for (int i = 0; i < ticks; i++) {
		struct sample s = { one, stack, STATE_GIL, SAMPLE_GIL, 1000, -1 };

		recording_tick(r, &s, 1);
	}
}

START_TEST(formats)
{
	static const struct {
		const char *path, *name;
	} paths[] = {
		{ "a.json", "gecko" },
		{ "/x.y/a.json.gz", "gecko" },
		{ "A.HTML", "flamegraph" },
		{ "a.txt", "collapsed" },
		{ "a.folded", "collapsed" },
		{ "a.folded.gz", "collapsed" },
		{ "a.pdf", NULL },
		{ ".json", NULL },
		{ "dir.json/", NULL },
		{ "dir.html/a", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const struct export_format *f = export_format_by_path(paths[i].path);

		ck_assert_msg(!f == !paths[i].name, "%s", paths[i].path);
		if (f)
			ck_assert_str_eq(f->name, paths[i].name);
	}
	for (size_t i = 0; export_formats[i]; i++) {
		char path[64];

		ck_assert_ptr_eq(export_format_by_name(export_formats[i]->name), export_formats[i]);
		snprintf(path, sizeof(path), "x%s", export_formats[i]->suffix);
		ck_assert_ptr_eq(export_format_by_path(path), export_formats[i]);
	}
	ck_assert_ptr_null(export_format_by_name("pdf"));
}
END_TEST

START_TEST(own_names)
{
	const struct export_format *f = export_format_by_name("gecko");
	char folder[64], path[4096], again[4096], tight[8];
	bool elsewhere = true;

	ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
	exported_folder(folder);
	ck_assert_int_eq(
		export_path(path, sizeof(path), f, "py/top\n..", 48211, 1795000000, &elsewhere),
		ST_OK);
	ck_assert_str_eq(path, "py_top_..-48211-20261118-110640.json.gz");
	ck_assert(!elsewhere);
	exported_write_text(path, "");
	ck_assert_int_eq(
		export_path(again, sizeof(again), f, "py/top\n..", 48211, 1795000000, &elsewhere),
		ST_OK);
	ck_assert_str_eq(again, "py_top_..-48211-20261118-110640-2.json.gz");
	ck_assert_int_eq(export_path(tight, sizeof(tight), f, "x", 1, 0, &elsewhere), ST_TOO_BIG);
	ck_assert_int_eq(export_path(again, sizeof(again), f, "../..", 1, 0, &elsewhere), ST_OK);
	ck_assert_ptr_null(strchr(again, '/'));
	ck_assert(again[0] != '.');
	exported_remove(folder);
}
END_TEST

START_TEST(elsewhere)
{
	const struct export_format *f = export_format_by_name("collapsed");
	char folder[64], path[4096];
	bool away = false;

	exported_folder(folder);
	ck_assert_int_eq(setenv("HOME", folder, 1), 0);
	ck_assert_int_eq(chdir("/proc"), 0); /* cannot be written, whoever asks */
	ck_assert_int_eq(export_path(path, sizeof(path), f, "a", 1, 0, &away), ST_OK);
	ck_assert(away);
	ck_assert_int_eq(strncmp(path, folder, strlen(folder)), 0);
	ck_assert_int_eq(setenv("HOME", "/proc", 1), 0);
	ck_assert_int_eq(setenv("TMPDIR", "/proc/none", 1), 0);
	ck_assert_int_eq(export_path(path, sizeof(path), f, "a", 1, 0, &away), ST_NOWHERE_TO_WRITE);
	exported_remove(folder);
}
END_TEST

struct watch {
	double last, limit;
	unsigned calls;
};

static bool watch(void *context, double done)
{
	struct watch *w = context;

	ck_assert(done >= w->last && done <= 1);
	w->last = done;
	w->calls++;
	return done < w->limit;
}

/* Every format: cancelled at the start, in the middle and at the end. */
START_TEST(cancelled)
{
	static const double limits[] = { 0, 0.3, 0.7, 1 };
	struct recording r;
	char folder[64];

	exported_folder(folder);
	record_some(&r, 60000);
	recording_replay(&r);
	for (size_t i = 0; export_formats[i]; i++) {
		for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {
			struct watch w = { .limit = limits[k] };
			struct export_result result = { .bytes = 77 };
			size_t size;
			char *text;

			exported_write_text("old", "old");
			ck_assert_int_eq(export_write(export_formats[i], r.replay, "old",
						      &exported_options, &result, watch, &w),
					 ST_CANCELLED);
			ck_assert_uint_ge(w.calls, 1);
			ck_assert_uint_eq(result.bytes, 77);
			text = exported_read("old", &size);
			ck_assert_str_eq(text, "old");
			free(text);
			ck_assert_uint_eq(exported_files(folder), 1);
		}
	}
	exported_remove(folder);
	recording_close(&r);
}
END_TEST

START_TEST(nothing_recorded_in_range)
{
	struct export_options options = exported_options;
	struct recording r;
	char folder[64];

	exported_folder(folder);
	record_some(&r, 10);
	recording_replay(&r);
	options.from = INT64_MAX - 1;
	options.to = INT64_MAX;
	for (size_t i = 0; export_formats[i]; i++) {
		struct export_result result;

		ck_assert_int_eq(export_write(export_formats[i], r.replay, "new", &options, &result,
					      NULL, NULL),
				 ST_NO_SAMPLES);
		ck_assert_uint_eq(exported_files(folder), 0);
	}
	exported_remove(folder);
	recording_close(&r);
}
END_TEST

START_TEST(result_is_filled)
{
	struct recording r;
	char folder[64];

	exported_folder(folder);
	record_some(&r, 2500);
	recording_replay(&r);
	for (size_t i = 0; export_formats[i]; i++) {
		struct watch w = { .limit = 2 };
		struct export_result result;
		struct stat st;

		ck_assert_int_eq(export_write(export_formats[i], r.replay, "./out",
					      &exported_options, &result, watch, &w),
				 ST_OK);
		ck_assert_str_eq(result.path, "./out");
		ck_assert_int_eq(stat("out", &st), 0);
		ck_assert_uint_eq(result.bytes, (uint64_t)st.st_size);
		ck_assert_uint_eq(result.samples, 2500);
		ck_assert_int_eq(result.from, RECORDING_START);
		ck_assert_int_eq(result.to, RECORDING_START + 2499 * MS);
		ck_assert(!result.shortened);
		ck_assert_double_eq(w.last, 1);
	}
	exported_remove(folder);
	recording_close(&r);
}
END_TEST

/* A second export of a log that went on has the first one's lines, and more. */
START_TEST(later_is_a_superset)
{
	struct recording r;
	struct export_result first, second;
	char folder[64];

	exported_folder(folder);
	record_some(&r, 1500);
	free(exported_text(&r, "a.json", &exported_options, &first));
	for (int i = 0; i < 700; i++) {
		struct sample s = { 1, 1, STATE_GIL, SAMPLE_GIL, 1000, -1 };

		recording_tick(&r, &s, 1);
	}
	free(exported_text(&r, "b.json", &exported_options, &second));
	ck_assert_uint_eq(first.rows, 1500);
	ck_assert_uint_eq(second.rows, 2200);
	ck_assert_int_eq(first.from, second.from);
	ck_assert_int_lt(first.to, second.to);
	exported_remove(folder);
	recording_close(&r);
}
END_TEST

UNIT_MAIN("export", formats, own_names, elsewhere, cancelled, nothing_recorded_in_range,
	  result_is_filled, later_is_a_superset)
