/* One export at a time, over a kept spool or a cut; cancelled, refused and failed ones leave nothing behind. */
#include "exported.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "exporter.h"
#include "log.h"

#define TICKS 2000

static char folder[64];
static int event_fd;

static struct exporter *opened(void)
{
	struct exporter *e = NULL;

	event_fd = eventfd(0, EFD_NONBLOCK);
	ck_assert_int_eq(exporter_open(&e, event_fd), ST_OK);
	return e;
}

static bool has_event(void)
{
	struct pollfd fd = { event_fd, POLLIN, 0 };
	uint64_t events;

	return poll(&fd, 1, 0) == 1 && read(event_fd, &events, sizeof(events)) > 0;
}

/* A kept spool "spool" in the folder. */
static void make_spool(int ticks)
{
	struct recording r;
	struct log *log;
	struct log_options options = { "spool", 0, (uid_t)-1, (gid_t)-1 };
	const struct spool_about about = { .pid = 4242,
					   .version = "3.13.1",
					   .name = "shop.py",
					   .command = "python3 shop.py",
					   .rate_hz = 1000,
					   .wall = RECORDING_WALL,
					   .monotonic = RECORDING_START };

	exported_folder(folder);
	recording_open(&r, NULL);
	ck_assert_int_eq(log_open(&log, &options, &about, r.names), ST_OK);
	thread_id thread = recording_thread(&r, 4242, "MainThread", true);
	stack_id stacks[2] = { recording_call(&r, 0, "main", "shop.py", 1, 3) };
	stacks[1] = recording_call(&r, stacks[0], "price", "cart.py", 10, 12);
	for (int i = 0; i < ticks; i++) {
		struct sample sample = { .thread = thread,
					 .stack = stacks[i % 2],
					 .state = STATE_GIL,
					 .flags = SAMPLE_GIL,
					 .cpu_mille = 1000,
					 .syscall = -1 };

		log_tick(log, &r.tick, &sample, 1);
		r.tick.time += r.tick.weight;
	}
	log_close(log);
	recording_close(&r);
}

static void remove_folder(void)
{
	exported_remove("spool");
	exported_remove(folder);
}

static struct exporter_job job_of(const char *format, const char *path)
{
	return (struct exporter_job){ .format = export_format_by_name(format),
				      .path = path,
				      .options = exported_options,
				      .spool_dir = "spool",
				      .name = "shop.py",
				      .pid = 4242,
				      .wall_seconds = 1795000000 };
}

static struct pytop_export_state finished(struct exporter *e)
{
	struct pytop_export_state state;

	exporter_wait(e);
	exporter_state(e, &state);
	ck_assert(!state.running);
	ck_assert(state.finished);
	return state;
}

START_TEST(every_format)
{
	struct pytop_export_state state;

	make_spool(TICKS);
	struct exporter *e = opened();
	exporter_state(e, &state);
	ck_assert(!state.running);
	ck_assert(!state.finished);
	ck_assert_ptr_null(state.format);
	for (size_t i = 0; export_formats[i]; i++) {
		char path[64];
		struct stat made;

		snprintf(path, sizeof(path), "out%s", export_formats[i]->suffix);
		struct exporter_job job = job_of(export_formats[i]->name, path);
		ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
		state = finished(e);
		ck_assert_int_eq(state.status, ST_OK);
		ck_assert_ptr_eq(state.format, export_formats[i]);
		ck_assert_str_eq(state.result.path, path);
		ck_assert_uint_eq(state.result.samples, TICKS);
		ck_assert_int_eq(stat(path, &made), 0);
		ck_assert_int_eq(made.st_size, (off_t)state.result.bytes);
		ck_assert(has_event());
	}
	exporter_close(e);
	remove_folder();
}
END_TEST

START_TEST(a_name_of_its_own)
{
	make_spool(10);
	struct exporter *e = opened();
	struct exporter_job job = job_of("collapsed", NULL);
	ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
	struct pytop_export_state state = finished(e);
	ck_assert_int_eq(state.status, ST_OK);
	const char *slash = strrchr(state.result.path, '/');
	const char *name = slash ? slash + 1 : state.result.path;
	ck_assert_int_eq(strncmp(name, "shop", 4), 0);
	ck_assert_ptr_nonnull(strstr(name, "-4242-"));
	ck_assert_int_eq(access(state.result.path, R_OK), 0);
	exporter_close(e);
	remove_folder();
}
END_TEST

/* ---- over a cut */

static void give_nothing(struct exporter *e, enum status status)
{
	struct spool_cut none = { 0 };

	exporter_cut(e, status, &none);
}

