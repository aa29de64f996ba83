/*
 * What is told to the spool comes back from the replay, to the last bit, however it was cut into
 * blocks and segments.
 */
#include "record_log.h"

#define TICKS 4000

static void check_same(const char *told, const char *replayed)
{
	const char *a = told, *b = replayed;
	size_t line = 1;

	for (; *a && *a == *b; a++, b++)
		line += *a == '\n';
	if (*a != *b)
		ck_abort_msg("line %zu differs: told ...%.200s, replayed ...%.200s", line,
			     a > told + 80 ? a - 80 : told, b > replayed + 80 ? b - 80 : replayed);
}

static void check_round_trip(uint64_t seed, int ticks, const struct spool_options *options)
{
	char *dir = log_directory(), *told, *replayed;

	log_run(dir, seed, ticks, options, &told);
	replayed = log_replay_dir(dir);
	ck_assert_uint_gt(strlen(told), (size_t)ticks * 10);
	check_same(told, replayed);
	free(told);
	free(replayed);
	log_remove(dir);
}

START_TEST(test_round_trip)
{
	for (uint64_t seed = 1; seed <= 5; seed++)
		check_round_trip(seed * 7919, TICKS, NULL);
}
END_TEST

START_TEST(test_tiny_buffers)
{
	const struct spool_options options = { .column_limit = 1, .total_limit = 1 };

	check_round_trip(4242, TICKS, &options);
}
END_TEST

START_TEST(test_many_segments)
{
	const struct spool_options options = { .segment_bytes = 20000, .flush_time = 50000000 };
	char *dir = log_directory(), *told, *replayed;
	struct replay *r;

	log_run(dir, 99, TICKS, &options, &told);
	replayed = log_replay_dir(dir);
	check_same(told, replayed);
	ck_assert_int_eq(replay_open_dir(&r, dir), ST_OK);
	ck_assert_uint_gt(replay_info(r)->segments, 10);
	replay_close(r);
	free(told);
	free(replayed);
	log_remove(dir);
}
END_TEST

START_TEST(test_segment_time)
{
	const struct spool_options options = { .segment_time = 2000000000 };
	char *dir = log_directory();
	struct replay *r;

	log_run(dir, 5, 1000, &options, NULL);
	ck_assert_int_eq(replay_open_dir(&r, dir), ST_OK);
	ck_assert_uint_gt(replay_info(r)->segments, 3);
	replay_close(r);
	log_remove(dir);
}
END_TEST

/* names are renewed in the middle, twice: frames and stacks get their ids anew. */
START_TEST(test_renew)
{
	static struct log_program p;
	char *dir = log_directory(), *told, *replayed;
	size_t size;
	FILE *out = open_memstream(&told, &size);
	struct spool *spool;
	struct spool_files *files;

	log_open(&p, 77, out);
	ck_assert_int_eq(spool_open(&spool, &log_about, NULL, p.names), ST_OK);
	ck_assert_int_eq(spool_files_open(&files, dir, 0, (uid_t)-1, (gid_t)-1), ST_OK);
	for (int i = 0; i < TICKS; i++) {
		log_next(&p);
		ck_assert_int_eq(spool_tick(spool, &p.tick, p.samples, p.count), ST_OK);
		if (i % 1500 == 1499) {
			spool_renew(spool);
			names_renew(p.names, NULL);
			for (size_t t = 0; t < LOG_THREADS; t++)
				p.threads[t].sample.stack = log_stack(&p);
		}
	}
	spool_seal(spool);
	log_drain(spool, files);
	fclose(out);
	replayed = log_replay_dir(dir);
	check_same(told, replayed);
	spool_close(spool);
	spool_files_close(files);
	log_close(&p);
	free(told);
	free(replayed);
	log_remove(dir);
}
END_TEST

/* A writer that is behind costs ticks of the log: they are counted, and their time is a gap. */
START_TEST(test_backlog)
{
	const struct spool_options options = { .column_limit = 1, .backlog_bytes = 100000 };
	static struct log_program p;
	char *dir = log_directory();
	struct spool *spool;
	struct spool_files *files;
	struct replay *r;
	const struct tick *tick;
	const struct sample *samples;
	size_t count;
	nanoseconds told = 0, found = 0;
	uint64_t ticks = 0;

	log_open(&p, 13, NULL);
	ck_assert_int_eq(spool_open(&spool, &log_about, &options, p.names), ST_OK);
	ck_assert_int_eq(spool_files_open(&files, dir, 0, (uid_t)-1, (gid_t)-1), ST_OK);
	for (int i = 0; i < TICKS; i++) {
		log_next(&p);
		told += p.tick.weight + p.tick.gap;
		ck_assert_int_eq(spool_tick(spool, &p.tick, p.samples, p.count), ST_OK);
		if (i == TICKS / 2 || i == TICKS - 2)
			log_drain(spool, files);
	}
	log_drain(spool, files);
	ck_assert_uint_gt(spool_lost_ticks(spool), 100);
	ck_assert_uint_lt(spool_lost_ticks(spool), TICKS - 100);
	ck_assert_int_eq(replay_open_dir(&r, dir), ST_OK);
	while (replay_next(r, &tick, &samples, &count) == ST_OK) {
		found += tick->weight + tick->gap;
		ticks++;
	}
	ck_assert_uint_eq(ticks, TICKS - spool_lost_ticks(spool));
	ck_assert_int_eq(found, told);
	replay_close(r);
	spool_close(spool);
	spool_files_close(files);
	log_close(&p);
	log_remove(dir);
}
END_TEST

