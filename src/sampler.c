/*
 * sampler: the thread that keeps the pace.
 *
 * It alone writes names, tally, pace, the log's encoder and the frame of the picture being filled. Wishes of other threads are
 * left in a small struct under a mutex, which the sampler only tries to take: if it is busy, the wish waits a tick.
 * A tick: sleep until the deadline, look, count, log; what is left of the interval goes to the picture, in slices. Trouble: an
 * exec of another Python is followed; after the end of a target, or when it became something else, the thread stays for the
 * wishes: what was seen can still be shown otherwise, and exported.
 */
#include "sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "clock.h"
#include "headline.h"
#include "observer.h"
#include "record/pace.h"

#define SECOND ((nanoseconds)1000 * 1000 * 1000)
#define SPIN_BELOW ((nanoseconds)30 * 1000) /* intervals too short to sleep in */
#define SLEEP_AT_MOST (SECOND / 20)         /* so that wishes and the end are heard */
#define FIRST_PICTURE (SECOND / 20)
#define EARLY_PICTURES (SECOND / 4) /* until the first second is over */
#define SLICE_ROWS 64
#define SLICE_ROOM ((nanoseconds)60 * 1000) /* left before the deadline for another slice */
#define COST_EVERY_BELOW \
	((nanoseconds)200 * 1000) /* at such short intervals one tick in 16 is measured */
#define REATTACH_EVERY (SECOND / 20)
#define EXEC_CHECK_EVERY (SECOND / 10)
#define FAULTS_MAX 50 /* ticks in a row whose roots could not be read */
#define RESUMES_MAX 3 /* new beginnings in a row that brought no tick */

struct wishes {
	bool has_half_life, reset, picture;
	double half_life_s, refresh_s;
	bool by_line;
	pid_t stack_tid;
	void (*cut_done)(void *context, enum status status, struct spool_cut *cut);
	void *cut_context;
};

struct sampler {
	struct sampler_parts parts;
	struct sampler_options options;
	pthread_t thread;
	bool running;
	pthread_mutex_t mutex;
	pthread_cond_t begun;
	bool has_begun;
	enum status begin_status;
	struct wishes wishes; /* under the mutex */
	_Atomic bool wished;  /* something in wishes is new */
	bool deaf;            /* no wish will be granted any more; under the mutex */
	_Atomic bool stop;
	_Atomic int ended; /* enum status */
	_Atomic int64_t started;

	/* the thread's own */
	struct observer *observer;
	struct observer_options observing;
	struct pace pace;
	struct headline headline;
	struct tick when; /* of the tick being done; big, so not on the stack */
	const struct observation *seen;
	struct picture_wish picture_wish;
	nanoseconds refresh, next_picture;
	bool by_line;
	uint32_t execs;
	bool executed; /* and not followed yet */
	nanoseconds exec_checked;
	unsigned faults, resumes;
	nanoseconds lost;     /* time of ticks that failed: part of the next one's gap */
	nanoseconds ended_at; /* when sampling ended by itself; 0: it goes on */
	enum status why;      /* it did */
	uint64_t tick_number;
	uint64_t held_before; /* of observers before an exec */
};

enum status sampler_open(struct sampler **sampler, const struct sampler_parts *parts,
			 const struct sampler_options *options)
{
	struct sampler *s = alloc_zero(1, sizeof(*s));
	if (!s)
		return ST_NO_MEMORY;
	s->parts = *parts;
	s->options = *options;
	s->refresh = (nanoseconds)(options->refresh_s * 1e9);
	s->observing = (struct observer_options){
		.threads = options->threads,
		.thread_count = options->thread_count,
		.main_thread_only = options->main_thread_only,
		.blocking = options->blocking,
	};
	pthread_mutex_init(&s->mutex, NULL);
	pthread_cond_init(&s->begun, NULL);
	*sampler = s;
	return ST_OK;
}

