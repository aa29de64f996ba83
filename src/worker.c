/*
 * worker: one thread, one queue.
 *
 * Two of them exist: one writes the log's sealed buffers, one writes exports. The mutex guards the
 * queue's two ends only and is never held while a job runs, so posting costs the sampler no tick. All signals are
 * blocked in the thread: they are the UI's.
 */
#include "worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

struct worker {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t posted, idle;
	struct worker_job *first, **last;
	bool running_job;
	bool closing;
};

static void *worker_main(void *context)
{
	struct worker *w = context;

	pthread_mutex_lock(&w->mutex);
	for (;;) {
		while (!w->first && !w->closing)
			pthread_cond_wait(&w->posted, &w->mutex);
		if (!w->first)
			break;
		struct worker_job *job = w->first;
		w->first = job->next;
		if (!w->first)
			w->last = &w->first;
		w->running_job = true;
		pthread_mutex_unlock(&w->mutex);
		job->run(job->context);
		pthread_mutex_lock(&w->mutex);
		w->running_job = false;
		if (!w->first)
			pthread_cond_broadcast(&w->idle);
	}
	pthread_mutex_unlock(&w->mutex);
	return NULL;
}

enum status worker_open(struct worker **worker)
{
	struct worker *w = alloc_zero(1, sizeof(*w));
	if (!w)
		return ST_NO_MEMORY;
	w->last = &w->first;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->posted, NULL);
	pthread_cond_init(&w->idle, NULL);

	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&w->thread, NULL, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		pthread_cond_destroy(&w->idle);
		pthread_cond_destroy(&w->posted);
		pthread_mutex_destroy(&w->mutex);
		free(w);
		return ST_NO_MEMORY;
	}
	*worker = w;
	return ST_OK;
}

void worker_post(struct worker *w, struct worker_job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&w->mutex);
	*w->last = job;
	w->last = &job->next;
	pthread_cond_signal(&w->posted);
	pthread_mutex_unlock(&w->mutex);
}

void worker_drain(struct worker *w)
{
	pthread_mutex_lock(&w->mutex);
	while (w->first || w->running_job)
		pthread_cond_wait(&w->idle, &w->mutex);
	pthread_mutex_unlock(&w->mutex);
}

void worker_close(struct worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->mutex);
	w->closing = true;
	pthread_cond_signal(&w->posted);
	pthread_mutex_unlock(&w->mutex);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->idle);
	pthread_cond_destroy(&w->posted);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
