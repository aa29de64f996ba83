/*
 * worker: a background thread with a queue of jobs, done in the order in which they came.
 */
#ifndef PYTOP_WORKER_H
#define PYTOP_WORKER_H

#include "base/status.h"

struct worker;

/* Memory of the poster; must live until run returns. */
struct worker_job {
	void (*run)(void *context);
	void *context;
	struct worker_job *next;
};

enum status worker_open(struct worker **worker) MUST_CHECK;
/* Never waits longer than another post or the taking of one job. */
void worker_post(struct worker *worker, struct worker_job *job);
/* Wait until everything posted so far is done. */
void worker_drain(struct worker *worker);
/* Finish what is queued, then end. */
void worker_close(struct worker *worker);

#endif