START_TEST(over_a_cut)
{
	struct spool_cut cut;

	make_spool(TICKS);
	struct exporter *e = opened();
	struct exporter_job job = job_of("collapsed", "out.txt");
	job.spool_dir = NULL;
	ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
	ck_assert_int_eq(exporter_begin(e, &job), ST_BUSY);

	struct pytop_export_state state;
	exporter_state(e, &state);
	ck_assert(state.running);
	ck_assert(!state.finished);
	ck_assert_int_eq(spool_cut_open(&cut, "spool"), ST_OK);
	exporter_cut(e, ST_OK, &cut);
	state = finished(e);
	ck_assert_int_eq(state.status, ST_OK);
	ck_assert_uint_eq(state.result.samples, TICKS);

	/* and again: the result of before is forgotten */
	ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
	exporter_state(e, &state);
	ck_assert(state.running);
	ck_assert_uint_eq(state.result.samples, 0);
	give_nothing(e, ST_NO_MEMORY);
	state = finished(e);
	ck_assert_int_eq(state.status, ST_NO_MEMORY);
	ck_assert_str_eq(state.result.path, "out.txt");
	exporter_close(e);
	remove_folder();
}
END_TEST

/* ---- cancelled */

START_TEST(cancelled_before_it_began)
{
	struct spool_cut cut;

	make_spool(TICKS);
	struct exporter *e = opened();
	struct exporter_job job = job_of("collapsed", "out.txt");
	job.spool_dir = NULL;
	ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
	exporter_cancel(e);
	ck_assert_int_eq(spool_cut_open(&cut, "spool"), ST_OK);
	exporter_cut(e, ST_OK, &cut);
	ck_assert_int_eq(finished(e).status, ST_CANCELLED);
	ck_assert_int_ne(access("out.txt", F_OK), 0);

	/* the next one is not */
	job.spool_dir = "spool";
	ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
	ck_assert_int_eq(finished(e).status, ST_OK);
	exporter_close(e);
	remove_folder();
}
END_TEST

/* At any moment: either it was done, or the file that was there is as it was; nothing else is left. */
START_TEST(cancelled_at_any_moment)
{
	make_spool(20 * TICKS);
	struct exporter *e = opened();
	struct exporter_job job = job_of("gecko", "out.json");
	int cancelled = 0;

	for (int i = 0; i < 40; i++) {
		struct timespec pause = { 0, i * 300000L };

		exported_write_text("out.json", "mine");
		ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
		nanosleep(&pause, NULL);
		exporter_cancel(e);
		enum status status = finished(e).status;
		size_t size;
		char *text = exported_read("out.json", &size);
		ck_assert(status == ST_OK || status == ST_CANCELLED);
		ck_assert_int_eq(strcmp(text, "mine") == 0, status == ST_CANCELLED);
		free(text);
		ck_assert_uint_eq(exported_files("."), 2);
		cancelled += status == ST_CANCELLED;
	}
	ck_assert_int_gt(cancelled, 0);
	exporter_close(e);
	remove_folder();
}
END_TEST

START_TEST(closed_while_it_runs)
{
	make_spool(20 * TICKS);
	for (int i = 0; i < 20; i++) {
		struct exporter *e = opened();
		struct exporter_job job = job_of("gecko", "out.json");
		struct timespec pause = { 0, i * 300000L };

		ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
		nanosleep(&pause, NULL);
		exporter_close(e);
		close(event_fd);
		unlink("out.json");
		ck_assert_uint_eq(exported_files("."), 1);
	}
	exporter_close(NULL);
	remove_folder();
}
END_TEST

/* ---- failed */

START_TEST(failures)
{
	static char endless[8192];

	make_spool(10);
	struct exporter *e = opened();
	struct exporter_job job = job_of("collapsed", "absent/out.txt");
	ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
	struct pytop_export_state state = finished(e);
	ck_assert_int_eq(state.status, ST_CANNOT_WRITE);
	ck_assert_int_eq(state.errnum, ENOENT);
	ck_assert_str_eq(state.result.path, "absent/out.txt");

	memset(endless, 'x', sizeof(endless) - 1);
	job.path = endless;
	errno = 0;
	ck_assert_int_eq(exporter_begin(e, &job), ST_CANNOT_WRITE);
	ck_assert_int_eq(errno, ENAMETOOLONG);

	job.path = "out.txt";
	job.spool_dir = "absent";
	ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
	ck_assert_int_ne(finished(e).status, ST_OK);
	ck_assert_int_eq(mkdir("empty", 0700), 0);
	job.spool_dir = "empty";
	ck_assert_int_eq(exporter_begin(e, &job), ST_OK);
	ck_assert_int_eq(finished(e).status, ST_NO_SAMPLES);
	ck_assert_int_ne(access("out.txt", F_OK), 0);
	exporter_close(e);
	rmdir("empty");
	remove_folder();
}
END_TEST

UNIT_MAIN("exporter", every_format, a_name_of_its_own, over_a_cut, cancelled_before_it_began,
	  cancelled_at_any_moment, closed_while_it_runs, failures)
