/*
 * record_log: a made-up program for the tests of the log: threads that come, change, go unseen,
 * come back and die, in every state, and ticks with everything a tick can say. What it tells the
 * spool it also writes down as text, and a replay is written down in the same way, so two logs are
 * equal when their texts are.
 */
#ifndef PYTOP_TESTS_RECORD_LOG_H
#define PYTOP_TESTS_RECORD_LOG_H

#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/names.h"
#include "record/replay.h"
#include "record/spool.h"
#include "record/spool_files.h"

#define LOG_THREADS 12
#define LOG_START INT64_C(5000000000000)

struct log_program {
	struct names *names;
	uint64_t random;
	struct log_thread {
		thread_id id; /* 0: not born */
		bool seen;
		struct sample sample;
	} threads[LOG_THREADS];
	nanoseconds now;
	pid_t last_tid;
	struct tick tick;
	struct sample samples[LOG_THREADS];
	size_t count;
	FILE *text; /* what was told; NULL: nobody asks */
};

static inline uint32_t log_random(struct log_program *p, uint32_t below)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (uint32_t)(p->random >> 20) % below;
}

static inline stack_id log_stack(struct log_program *p)
{
	stack_id stack = 0;
	uint32_t depth = log_random(p, 12);

	for (uint32_t i = 0; i <= depth; i++) {
		struct name_function f = { .line = (int32_t)log_random(p, 5) - 1,
					   .interpreter = 0 };
		char name[32];
		frame_id frame;
		func_id function;

		snprintf(name, sizeof(name), "function_%u", log_random(p, 20));
		ck_assert_int_eq(names_string(p->names, name, strlen(name), &f.name), ST_OK);
		snprintf(name, sizeof(name), "file_%u.py", log_random(p, 4));
		ck_assert_int_eq(names_string(p->names, name, strlen(name), &f.file), ST_OK);
		ck_assert_int_eq(names_function(p->names, &f, &function), ST_OK);
		ck_assert_int_eq(
			names_frame(p->names, function, (int32_t)log_random(p, 9) - 1, &frame),
			ST_OK);
		ck_assert_int_eq(names_stack(p->names, stack, frame, &stack), ST_OK);
	}
	return log_random(p, 40) ? stack : 0;
}

static inline void log_birth(struct log_program *p, struct log_thread *t)
{
	struct name_thread row = { .tid = ++p->last_tid, .born = p->now, .main = p->last_tid == 1 };
	char name[32];

	snprintf(name, sizeof(name), "Thread-%d", (int)row.tid);
	ck_assert_int_eq(names_string(p->names, name, strlen(name), &row.name), ST_OK);
	row.interpreter = log_random(p, 2);
	*t = (struct log_thread){ .seen = true };
	ck_assert_int_eq(names_thread(p->names, &row, &t->id), ST_OK);
	t->sample = (struct sample){ .thread = t->id, .syscall = -1 };
}

static inline void log_change(struct log_program *p, struct log_thread *t)
{
	struct sample *s = &t->sample;

	if (log_random(p, 2))
		s->stack = log_stack(p);
	if (log_random(p, 3) == 0)
		s->state = (uint8_t)log_random(p, STATE_COUNT);
	if (log_random(p, 5) == 0)
		s->flags = (uint8_t)(log_random(p, 16) << 4);
	if (log_random(p, 3) == 0)
		s->cpu_mille = (uint16_t)(log_random(p, 3) ? log_random(p, 1001)
							   : 1000 * log_random(p, 2));
	if (log_random(p, 3) == 0)
		s->syscall = (int32_t)log_random(p, 450) - 1;
}

static inline void log_live(struct log_program *p, struct log_thread *t)
{
	if (!t->id) {
		if (log_random(p, 30) == 0)
			log_birth(p, t);
		return;
	}
	if (log_random(p, 400) == 0) {
		names_thread_died(p->names, t->id, p->now);
		t->id = 0;
		return;
	}
	if (log_random(p, 200) == 0) {
		string_id name;

		ck_assert_int_eq(names_string(p->names, "renamed", 7, &name), ST_OK);
		names_thread_renamed(p->names, t->id, name);
	}
	if (log_random(p, 40) == 0)
		t->seen = !t->seen;
	if (log_random(p, 3) == 0)
		log_change(p, t);
}

