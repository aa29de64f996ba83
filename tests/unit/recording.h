/*
 * recording: a small log made by a test, through the real spool and the real replay, with no file
 * that has a name.
 */
#ifndef PYTOP_TESTS_RECORDING_H
#define PYTOP_TESTS_RECORDING_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/replay.h"
#include "unit.h"

#define RECORDING_SEGMENTS 64
#define RECORDING_START INT64_C(5000000000000) /* CLOCK_MONOTONIC of the first tick */
#define RECORDING_WALL INT64_C(1795000000000000000)
#define MS INT64_C(1000000)

struct recording {
	struct names *names;
	struct spool *spool;
	struct spool_cut cut;
	struct spool_cut_segment segments[RECORDING_SEGMENTS];
	struct replay *replay;
	struct tick tick; /* the next one; its time moves on by its weight */
};

static inline void recording_open(struct recording *r, const struct spool_options *options)
{
	const struct spool_about about = {
		.pid = 4242,
		.version = "3.13.1",
		.name = "shop.py",
		.command = "python3 shop.py --password secret",
		.rate_hz = 1000,
		.jitter_percent = 30,
		.process_started = RECORDING_WALL - 60000 * MS,
		.wall = RECORDING_WALL,
		.monotonic = RECORDING_START,
	};
	const struct spool_options none = { 0 };

	memset(r, 0, sizeof(*r));
	r->cut.segments = r->segments;
	r->tick = (struct tick){ .time = RECORDING_START,
				 .weight = MS,
				 .interpreter_count = 1,
				 .interpreters = { { .has_gil = true } } };
	ck_assert_int_eq(names_open(&r->names), ST_OK);
	ck_assert_int_eq(spool_open(&r->spool, &about, options ? options : &none, r->names), ST_OK);
}

static inline string_id recording_string(struct recording *r, const char *text)
{
	string_id id;

	ck_assert_int_eq(names_string(r->names, text, strlen(text), &id), ST_OK);
	return id;
}

static inline thread_id recording_thread(struct recording *r, pid_t tid, const char *name,
					 bool main)
{
	const struct name_thread thread = {
		.tid = tid, .name = recording_string(r, name), .main = main, .born = r->tick.time
	};
	thread_id id;

	ck_assert_int_eq(names_thread(r->names, &thread, &id), ST_OK);
	return id;
}

/* parent with one more frame: line of a function "name" defined in line first of file. */
static inline stack_id recording_call(struct recording *r, stack_id parent, const char *name,
				      const char *file, int32_t first, int32_t line)
{
	const struct name_function function = { .name = recording_string(r, name),
						.file = recording_string(r, file),
						.line = first };
	func_id func;
	frame_id frame;
	stack_id stack;

	ck_assert_int_eq(names_function(r->names, &function, &func), ST_OK);
	ck_assert_int_eq(names_frame(r->names, func, line, &frame), ST_OK);
	ck_assert_int_eq(names_stack(r->names, parent, frame, &stack), ST_OK);
	return stack;
}

static inline void recording_tick(struct recording *r, const struct sample *samples, size_t count)
{
	ck_assert_int_eq(spool_tick(r->spool, &r->tick, samples, count), ST_OK);
	r->tick.time += r->tick.weight;
	r->tick.gap = 0;
	r->tick.missed = 0;
}

/* What the writer does: append the batches to their segments. */
static inline void recording_drain(struct recording *r)
{
	struct spool_batch *batch;

	while ((batch = spool_take(r->spool))) {
		struct spool_cut_segment *segment;

		if (batch->first_of_segment) {
			ck_assert_uint_lt(r->cut.count, RECORDING_SEGMENTS);
			segment = &r->segments[r->cut.count++];
			segment->fd = memfd_create("segment", MFD_CLOEXEC);
			segment->number = batch->segment;
			ck_assert_int_ge(segment->fd, 0);
		}
		segment = &r->segments[r->cut.count - 1];
		ck_assert_int_eq(write(segment->fd, batch->data.data, batch->data.size),
				 (ssize_t)batch->data.size);
		segment->size += batch->data.size;
		spool_recycle(r->spool, batch);
	}
}

/* Everything recorded so far, to be read. */
static inline struct replay *recording_replay(struct recording *r)
{
	spool_seal(r->spool);
	recording_drain(r);
	if (r->replay)
		replay_close(r->replay);
	ck_assert_int_eq(replay_open_cut(&r->replay, &r->cut), ST_OK);
	return r->replay;
}

static inline void recording_close(struct recording *r)
{
	if (r->replay)
		replay_close(r->replay);
	for (size_t i = 0; i < r->cut.count; i++)
		close(r->segments[i].fd);
	spool_close(r->spool);
	names_close(r->names);
}

#endif
