/* The front door over a real interpreter, from spawn to close, with a close at every moment in between. */
#include "pythons.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include "exported.h"
#include "pytop.h"

static const char service[] =
	"import threading, time\n"
	"def burn(n):\n"
	"    x = 0\n"
	"    for i in range(n):\n"
	"        x += i\n"
	"    return x\n"
	"def spinner():\n"
	"    while True:\n"
	"        burn(2000)\n"
	"def sleeper():\n"
	"    time.sleep(1000)\n"
	"threading.Thread(target=sleeper, name='sleeper-1', daemon=True).start()\n"
	"spinner()\n";

static char folder[64];
static pid_t child;
static struct pytop *p;
static const struct pytop_snapshot *snapshot;

static const struct pytop_options usual = { .rate_hz = 1000,
					    .jitter_percent = 30,
					    .half_life_s = 10,
					    .owner_uid = (uid_t)-1,
					    .owner_gid = (gid_t)-1,
					    .refresh_s = 0.05,
					    .start_wait_s = 60,
					    .spawned = true };

static void spawn(const char *script)
{
	char python[] = "python3", option[] = "-c";
	char *const argv[] = { python, option, (char *)(uintptr_t)script, NULL };
	struct status_args args;

	ck_assert_int_eq(pytop_spawn(argv, -1, &child, &args), ST_OK);
}

static void end_child(void)
{
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void open_with(const struct pytop_options *options)
{
	struct status_args args = { 0 };
	enum status status = pytop_open(&p, child, options, &args);

	ck_assert_msg(status == ST_OK, "%s %s", status_name(status), args.what);
}

static void wait_event(void)
{
	struct pollfd fd = { pytop_event_fd(p), POLLIN, 0 };

	poll(&fd, 1, 50);
	ck_assert_int_eq(pytop_snapshot(p, &snapshot), ST_OK);
}

static const struct pytop_row *row_of(const char *function)
{
	for (size_t i = 0; i < snapshot->row_count; i++)
		if (strcmp(snapshot->rows[i].function, function) == 0)
			return &snapshot->rows[i];
	return NULL;
}

static const struct pytop_thread *thread_of(const char *name)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (strcmp(snapshot->threads[i].name, name) == 0)
			return &snapshot->threads[i];
	return NULL;
}

/* The program is at work: wait until it was seen so, for at least some samples. */
static void wait_for_work(uint64_t samples)
{
	const struct pytop_row *burn;

	do
		wait_event();
	while (!(burn = row_of("burn")) || burn->samples < samples || !thread_of("sleeper-1"));
}

static struct pytop_export_state export_to(const char *format, const char *path)
{
	struct pytop_export_state state;
	struct export_options options = exported_options;

	ck_assert_int_eq(pytop_export(p, export_format_by_name(format), path, &options), ST_OK);
	pytop_export_wait(p);
	pytop_export_state(p, &state);
	ck_assert(state.finished);
	return state;
}

static void export_all(void)
{
	static const struct {
		const char *format, *path, *has;
	} all[] = { { "gecko", "out.json.gz", "sleeper-1" },
		    { "flamegraph", "out.html", "burn" },
		    { "collapsed", "out.txt", "burn" } };

	for (size_t i = 0; i < 3; i++) {
		struct pytop_export_state state = export_to(all[i].format, all[i].path);
		size_t size;

		ck_assert_int_eq(state.status, ST_OK);
		ck_assert_uint_gt(state.result.samples, 0);
		char *text = exported_read(all[i].path, &size);
		ck_assert_ptr_nonnull(strstr(text, all[i].has));
		free(text);
		unlink(all[i].path);
	}
}