static bool stopping(struct sampler *s)
{
	return atomic_load_explicit(&s->stop, memory_order_relaxed);
}

/* ---- the picture ------------------------------------------------------------------------------------ */

static void announce(const struct sampler *s)
{
	uint64_t one = 1;
	ssize_t n = write(s->parts.event_fd, &one, sizeof(one));
	(void)n; /* full: the reader has enough to see already */
}

static void fill_header(struct sampler *s, nanoseconds now)
{
	struct pytop_header *h = &picture_current(s->parts.picture)->header;
	nanoseconds started = atomic_load(&s->started);

	memset(h, 0, sizeof(*h));
	headline_target(h, s->parts.attachment);
	headline_tally(h, s->parts.tally);
	headline_pace(&s->headline, h, &s->pace, s->held_before + observer_held_ns(s->observer),
		      now);
	headline_log(&s->headline, h, s->parts.log, started);
	if (s->seen) {
		headline_states(h, s->seen->samples, s->seen->count);
		h->rss_bytes = s->seen->tick.rss_bytes;
	}
	h->time_s = (double)(now - started) / 1e9;
	h->execs = s->execs;
	h->target = s->ended_at ? PYTOP_ENDED : PYTOP_LIVE;
	h->end = s->why;
	if (s->ended_at && s->why != ST_ENDED)
		memcpy(h->became, s->parts.attachment->became, sizeof(h->became));
}

static void add_unseen(const struct sampler *s, struct picture_frame *f)
{
	for (size_t i = 0; i < f->thread_count && i < s->seen->count; i++)
		f->threads[i].unseen_cpu_s = (double)s->seen->unseen[i] / 1e9;
}

/* One slice; publishes when it was the last. False: no more to do now. */
static bool work_on_picture(struct sampler *s, nanoseconds now)
{
	struct picture *p = s->parts.picture;
	bool complete;

	if (!s->seen)
		return false;
	if (!picture_is_busy(p)) {
		if (now < s->next_picture)
			return false;
		nanoseconds every = s->refresh;
		if (now - atomic_load(&s->started) < SECOND && every > EARLY_PICTURES)
			every = EARLY_PICTURES;
		s->next_picture = now + every;
		picture_begin(p, &s->picture_wish);
	}
	if (picture_work(p, SLICE_ROWS, s->seen->samples, s->seen->count, &complete) != ST_OK)
		return false;
	if (!complete)
		return picture_is_busy(p);
	fill_header(s, now);
	add_unseen(s, picture_current(p));
	picture_publish(p);
	announce(s);
	return false;
}

/* The last picture, whole, whatever it costs. */
static void finish_picture(struct sampler *s)
{
	nanoseconds now = s->ended_at ? s->ended_at : clock_read(CLOCK_MONOTONIC);

	if (!s->seen)
		return;
	while (picture_is_busy(s->parts.picture))
		work_on_picture(s, now);
	s->next_picture = now;
	while (work_on_picture(s, now))
		;
}

/* ---- wishes ------------------------------------------------------------------------------------------- */

static void grant_wishes(struct sampler *s, nanoseconds now)
{
	if (!atomic_load_explicit(&s->wished, memory_order_relaxed) ||
	    pthread_mutex_trylock(&s->mutex) != 0)
		return;
	atomic_store_explicit(&s->wished, false, memory_order_relaxed);
	struct wishes w = s->wishes;
	s->wishes.has_half_life = s->wishes.reset = s->wishes.picture = false;
	s->wishes.cut_done = NULL;
	pthread_mutex_unlock(&s->mutex);

	if (w.has_half_life)
		tally_half_life(s->parts.tally, w.half_life_s);
	if (w.reset) {
		tally_reset(s->parts.tally);
		if (s->parts.log)
			log_event(s->parts.log, SPOOL_RESET, now, "");
	}
	if (w.refresh_s > 0)
		s->refresh = (nanoseconds)(w.refresh_s * 1e9);
	s->picture_wish.by_line = w.by_line;
	s->picture_wish.stack_tid = w.stack_tid;
	if (w.picture || w.reset)
		s->next_picture = now;
	if (w.cut_done && s->parts.log)
		log_cut(s->parts.log, w.cut_done, w.cut_context);
}

