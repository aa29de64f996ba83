/* Jobs are done once, in the order in which they came, whoever posts them, and none is lost at the end. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "worker.h"

#define JOBS 2000
#define POSTERS 4

struct numbered {
	struct worker_job job;
	int number;
	struct record *record;
};

/* Written by the worker's thread alone; read after a drain or a close. */
struct record {
	int order[JOBS * POSTERS];
	int count;
};

static void note(void *context)
{
	struct numbered *n = context;

	n->record->order[n->record->count++] = n->number;
}

static struct worker *opened(void)
{
	struct worker *w = NULL;

	ck_assert_int_eq(worker_open(&w), ST_OK);
	return w;
}

START_TEST(in_order)
{
	static struct numbered jobs[JOBS];
	static struct record record;
	struct worker *w = opened();

	for (int i = 0; i < JOBS; i++) {
		jobs[i] = (struct numbered){ { note, &jobs[i], NULL }, i, &record };
		worker_post(w, &jobs[i].job);
	}
	worker_drain(w);
	ck_assert_int_eq(record.count, JOBS);
	for (int i = 0; i < JOBS; i++)
		ck_assert_int_eq(record.order[i], i);
	worker_close(w);
}
END_TEST

START_TEST(close_finishes_what_is_queued)
{
	static struct numbered jobs[JOBS];
	static struct record record;
	struct worker *w = opened();

	for (int i = 0; i < JOBS; i++) {
		jobs[i] = (struct numbered){ { note, &jobs[i], NULL }, i, &record };
		worker_post(w, &jobs[i].job);
	}
	worker_close(w);
	ck_assert_int_eq(record.count, JOBS);
}
END_TEST

struct poster {
	pthread_t thread;
	struct worker *worker;
	struct numbered jobs[JOBS];
};

static void *post_all(void *context)
{
	struct poster *p = context;

	for (int i = 0; i < JOBS; i++)
		worker_post(p->worker, &p->jobs[i].job);
	return NULL;
}

/* Of each poster all jobs arrive, in its order. */
START_TEST(many_posters)
{
	static struct poster posters[POSTERS];
	static struct record record;
	struct worker *w = opened();
	int next[POSTERS] = { 0 };

	for (int p = 0; p < POSTERS; p++) {
		posters[p].worker = w;
		for (int i = 0; i < JOBS; i++)
			posters[p].jobs[i] = (struct numbered){ { note, &posters[p].jobs[i], NULL },
								p * JOBS + i,
								&record };
		ck_assert_int_eq(pthread_create(&posters[p].thread, NULL, post_all, &posters[p]),
				 0);
	}
	for (int p = 0; p < POSTERS; p++)
		pthread_join(posters[p].thread, NULL);
	worker_drain(w);
	ck_assert_int_eq(record.count, JOBS * POSTERS);
	for (int i = 0; i < JOBS * POSTERS; i++)
		ck_assert_int_eq(record.order[i] % JOBS, next[record.order[i] / JOBS]++);
	worker_close(w);
}
END_TEST

struct gate {
	struct worker_job job;
	_Atomic bool begun, open, ended;
};

static void wait_at(void *context)
{
	struct gate *g = context;
	struct timespec pause = { 0, 1000000 };

	atomic_store(&g->begun, true);
	while (!atomic_load(&g->open))
		nanosleep(&pause, NULL);
	atomic_store(&g->ended, true);
}

/* A job may be posted while one runs, even by the job itself's owner at once after it; draining waits for the running one. */
START_TEST(drain_waits_for_the_one_that_runs)
{
	struct worker *w = opened();
	struct gate g = { .job = { wait_at, &g, NULL } };
	struct timespec pause = { 0, 1000000 };

	worker_post(w, &g.job);
	while (!atomic_load(&g.begun))
		nanosleep(&pause, NULL);
	ck_assert(!atomic_load(&g.ended));
	atomic_store(&g.open, true);
	worker_drain(w);
	ck_assert(atomic_load(&g.ended));
	worker_drain(w); /* nothing to wait for */
	worker_close(w);
}
END_TEST

static void note_mask(void *context)
{
	pthread_sigmask(SIG_BLOCK, NULL, context);
}

/* Signals are the screen's. */
START_TEST(no_signals)
{
	struct worker *w = opened();
	sigset_t mask;
	struct worker_job job = { note_mask, &mask, NULL };

	sigemptyset(&mask);
	worker_post(w, &job);
	worker_close(w);
	ck_assert(sigismember(&mask, SIGINT));
	ck_assert(sigismember(&mask, SIGTERM));
	ck_assert(sigismember(&mask, SIGWINCH));
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	ck_assert(!sigismember(&mask, SIGINT));
}
END_TEST

START_TEST(close_of_nothing)
{
	worker_close(NULL);
}
END_TEST

UNIT_MAIN("worker", in_order, close_finishes_what_is_queued, many_posters,
	  drain_waits_for_the_one_that_runs, no_signals, close_of_nothing)