START_TEST(whole_life)
{
	struct pytop_header header;

	exported_folder(folder);
	spawn(service);
	open_with(&usual);
	pytop_header(p, &header);
	ck_assert_int_eq(header.pid, child);
	ck_assert_str_eq(header.name, "-c");
	ck_assert_int_eq(pytop_snapshot(p, &snapshot), ST_OK);
	ck_assert_uint_eq(snapshot->number, 0);
	ck_assert_int_eq(snapshot->header.pid, child);
	ck_assert_uint_eq(snapshot->row_count, 0);

	ck_assert_int_eq(pytop_start(p), ST_OK);
	wait_for_work(200);
	const struct pytop_row *burn = row_of("burn"), *spinner = row_of("spinner");
	ck_assert_ptr_nonnull(spinner);
	ck_assert_str_eq(burn->file, "<string>");
	ck_assert_int_eq(burn->line, 2);
	ck_assert(spinner->total[KIND_WALL] >= spinner->self[KIND_WALL]);
	ck_assert(spinner->total[KIND_GIL] > 50);
	ck_assert(burn->total[KIND_WALL] <= 100.001);
	const struct pytop_header *h = &snapshot->header;
	ck_assert_int_eq(h->target, PYTOP_LIVE);
	ck_assert_uint_eq(h->thread_count, 2);
	ck_assert(h->gil_percent > 50 && h->gil_percent < 100.001);
	ck_assert(h->cpu_percent > 0);
	ck_assert(h->log == PYTOP_LOG_ON);
	ck_assert(thread_of("MainThread")->main);
	ck_assert_int_eq(thread_of("sleeper-1")->holds_gil, false);
	export_all();
	pytop_stop(p);
	ck_assert_int_eq(pytop_snapshot(p, &snapshot), ST_OK);
	ck_assert_ptr_nonnull(row_of("burn"));
	export_all();
	pytop_close(p);
	end_child();
	exported_remove(folder);
}
END_TEST

START_TEST(settings)
{
	exported_folder(folder);
	spawn(service);
	open_with(&usual);
	pytop_set_rows_by_line(p, true);
	ck_assert_int_eq(pytop_start(p), ST_OK);
	wait_for_work(50);
	ck_assert_int_ge(row_of("burn")->line, 3);
	ck_assert_int_le(row_of("burn")->line, 6);
	pytop_set_rows_by_line(p, false);
	do
		wait_event();
	while (row_of("burn")->line != 2);

	pytop_watch_thread(p, thread_of("sleeper-1")->tid);
	do
		wait_event();
	while (!snapshot->stack_tid);
	ck_assert_int_eq(snapshot->stack_tid, thread_of("sleeper-1")->tid);
	ck_assert_uint_ge(snapshot->stack_depth, 2);
	ck_assert_str_eq(snapshot->stack[0].function, "sleeper");
	pytop_watch_thread(p, 0);
	pytop_set_half_life(p, 1);
	pytop_set_refresh(p, 0.02);
	uint64_t samples = snapshot->header.samples;
	pytop_reset(p);
	do
		wait_event();
	while (snapshot->header.samples >= samples || snapshot->stack_tid);
	ck_assert(snapshot->header.seen_s < snapshot->header.time_s);
	pytop_close(p);
	end_child();
	exported_remove(folder);
}
END_TEST

/* The target ends: the last picture stays, can be seen otherwise, and exported. */
START_TEST(the_end)
{
	exported_folder(folder);
	spawn(service);
	open_with(&usual);
	ck_assert_int_eq(pytop_start(p), ST_OK);
	wait_for_work(50);
	kill(child, SIGKILL);
	do
		wait_event();
	while (snapshot->header.target == PYTOP_LIVE || !snapshot->header.has_exit_status);
	ck_assert_int_eq(snapshot->header.target, PYTOP_ENDED);
	ck_assert(WIFSIGNALED(snapshot->header.wait_status));
	ck_assert_str_eq(snapshot->header.name, "-c");
	ck_assert_ptr_nonnull(row_of("burn"));
	uint64_t ticks = snapshot->header.ticks;
	double time_s = snapshot->header.time_s;
	pytop_set_rows_by_line(p, true);
	do
		wait_event();
	while (row_of("burn")->line < 3);
	ck_assert_uint_ge(snapshot->header.ticks, ticks);
	ck_assert(snapshot->header.time_s < time_s + 1);
	ck_assert_int_eq(snapshot->header.target, PYTOP_ENDED);
	export_all();
	pytop_close(p);
	exported_remove(folder);
}
END_TEST

