/*
 * sampler: the sampling thread: wait for the tick, look, record, publish.
 */
#ifndef PYTOP_SAMPLER_H
#define PYTOP_SAMPLER_H

#include <stdbool.h>
#include <sys/types.h>

#include "attach.h"
#include "base/status.h"
#include "log.h"
#include "picture.h"
#include "record/names.h"
#include "record/tally.h"

struct sampler;

/* All borrowed, and the sampler's own while its thread runs. */
struct sampler_parts {
	struct attachment *attachment;
	struct names *names;
	struct tally *tally;
	struct log *log; /* NULL: none */
	struct picture *picture;
	int event_fd; /* written when there is something new to see */
};

struct sampler_options {
	double rate_hz; /* 0: flat out */
	double jitter_percent;
	double refresh_s;
	const pid_t *threads;
	size_t thread_count;
	bool main_thread_only, blocking;
};

enum status sampler_open(struct sampler **sampler, const struct sampler_parts *parts,
			 const struct sampler_options *options) MUST_CHECK;
/* The thread attaches (ptrace belongs to it) and begins; a failure to do so is the result. */
enum status sampler_start(struct sampler *s) MUST_CHECK;
/* Ask it to end, and wait: at most one tick. */
void sampler_stop(struct sampler *s);
void sampler_close(struct sampler *s);

/* Wishes, from any thread; honoured at the next tick. */
void sampler_wish_half_life(struct sampler *s, double seconds);
void sampler_wish_refresh(struct sampler *s, double seconds);
void sampler_wish_by_line(struct sampler *s, bool by_line);
void sampler_wish_stack(struct sampler *s, pid_t tid);
void sampler_wish_reset(struct sampler *s);
void sampler_wish_picture(struct sampler *s);
/* See log_cut(). False: the thread has ended, and the caller may use the log itself. */
bool sampler_wish_cut(struct sampler *s,
		      void (*done)(void *context, enum status status, struct spool_cut *cut),
		      void *context);

/* CLOCK_MONOTONIC at which sampling began. */
nanoseconds sampler_started(const struct sampler *s);
/* Why sampling ended by itself: ST_OK while it goes on. Wishes are granted until sampler_stop(). */
enum status sampler_ended(const struct sampler *s);

#endif