/* ---- a tick --------------------------------------------------------------------------------------------- */

static enum status renew_names(struct sampler *s)
{
	if (s->parts.log)
		log_renew(s->parts.log);
	enum status status = tally_renew(s->parts.tally, s->parts.names);
	observer_renewed(s->observer);
	return status;
}

static enum status look_and_record(struct sampler *s, const struct tick *when)
{
	enum status status = observer_look(s->observer, when, &s->seen);

	if (status == ST_TOO_BIG) {
		status = renew_names(s);
		s->seen = NULL; /* its ids are of the past */
		if (status == ST_OK)
			status = observer_look(s->observer, when, &s->seen);
	}
	if (status != ST_OK)
		return status;
	status = tally_tick(s->parts.tally, &s->seen->tick, s->seen->samples, s->seen->count);
	if (s->parts.log)
		log_tick(s->parts.log, &s->seen->tick, s->seen->samples, s->seen->count);
	return status;
}

static enum status do_tick(struct sampler *s, nanoseconds now)
{
	struct tick *when = &s->when;
	bool measured = s->pace.interval >= COST_EVERY_BELOW || (s->tick_number++ & 15) == 0;
	nanoseconds before = measured ? clock_read(CLOCK_THREAD_CPUTIME_ID) : 0;

	when->time = now;
	pace_tick(&s->pace, now, &when->weight, &when->gap, &when->missed);
	when->gap += s->lost;
	enum status status = look_and_record(s, when);
	s->lost = status == ST_OK ? 0 : when->weight + when->gap;
	if (measured)
		pace_cost(&s->pace, clock_read(CLOCK_THREAD_CPUTIME_ID) - before);
	return status;
}

/* Sleep, or spin, until the deadline; in between, slices of the picture. Returns the time. */
static nanoseconds wait_for_deadline(struct sampler *s)
{
	nanoseconds now = clock_read(CLOCK_MONOTONIC);
	bool flat_out = s->pace.interval == 0;

	grant_wishes(s, now);
	while (work_on_picture(s, now)) {
		now = clock_read(CLOCK_MONOTONIC);
		if (now + SLICE_ROOM > s->pace.deadline || flat_out)
			break;
	}
	while (!flat_out && now < s->pace.deadline && !stopping(s)) {
		nanoseconds until = s->pace.deadline;
		if (s->pace.interval >= SPIN_BELOW) {
			if (until - now > SLEEP_AT_MOST) {
				until = now + SLEEP_AT_MOST;
				grant_wishes(s, now);
				while (work_on_picture(s, now))
					;
			}
			struct timespec t = { until / SECOND, until % SECOND };
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		}
		now = clock_read(CLOCK_MONOTONIC);
	}
	return now;
}

/* ---- exec ------------------------------------------------------------------------------------------------ */

static enum status open_observer(struct sampler *s)
{
	struct attachment *a = s->parts.attachment;

	return observer_open(&s->observer, &a->process, &a->memory, &a->runtime, s->parts.names,
			     &s->observing);
}

/* Two system calls: asked now and then. */
static bool has_executed(struct sampler *s, nanoseconds now)
{
	if (now - s->exec_checked >= EXEC_CHECK_EVERY) {
		s->exec_checked = now;
		s->executed |= process_executed(&s->parts.attachment->process);
	}
	return s->executed;
}

static void begin_life(struct sampler *s, nanoseconds now)
{
	struct spool_about about;
	s->execs++;
	s->executed = false;
	log_about(&about, s->parts.attachment, s->options.rate_hz, s->options.jitter_percent);
	about.life = s->execs;
	if (s->parts.log) {
		log_event(s->parts.log, SPOOL_EXEC, now, about.command);
		log_new_life(s->parts.log, &about);
	}
}