START_TEST(exec)
{
	static const char script[] = "import sys, os, time\n"
				     "def one(until):\n"
				     "    while time.monotonic() < until: pass\n"
				     "one(time.monotonic() + 0.7)\n"
				     "os.execv(sys.executable, [sys.executable, '-c', '''\n"
				     "def two():\n"
				     "    while True: pass\n"
				     "two()\n"
				     "''', 'other'])\n";

	exported_folder(folder);
	spawn(script);
	open_with(&usual);
	ck_assert_int_eq(pytop_start(p), ST_OK);
	do
		wait_event();
	while (!row_of("two") || snapshot->header.execs == 0);
	ck_assert_uint_eq(snapshot->header.execs, 1);
	ck_assert_ptr_nonnull(row_of("one"));
	ck_assert_ptr_nonnull(strstr(snapshot->header.command, "other"));
	ck_assert_int_eq(snapshot->header.target, PYTOP_LIVE);
	ck_assert_uint_eq(snapshot->thread_count, 1);

	struct pytop_export_state state = export_to("collapsed", "out.txt");
	ck_assert_int_eq(state.status, ST_OK);
	size_t size;
	char *text = exported_read("out.txt", &size);
	ck_assert_ptr_nonnull(strstr(text, "one"));
	ck_assert_ptr_nonnull(strstr(text, "two"));
	free(text);
	pytop_close(p);
	end_child();
	exported_remove(folder);
}
END_TEST

/* Sleeps for so many milliseconds, or less. */
static void rest(int ms)
{
	struct timespec t = { 0, ms * 1000000L };

	nanosleep(&t, NULL);
}

START_TEST(close_at_any_moment)
{
	exported_folder(folder);
	spawn(service);
	open_with(&usual);
	pytop_close(p);
	for (int i = 0; i < 40; i++) {
		struct pytop_options options = usual;
		struct export_options export = exported_options;

		options.rate_hz = i % 3 ? 10000 : 0;
		options.blocking = i % 5 == 4;
		open_with(&options);
		if (i % 7 == 6) {
			const struct pytop_dump_thread *threads;
			size_t count;

			ck_assert_int_eq(pytop_dump(p, &threads, &count), ST_OK);
		}
		ck_assert_int_eq(pytop_start(p), ST_OK);
		rest(i);
		if (i % 2) {
			ck_assert_int_eq(pytop_snapshot(p, &snapshot), ST_OK);
			ck_assert_int_eq(
				pytop_export(p, export_formats[i / 2 % 3], "out.json", &export),
				ST_OK);
		}
		rest(i % 4);
		if (i % 11 == 10)
			pytop_stop(p);
		pytop_close(p);
	}
	pytop_close(NULL);
	end_child();
	unlink("out.json");
	exported_remove(folder);
}
END_TEST

/* The target ends while an export is asked for: whoever waits for it is answered. */
START_TEST(end_while_exporting)
{
	exported_folder(folder);
	for (int i = 0; i < 8; i++) {
		spawn(service);
		open_with(&usual);
		ck_assert_int_eq(pytop_start(p), ST_OK);
		wait_for_work(20);
		kill(child, SIGKILL);
		rest(i % 4);
		struct pytop_export_state state = export_to("collapsed", "out.txt");
		ck_assert_int_eq(state.status, ST_OK);
		pytop_close(p);
	}
	unlink("out.txt");
	exported_remove(folder);
}
END_TEST

START_TEST(a_kept_spool)
{
	struct pytop_options options = usual;
	struct status_args args;
	uint64_t samples;

	exported_folder(folder);
	options.spool_dir = "spool";
	spawn(service);
	open_with(&options);
	ck_assert_int_eq(pytop_start(p), ST_OK);
	wait_for_work(200);
	pytop_stop(p);
	ck_assert_int_eq(pytop_snapshot(p, &snapshot), ST_OK);
	samples = snapshot->header.samples;
	double burn_s = row_of("burn")->self_s[KIND_WALL];
	pytop_close(p);
	end_child();

	ck_assert_int_eq(pytop_open_spool(&p, "spool", &usual, &args), ST_OK);
	ck_assert_int_eq(pytop_snapshot(p, &snapshot), ST_OK);
	ck_assert_int_eq(snapshot->header.target, PYTOP_REPLAYED);
	ck_assert_int_eq(snapshot->header.pid, child);
	ck_assert_uint_eq(snapshot->header.samples, samples);
	double kept_s = row_of("burn")->self_s[KIND_WALL];
	ck_assert(kept_s > burn_s * 0.999 && kept_s < burn_s * 1.001);
	pytop_set_rows_by_line(p, true);
	ck_assert_int_eq(pytop_snapshot(p, &snapshot), ST_OK);
	ck_assert_int_ge(row_of("burn")->line, 3);
	export_all();
	pytop_close(p);

	ck_assert_int_ne(pytop_open_spool(&p, "absent", &usual, &args), ST_OK);
	ck_assert_str_eq(args.what, "absent");
	exported_remove("spool");
	exported_remove(folder);
}
END_TEST