static inline void log_tick_header(struct log_program *p)
{
	struct tick *tick = &p->tick;
	nanoseconds since = (1 + log_random(p, 20000)) * (nanoseconds)1000;

	if (log_random(p, 100) == 0)
		since = 3000000000;
	p->now += since;
	tick->time = p->now;
	tick->weight = since < 16000000 ? since : 16000000;
	tick->gap = since - tick->weight;
	tick->missed = log_random(p, 20) ? 0 : log_random(p, 4);
	tick->process_cpu = log_random(p, 4) ? log_random(p, 30000) * (nanoseconds)1000 : 0;
	tick->native_cpu = log_random(p, 9) ? 0 : log_random(p, 9000) * (nanoseconds)1000;
	tick->others_cpu = log_random(p, 9) ? 0 : log_random(p, 9000) * (nanoseconds)1000;
	if (log_random(p, 50) == 0)
		tick->rss_bytes = 4096 * (uint64_t)log_random(p, 1000000);
	if (log_random(p, 60) == 0) {
		tick->interpreter_count = log_random(p, 4);
		for (uint32_t i = 0; i < tick->interpreter_count; i++)
			tick->interpreters[i] =
				(struct tick_interpreter){ .id = i * i,
							   .has_gil = log_random(p, 5) != 0 };
	}
	for (uint32_t i = 0; i < tick->interpreter_count && log_random(p, 4) == 0; i++) {
		tick->interpreters[i].holder = p->threads[log_random(p, LOG_THREADS)].id;
		tick->interpreters[i].locked = log_random(p, 2);
		tick->interpreters[i].gc = log_random(p, 8) == 0;
	}
}

/* ---- as text */

static inline void log_print_stack(FILE *out, const struct names *n, stack_id stack)
{
	for (; stack; stack = names_stack_at(n, stack)->parent) {
		const struct name_frame *frame = names_frame_at(n, names_stack_at(n, stack)->frame);
		const struct name_function *f = names_function_at(n, frame->function);

		fprintf(out, " %s(%s:%d)%d", names_text(n, f->name, NULL),
			names_text(n, f->file, NULL), f->line, frame->line);
	}
}

/* Interpreters whose holder is not known in the tick: only that somebody holds it is compared. */
static inline pid_t log_holder(const struct names *n, const struct tick *tick, uint32_t i)
{
	const struct name_thread *t = names_thread_at(n, tick->interpreters[i].holder);

	return t->tid;
}

static inline void log_print(FILE *out, const struct names *n, const struct tick *tick,
			     const struct sample *samples, size_t count)
{
	fprintf(out, "tick %lld %lld %lld %lld %lld %lld %llu %u", (long long)tick->time,
		(long long)tick->weight, (long long)tick->gap, (long long)tick->process_cpu,
		(long long)tick->native_cpu, (long long)tick->others_cpu,
		(unsigned long long)tick->rss_bytes, tick->missed);
	for (uint32_t i = 0; i < tick->interpreter_count; i++)
		fprintf(out, " [%lld %d%d%d %d]", (long long)tick->interpreters[i].id,
			tick->interpreters[i].locked, tick->interpreters[i].has_gil,
			tick->interpreters[i].gc, (int)log_holder(n, tick, i));
	fputc('\n', out);
	for (pid_t last = 0; count;) {
		const struct sample *next = NULL;

		for (size_t i = 0; i < count; i++) {
			pid_t tid = names_thread_at(n, samples[i].thread)->tid;

			if (tid > last && (!next || tid < names_thread_at(n, next->thread)->tid))
				next = &samples[i];
		}
		if (!next)
			break;
		last = names_thread_at(n, next->thread)->tid;
		fprintf(out, "%d %s %x %u %d", (int)last,
			state_name((enum thread_state)next->state), next->flags, next->cpu_mille,
			next->syscall);
		log_print_stack(out, n, next->stack);
		fputc('\n', out);
	}
}