/* Find everything anew; until that has worked, what was seen last stays as it is. */
static enum status resume(struct sampler *s)
{
	struct observer *before = s->observer;
	enum status status = attach_again(s->parts.attachment);

	if (status == ST_OK)
		status = open_observer(s);
	if (status != ST_OK)
		return status;
	nanoseconds now = clock_read(CLOCK_MONOTONIC);
	s->held_before += observer_held_ns(before);
	observer_bury(before, now);
	observer_close(before);
	s->seen = NULL;
	s->faults = 0;
	s->resumes++;
	if (s->executed)
		begin_life(s, now);
	pace_interrupted(&s->pace, now);
	return ST_OK;
}

/* A tick failed for good: has the target ended, or is it another program now? ST_OK: sampling goes on. */
static enum status follow(struct sampler *s)
{
	nanoseconds begun = clock_read(CLOCK_MONOTONIC);
	struct timespec pause = { 0, REATTACH_EVERY };

	while (!stopping(s)) {
		if (process_alive(&s->parts.attachment->process) != ST_OK)
			return ST_ENDED;
		enum status status = resume(s);
		if (status == ST_OK ||
		    clock_read(CLOCK_MONOTONIC) >= begun + attach_patience(status))
			return status;
		nanosleep(&pause, NULL);
	}
	return ST_OK;
}

/* ---- the thread --------------------------------------------------------------------------------------------- */

static void begin(struct sampler *s)
{
	double rate = s->options.rate_hz;
	enum status status = open_observer(s);
	nanoseconds now = clock_read(CLOCK_MONOTONIC);

	prctl(PR_SET_TIMERSLACK, 1UL);
	atomic_store(&s->started, now);
	pace_start(&s->pace, rate > 0 ? (nanoseconds)(1e9 / rate) : 0, s->options.jitter_percent,
		   (uint64_t)now | 1, now);
	headline_open(&s->headline, now);
	s->next_picture = now + FIRST_PICTURE;
	pthread_mutex_lock(&s->mutex);
	s->has_begun = true;
	s->begin_status = status;
	pthread_cond_signal(&s->begun);
	pthread_mutex_unlock(&s->mutex);
}

/* A tick failed. ST_OK: sampling goes on. */
static enum status recover(struct sampler *s, enum status why)
{
	if (process_alive(&s->parts.attachment->process) != ST_OK)
		return ST_ENDED;
	s->exec_checked = 0;
	/* roots that cannot be read once may be an interpreter list in motion */
	if (why == ST_FAULT && !has_executed(s, clock_read(CLOCK_MONOTONIC)) &&
	    ++s->faults < FAULTS_MAX)
		return ST_OK;
	if (why == ST_NO_MEMORY || s->resumes >= RESUMES_MAX)
		return why;
	return follow(s);
}

static enum status run(struct sampler *s)
{
	while (!stopping(s)) {
		nanoseconds now = wait_for_deadline(s);
		if (stopping(s))
			break;
		enum status status = has_executed(s, now) ? ST_FAULT : do_tick(s, now);
		if (status == ST_OK)
			s->faults = s->resumes = 0;
		else
			status = recover(s, status);
		if (status != ST_OK)
			return status;
	}
	return ST_OK;
}

/* Sampling ended by itself. */
static void end(struct sampler *s, enum status why)
{
	s->why = why;
	s->ended_at = clock_read(CLOCK_MONOTONIC);
	observer_bury(s->observer, s->ended_at);
}

/* Nothing is sampled any more, and wishes are still granted. */
static void serve(struct sampler *s, enum status why)
{
	struct timespec pause = { 0, SLEEP_AT_MOST };

	atomic_store(&s->ended, (int)why); /* told when the last picture is there, not before */
	announce(s);
	while (!stopping(s)) {
		s->next_picture = INT64_MAX;
		grant_wishes(s, s->ended_at);
		while (work_on_picture(s, s->ended_at))
			;
		nanosleep(&pause, NULL);
	}
}