START_TEST(without_a_log)
{
	struct pytop_options options = usual;
	char path[256];

	exported_folder(folder);
	options.no_spool = true;
	spawn(service);
	open_with(&options);
	ck_assert_int_eq(pytop_start(p), ST_OK);
	wait_for_work(20);
	ck_assert_int_eq(snapshot->header.log, PYTOP_LOG_NONE);
	ck_assert_int_eq(pytop_export(p, export_formats[0], "out", &exported_options), ST_NO_LOG);
	ck_assert_int_eq(pytop_keep_log(p, path, sizeof(path)), ST_NO_LOG);
	pytop_close(p);
	end_child();
	exported_remove(folder);
}
END_TEST

/* The terminal is lost: the log is kept below the user's state directory, and opens. */
START_TEST(keep_log)
{
	struct status_args args;
	char path[512], state[128];

	exported_folder(folder);
	snprintf(state, sizeof(state), "%s/state", folder);
	ck_assert_int_eq(setenv("XDG_STATE_HOME", state, 1), 0);
	spawn(service);
	open_with(&usual);
	ck_assert_int_eq(pytop_start(p), ST_OK);
	wait_for_work(50);
	ck_assert_int_eq(pytop_keep_log(p, path, sizeof(path)), ST_OK);
	ck_assert_int_eq(strncmp(path, state, strlen(state)), 0);
	pytop_close(p);
	end_child();
	ck_assert_int_eq(pytop_open_spool(&p, path, &usual, &args), ST_OK);
	ck_assert_int_eq(pytop_snapshot(p, &snapshot), ST_OK);
	ck_assert_ptr_nonnull(row_of("burn"));
	pytop_close(p);
	exported_remove(path);
	ck_assert_int_eq(rmdir("state/pytop"), 0);
	ck_assert_int_eq(rmdir("state"), 0);
	exported_remove(folder);
}
END_TEST

START_TEST(dump)
{
	const struct pytop_dump_thread *threads;
	size_t count;

	exported_folder(folder);
	spawn(service);
	open_with(&usual);
	for (int i = 0; i < 20; i++) {
		do
			ck_assert_int_eq(pytop_dump(p, &threads, &count), ST_OK);
		while (count < 2);
		ck_assert_uint_eq(count, 2);
		ck_assert_str_eq(threads[0].thread.name, "MainThread");
		ck_assert_uint_ge(threads[0].depth, 1);
		ck_assert_str_eq(threads[0].frames[threads[0].depth - 1].function, "<module>");
		ck_assert(!threads[0].truncated);
	}
	pytop_close(p);
	end_child();
	exported_remove(folder);
}
END_TEST

START_TEST(processes)
{
	struct pytop_process *list;
	size_t count = 0;

	spawn(service);
	open_with(&usual);
	pytop_close(p);
	ck_assert_int_eq(pytop_processes(getpid(), &list, &count), ST_OK);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(list[0].pid, child);
	ck_assert(list[0].readable);
	ck_assert_int_eq(list[0].python[0], '3');
	free(list);
	end_child();
	ck_assert_int_eq(pytop_processes(getpid(), &list, &count), ST_OK);
	ck_assert_uint_eq(count, 0);
	free(list);
}
END_TEST

START_TEST(refusals)
{
	char absent[] = "/absent/command";
	char *const argv[] = { absent, NULL };
	struct status_args args = { 0 };
	struct pytop *refused = NULL;
	struct pytop_options options = usual;

	ck_assert_int_eq(pytop_spawn(argv, -1, &child, &args), ST_NO_COMMAND);
	ck_assert_int_eq(args.errnum, ENOENT);
	ck_assert_str_eq(args.what, absent);
	options.spawned = false;
	child = child_start(child_sleeper, NULL);
	ck_assert_int_eq(pytop_open(&refused, child, &options, &args), ST_NOT_PYTHON);
	ck_assert_int_eq(args.pid, child);
	ck_assert_ptr_nonnull(args.self);
	ck_assert_ptr_null(refused);
	child_end(child);
	ck_assert_int_eq(pytop_open(&refused, child, &options, NULL), ST_NO_PROCESS);
}
END_TEST

PYTHONS_MAIN("pytop", whole_life, settings, the_end, exec, close_at_any_moment, end_while_exporting,
	     a_kept_spool, without_a_log, keep_log, dump, processes, refusals)
