/* Every tick that was logged comes back, or is counted: with cuts on the way, a slow writer, a full disk and a sudden end. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "record/replay.h"

#define MS ((nanoseconds)1000000)
#define THREADS 400
#define FULL 3000000 /* bytes after which the disk is full */

struct scene {
	char dir[64];
	struct names *names;
	struct log *log;
	struct tick tick;
	struct sample samples[THREADS];
	size_t count;
	stack_id stacks[64];
	uint64_t ticks;
};

static struct scene s;

static void remove_all(const char *path)
{
	DIR *dir = opendir(path);

	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

static const struct spool_about about = { .pid = 42,
					  .version = "3.13.1",
					  .name = "app.py",
					  .command = "python app.py",
					  .rate_hz = 1000 };

static void make_names(size_t threads)
{
	ck_assert_int_eq(names_open(&s.names), ST_OK);
	for (int i = 0; i < 64; i++) {
		char text[32];
		struct name_function f = { .line = i };
		func_id function;
		frame_id frame;

		snprintf(text, sizeof(text), "f%d", i);
		ck_assert_int_eq(names_string(s.names, text, strlen(text), &f.name), ST_OK);
		ck_assert_int_eq(names_function(s.names, &f, &function), ST_OK);
		ck_assert_int_eq(names_frame(s.names, function, i, &frame), ST_OK);
		ck_assert_int_eq(names_stack(s.names, 0, frame, &s.stacks[i]), ST_OK);
	}
	for (size_t i = 0; i < threads; i++) {
		struct name_thread t = { .tid = 100 + (pid_t)i, .born = 1 };

		ck_assert_int_eq(names_thread(s.names, &t, &s.samples[i].thread), ST_OK);
	}
	s.count = threads;
}

static void scene_open(size_t threads, bool named, uint64_t limit)
{
	memset(&s, 0, sizeof(s));
	strcpy(s.dir, "/tmp/pytop-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(s.dir));
	ck_assert_int_eq(setenv("TMPDIR", s.dir, 1), 0);
	make_names(threads);

	struct log_options options = { named ? s.dir : NULL, limit, (uid_t)-1, (gid_t)-1 };
	ck_assert_int_eq(log_open(&s.log, &options, &about, s.names), ST_OK);
	s.tick = (struct tick){ .time = 5000 * MS, .weight = MS };
}

static void scene_close(void)
{
	log_close(s.log);
	names_close(s.names);
	remove_all(s.dir);
}

/* A tick in which every thread is somewhere else than before. */
static void tick(void)
{
	s.tick.time += s.tick.weight;
	s.ticks++;
	for (size_t i = 0; i < s.count; i++) {
		s.samples[i].stack = s.stacks[(s.ticks * 7 + i) % 64];
		s.samples[i].state = (uint8_t)(1 + (s.ticks + i) % (STATE_COUNT - 1));
		s.samples[i].cpu_mille = (uint16_t)(s.ticks * 13 % 1000);
	}
	log_tick(s.log, &s.tick, s.samples, s.count);
}

static void ticks(int n)
{
	while (n-- > 0)
		tick();
}

static struct log_report report(void)
{
	struct log_report r;

	log_report(s.log, &r);
	return r;
}

/* ---- cuts */

struct waiting {
	_Atomic int calls;
	_Atomic bool hold, held; /* the writer stands in the callback */
	enum status status;
	struct spool_cut cut;
};

static void rest(void)
{
	struct timespec t = { 0, MS };

	nanosleep(&t, NULL);
}

static void take_cut(void *context, enum status status, struct spool_cut *cut)
{
	struct waiting *w = context;

	w->status = status;
	w->cut = *cut;
	atomic_store(&w->held, true);
	while (atomic_load(&w->hold))
		rest();
	atomic_fetch_add(&w->calls, 1);
}

static void wait_for(struct waiting *w)
{
	while (!atomic_load(&w->calls))
		rest();
}

struct content {
	uint64_t ticks, samples;
	nanoseconds first, last, seen; /* seen: weights and gaps after the first tick */
};

static void read_all(struct replay *replay, struct content *c)
{
	const struct tick *t;
	const struct sample *samples;
	size_t count;
	enum status status;

	memset(c, 0, sizeof(*c));
	while ((status = replay_next(replay, &t, &samples, &count)) == ST_OK) {
		if (!c->ticks++)
			c->first = t->time;
		else
			c->seen += t->weight + t->gap;
		c->last = t->time;
		c->samples += count;
	}
	ck_assert_int_eq(status, ST_ENDED);
}

/* All there is in the log now. */
static struct content content_now(void)
{
	struct waiting w = { 0 };
	struct content c;
	struct replay *replay;

	log_cut(s.log, take_cut, &w);
	wait_for(&w);
	ck_assert_int_eq(w.status, ST_OK);
	ck_assert_int_eq(replay_open_cut(&replay, &w.cut), ST_OK);
	read_all(replay, &c);
	replay_close(replay);
	spool_cut_free(&w.cut);
	return c;
}

START_TEST(what_was_logged)
{
	scene_open(3, false, 0);
	for (int round = 1; round <= 20; round++) {
		ticks(100);
		struct content c = content_now();
		ck_assert_uint_eq(c.ticks, s.ticks);
		ck_assert_uint_eq(c.samples, s.ticks * 3);
		ck_assert_int_eq(c.last, s.tick.time);
	}
	struct log_report r = report();
	ck_assert(!r.stopped);
	ck_assert_uint_gt(r.bytes, 0);
	ck_assert_uint_eq(r.lost_ticks, 0);
	ck_assert_int_eq(r.first_tick, 5001 * MS);
	ck_assert_str_eq(log_place(s.log), s.dir);
	scene_close();
}
END_TEST

/* A cut stays as it was while the log goes on, even when its segments are dropped for the limit. */
START_TEST(a_cut_stays)
{
	struct waiting w = { 0 };
	struct replay *replay;
	struct content c;

	scene_open(THREADS, false, 1 << 20);
	ticks(50);
	log_cut(s.log, take_cut, &w);
	wait_for(&w);
	ticks(3000);
	ck_assert_uint_lt(content_now().ticks, s.ticks);
	ck_assert_int_gt(report().first_tick, 5050 * MS);
	ck_assert_int_eq(replay_open_cut(&replay, &w.cut), ST_OK);
	read_all(replay, &c);
	ck_assert_uint_eq(c.ticks, 50);
	replay_close(replay);
	spool_cut_free(&w.cut);
	scene_close();
}
END_TEST

START_TEST(close_writes_what_is_pending)
{
	struct replay *replay;
	struct content c;

	scene_open(3, true, 0);
	ticks(777);
	log_event(s.log, SPOOL_RESET, s.tick.time, "");
	log_close(s.log);
	s.log = NULL;
	ck_assert_int_eq(replay_open_dir(&replay, s.dir), ST_OK);
	read_all(replay, &c);
	ck_assert_uint_eq(c.ticks, 777);
	ck_assert_int_eq(replay_info(replay)->about.pid, 42);

	size_t events;
	ck_assert_int_eq(replay_events(replay, &events)[0].event, SPOOL_RESET);
	ck_assert_uint_eq(events, 1);
	replay_close(replay);
	scene_close();
}
END_TEST

/* Whoever asked for a cut is told, even when the log is closed at once. */
START_TEST(close_answers)
{
	struct waiting w[20] = { 0 };

	scene_open(3, false, 0);
	for (int i = 0; i < 20; i++) {
		ticks(10);
		log_cut(s.log, take_cut, &w[i]);
	}
	log_close(s.log);
	s.log = NULL;
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(atomic_load(&w[i].calls), 1);
		ck_assert_int_eq(w[i].status, ST_OK);
		spool_cut_free(&w[i].cut);
	}
	scene_close();
}
END_TEST

START_TEST(lives_and_generations)
{
	struct spool_about other = about;

	scene_open(3, false, 0);
	ticks(10);
	log_renew(s.log);
	names_renew(s.names, NULL);
	for (int i = 0; i < 64; i++) {
		frame_id frame;

		ck_assert_int_eq(names_frame(s.names, (func_id)i + 1, i, &frame), ST_OK);
		ck_assert_int_eq(names_stack(s.names, 0, frame, &s.stacks[i]), ST_OK);
	}
	ticks(10);
	other.name = "other.py";
	other.life = 1;
	log_event(s.log, SPOOL_EXEC, s.tick.time, "python other.py");
	log_new_life(s.log, &other);
	ticks(10);
	ck_assert_uint_eq(content_now().ticks, 30);
	scene_close();
}
END_TEST

/* ---- trouble */

/* The writer stands still: ticks are lost and counted, nobody waits, and the log goes on with a gap that tells how long. */
START_TEST(slow_writer)
{
	struct waiting w = { .hold = true };

	scene_open(THREADS, false, 0);
	ticks(10);
	log_cut(s.log, take_cut, &w);
	while (!atomic_load(&w.held))
		rest();
	while (report().lost_ticks < 100)
		tick();
	atomic_store(&w.hold, false);
	wait_for(&w);
	spool_cut_free(&w.cut);
	/* once it has caught up, nothing more is lost */
	struct content c = content_now();
	uint64_t lost = report().lost_ticks;
	ck_assert_uint_eq(c.ticks, s.ticks - lost);
	ticks(500);
	c = content_now();
	ck_assert_uint_eq(report().lost_ticks, lost);
	ck_assert_uint_eq(c.ticks, s.ticks - lost);
	ck_assert_int_eq(c.seen, c.last - c.first);
	ck_assert(!report().stopped);
	scene_close();
}
END_TEST

/* What a full disk is to a write: the log stops, says so, and what is there can still be read. */
START_TEST(full_disk)
{
	struct rlimit limit = { FULL, FULL };

	signal(SIGXFSZ, SIG_IGN);
	scene_open(THREADS, false, 0);
	ticks(10);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	while (!report().stopped)
		tick();
	struct log_report r = report();
	ck_assert_int_eq(r.status, ST_SPOOL_FULL);
	ck_assert_uint_le(r.bytes, FULL);

	struct content c = content_now();
	ck_assert_uint_gt(c.ticks, 0);
	ck_assert_uint_lt(c.ticks, s.ticks);
	ticks(2000);
	log_event(s.log, SPOOL_GAP, s.tick.time, "");
	log_renew(s.log);
	ck_assert_uint_eq(content_now().ticks, c.ticks);
	scene_close();
}
END_TEST

START_TEST(refused)
{
	struct log *log = NULL;
	struct log_options options = { NULL, 0, (uid_t)-1, (gid_t)-1 };
	char path[128];

	memset(&s, 0, sizeof(s));
	strcpy(s.dir, "/tmp/pytop-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(s.dir));
	make_names(1);
	snprintf(path, sizeof(path), "%s/file", s.dir);
	fclose(fopen(path, "w"));
	options.dir = s.dir;
	ck_assert_int_eq(log_open(&log, &options, &about, s.names), ST_SPOOL_NOT_EMPTY);
	options.dir = path;
	errno = 0;
	ck_assert_int_eq(log_open(&log, &options, &about, s.names), ST_SPOOL_PLACE);
	ck_assert_int_ne(errno, 0);
	ck_assert_ptr_null(log);
	scene_close();
}
END_TEST

/* The terminal is lost: the unnamed log gets a name. */
START_TEST(kept)
{
	char path[512], place[128];
	struct replay *replay;
	struct content c;

	scene_open(3, false, 0);
	ticks(100);
	snprintf(place, sizeof(place), "%s/kept", s.dir);
	ck_assert_int_eq(mkdir(place, 0700), 0);
	ck_assert_int_eq(log_keep(s.log, place, path, sizeof(path)), ST_OK);
	ck_assert_int_eq(strncmp(path, place, strlen(place)), 0);
	log_close(s.log);
	s.log = NULL;
	ck_assert_int_eq(replay_open_dir(&replay, path), ST_OK);
	read_all(replay, &c);
	ck_assert_uint_eq(c.ticks, 100);
	replay_close(replay);
	remove_all(path);
	remove_all(place);
	scene_close();
}
END_TEST

UNIT_MAIN("log", what_was_logged, a_cut_stays, close_writes_what_is_pending, close_answers,
	  lives_and_generations, slow_writer, full_disk, refused, kept)