/* Times are whole microseconds, but what is rounded away does not add up. */
START_TEST(test_rounding)
{
	static struct tick tick;
	struct names *names;
	struct spool *spool;
	struct spool_files *files;
	struct spool_cut cut;
	struct replay *r;
	const struct tick *got;
	const struct sample *samples;
	size_t count;
	nanoseconds weight = 0, cpu = 0;

	ck_assert_int_eq(names_open(&names), ST_OK);
	ck_assert_int_eq(spool_open(&spool, &log_about, NULL, names), ST_OK);
	ck_assert_int_eq(spool_files_open(&files, NULL, 0, (uid_t)-1, (gid_t)-1), ST_OK);
	tick.time = LOG_START;
	for (int i = 0; i < 10000; i++) {
		tick.time += 3600;
		tick.weight = 3600;
		tick.process_cpu = 1700;
		ck_assert_int_eq(spool_tick(spool, &tick, NULL, 0), ST_OK);
	}
	spool_seal(spool);
	log_drain(spool, files);
	ck_assert_int_eq(spool_files_cut(files, &cut), ST_OK);
	ck_assert_int_eq(replay_open_cut(&r, &cut), ST_OK);
	while (replay_next(r, &got, &samples, &count) == ST_OK) {
		weight += got->weight;
		cpu += got->process_cpu;
	}
	ck_assert_int_ge(weight, 36000000 - 2000);
	ck_assert_int_le(weight, 36000000 + 2000);
	ck_assert_int_ge(cpu, 17000000 - 2000);
	ck_assert_int_le(cpu, 17000000);
	replay_close(r);
	spool_cut_free(&cut);
	spool_files_close(files);
	spool_close(spool);
	names_close(names);
}
END_TEST

/* A thread that does the same costs nothing; one in ever changing stacks less than eight bytes. */
START_TEST(test_size)
{
	static struct tick tick;
	struct log_program p;
	struct spool *spool;
	struct spool_batch *batch;
	struct sample s[2] = { { .syscall = -1 }, { .syscall = 35, .state = STATE_SLEEP } };
	struct name_thread row = { .tid = 1, .born = 1 };
	stack_id stacks[1000];
	size_t bytes = 0;
	enum { COUNT = 100000 };

	log_open(&p, 3, NULL);
	for (size_t i = 0; i < 2; i++)
		ck_assert_int_eq(names_thread(p.names, &row, &s[i].thread), ST_OK);
	for (size_t i = 0; i < 1000; i++)
		stacks[i] = log_stack(&p);
	ck_assert_int_eq(spool_open(&spool, &log_about, NULL, p.names), ST_OK);
	tick.time = LOG_START;
	for (int i = 0; i < COUNT; i++) {
		tick.weight = 700000 + log_random(&p, 600000);
		tick.time += tick.weight;
		tick.process_cpu = tick.weight - 10000 + log_random(&p, 20000);
		s[0].stack = stacks[log_random(&p, 1000)];
		s[0].cpu_mille = log_random(&p, 4) ? 1000 : (uint16_t)log_random(&p, 1000);
		s[0].state = STATE_GIL;
		s[0].flags = SAMPLE_GIL;
		ck_assert_int_eq(spool_tick(spool, &tick, s, 2), ST_OK);
		while ((batch = spool_take(spool))) {
			bytes += batch->data.size;
			spool_recycle(spool, batch);
		}
	}
	ck_assert_uint_lt(bytes, 8 * COUNT);
	spool_close(spool);
	log_close(&p);
}
END_TEST

/* Nothing recorded: nothing to write. */
START_TEST(test_empty)
{
	struct names *names;
	struct spool *spool;

	ck_assert_int_eq(names_open(&names), ST_OK);
	ck_assert_int_eq(spool_open(&spool, &log_about, NULL, names), ST_OK);
	ck_assert_uint_eq(spool_seal(spool), 0);
	spool_renew(spool);
	ck_assert_ptr_null(spool_take(spool));
	spool_close(spool);
	names_close(names);
}
END_TEST

UNIT_MAIN("spool", test_round_trip, test_tiny_buffers, test_many_segments, test_segment_time,
	  test_renew, test_backlog, test_rounding, test_size, test_empty)