/* The last wish that matters is a cut: somebody waits for it. */
static void fall_deaf(struct sampler *s)
{
	pthread_mutex_lock(&s->mutex);
	struct wishes w = s->wishes;
	s->deaf = true;
	s->wishes.cut_done = NULL;
	pthread_mutex_unlock(&s->mutex);
	if (w.cut_done && s->parts.log)
		log_cut(s->parts.log, w.cut_done, w.cut_context);
}

static void *sampler_main(void *context)
{
	struct sampler *s = context;

	begin(s);
	if (s->begin_status == ST_OK) {
		enum status status = run(s);
		if (status != ST_OK)
			end(s, status);
		finish_picture(s);
		if (status != ST_OK)
			serve(s, status);
	}
	fall_deaf(s);
	observer_close(s->observer);
	announce(s);
	return NULL;
}

enum status sampler_start(struct sampler *s)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&s->thread, NULL, sampler_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		s->deaf = true;
		return ST_NO_MEMORY;
	}
	s->running = true;
	pthread_mutex_lock(&s->mutex);
	while (!s->has_begun)
		pthread_cond_wait(&s->begun, &s->mutex);
	pthread_mutex_unlock(&s->mutex);
	if (s->begin_status != ST_OK)
		sampler_stop(s);
	return s->begin_status;
}

void sampler_stop(struct sampler *s)
{
	if (!s->running)
		return;
	atomic_store(&s->stop, true);
	pthread_join(s->thread, NULL);
	s->running = false;
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	sampler_stop(s);
	pthread_cond_destroy(&s->begun);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

nanoseconds sampler_started(const struct sampler *s)
{
	return atomic_load(&s->started);
}

enum status sampler_ended(const struct sampler *s)
{
	return (enum status)atomic_load(&s->ended);
}

/* ---- wishes of other threads ------------------------------------------------------------------------------- */

static struct wishes *lock_wishes(struct sampler *s)
{
	pthread_mutex_lock(&s->mutex);
	atomic_store_explicit(&s->wished, true, memory_order_relaxed);
	return &s->wishes;
}

void sampler_wish_half_life(struct sampler *s, double seconds)
{
	struct wishes *w = lock_wishes(s);
	w->has_half_life = true;
	w->half_life_s = seconds;
	pthread_mutex_unlock(&s->mutex);
}

void sampler_wish_refresh(struct sampler *s, double seconds)
{
	lock_wishes(s)->refresh_s = seconds;
	pthread_mutex_unlock(&s->mutex);
}

void sampler_wish_by_line(struct sampler *s, bool by_line)
{
	struct wishes *w = lock_wishes(s);
	w->by_line = by_line;
	w->picture = true;
	pthread_mutex_unlock(&s->mutex);
}

void sampler_wish_stack(struct sampler *s, pid_t tid)
{
	struct wishes *w = lock_wishes(s);
	w->stack_tid = tid;
	w->picture = true;
	pthread_mutex_unlock(&s->mutex);
}

void sampler_wish_reset(struct sampler *s)
{
	lock_wishes(s)->reset = true;
	pthread_mutex_unlock(&s->mutex);
}

void sampler_wish_picture(struct sampler *s)
{
	lock_wishes(s)->picture = true;
	pthread_mutex_unlock(&s->mutex);
}

bool sampler_wish_cut(struct sampler *s,
		      void (*done)(void *context, enum status status, struct spool_cut *cut),
		      void *context)
{
	struct wishes *w = lock_wishes(s);
	bool heard = !s->deaf;
	if (heard) {
		w->cut_done = done;
		w->cut_context = context;
	}
	pthread_mutex_unlock(&s->mutex);
	return heard;
}