/* ---- a program's run */

static inline void log_open(struct log_program *p, uint64_t seed, FILE *text)
{
	memset(p, 0, sizeof(*p));
	ck_assert_int_eq(names_open(&p->names), ST_OK);
	p->random = seed;
	p->now = LOG_START;
	p->text = text;
}

static inline void log_close(struct log_program *p)
{
	names_close(p->names);
}

/* The next tick, in tick and samples. */
static inline void log_next(struct log_program *p)
{
	p->count = 0;
	for (size_t i = 0; i < LOG_THREADS; i++)
		log_live(p, &p->threads[i]);
	log_tick_header(p);
	for (size_t i = 0; i < LOG_THREADS; i++) {
		if (p->threads[i].id && p->threads[i].seen)
			p->samples[p->count++] = p->threads[i].sample;
	}
	if (p->text)
		log_print(p->text, p->names, &p->tick, p->samples, p->count);
}

static const struct spool_about log_about = {
	.pid = 4711,
	.version = "3.13.1",
	.name = "app.py",
	.command = "python app.py --x",
	.rate_hz = 1000,
	.jitter_percent = 30,
	.process_started = 1000,
	.wall = 2000000,
	.monotonic = 3000000,
};

/* Let the files have what was sealed. */
static inline void log_drain(struct spool *spool, struct spool_files *files)
{
	struct spool_batch *batch;

	while ((batch = spool_take(spool))) {
		ck_assert_int_eq(spool_files_write(files, batch), ST_OK);
		spool_recycle(spool, batch);
	}
}

static inline char *log_directory(void)
{
	char *dir = strdup("/tmp/pytop-test-XXXXXX");

	ck_assert_ptr_nonnull(mkdtemp(dir));
	return dir;
}

static inline void log_remove(char *dir)
{
	DIR *entries = opendir(dir);

	for (struct dirent *e; (e = readdir(entries));)
		unlinkat(dirfd(entries), e->d_name, 0);
	closedir(entries);
	rmdir(dir);
	free(dir);
}

/* A run of so many ticks, logged to dir; text (may be NULL) gets what was told. */
static inline void log_run(const char *dir, uint64_t seed, int ticks,
			   const struct spool_options *options, char **text)
{
	struct log_program p;
	struct spool *spool;
	struct spool_files *files;
	size_t size;
	FILE *out = text ? open_memstream(text, &size) : NULL;

	log_open(&p, seed, out);
	ck_assert_int_eq(spool_open(&spool, &log_about, options, p.names), ST_OK);
	ck_assert_int_eq(spool_files_open(&files, dir, 0, (uid_t)-1, (gid_t)-1), ST_OK);
	for (int i = 0; i < ticks; i++) {
		log_next(&p);
		ck_assert_int_eq(spool_tick(spool, &p.tick, p.samples, p.count), ST_OK);
		log_drain(spool, files);
	}
	spool_seal(spool);
	log_drain(spool, files);
	spool_close(spool);
	spool_files_close(files);
	log_close(&p);
	if (out)
		fclose(out);
}

/* All that a replay still gives, as text. */
static inline char *log_replayed(struct replay *r)
{
	char *text;
	size_t size, count;
	FILE *out = open_memstream(&text, &size);
	const struct tick *tick;
	const struct sample *samples;
	enum status st;

	while ((st = replay_next(r, &tick, &samples, &count)) == ST_OK)
		log_print(out, replay_names(r), tick, samples, count);
	ck_assert_int_eq(st, ST_ENDED);
	fclose(out);
	return text;
}

static inline char *log_replay_dir(const char *dir)
{
	struct replay *r;
	char *text;

	ck_assert_int_eq(replay_open_dir(&r, dir), ST_OK);
	text = log_replayed(r);
	ck_assert_uint_eq(replay_info(r)->damaged, 0);
	replay_close(r);
	return text;
}

#endif
