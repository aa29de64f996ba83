/*
 * scout: somebody who looks at the parent of gunicorn's or celery's workers sees an idle process. Every few seconds, while the
 * target is idle, its Python descendants are listed in a thread of their own, and the one that used most CPU since the list
 * before is named in the header.
 */
#include "front.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"

#define IDLE_PERCENT 5.0
#define BUSY_PERCENT 10.0
#define EVERY_S 2.0

struct scouting {
	pid_t parent;
	struct pytop_process *before;
	size_t before_count;
	double before_at;
	_Atomic bool running;
	_Atomic int busiest;
	_Atomic unsigned percent_tenths;
	double next_at; /* the reader's */
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t cpu_before(const struct scouting *s, const struct pytop_process *now)
{
	for (size_t i = 0; i < s->before_count; i++)
		if (s->before[i].pid == now->pid && s->before[i].cpu_ns <= now->cpu_ns)
			return s->before[i].cpu_ns;
	return now->cpu_ns;
}

static void look_around(void *context)
{
	struct scouting *s = context;
	struct pytop_process *list = NULL;
	size_t count = 0;
	double now = now_s(), most = 0;
	pid_t busiest = 0;

	if (pytop_processes(s->parent, &list, &count) == ST_OK) {
		for (size_t i = 0; i < count; i++) {
			uint64_t before = cpu_before(s, &list[i]);
			double percent = list[i].cpu_ns > before
						 ? (double)(list[i].cpu_ns - before) / 1e7 /
							   (now - s->before_at)
						 : 0;
			if (percent > most) {
				most = percent;
				busiest = list[i].pid;
			}
		}
		free(s->before);
		s->before = list;
		s->before_count = count;
		s->before_at = now;
	}
	atomic_store(&s->percent_tenths, (unsigned)(most * 10));
	atomic_store(&s->busiest, most >= BUSY_PERCENT ? busiest : 0);
	atomic_store(&s->running, false);
}

enum status front_open_scout(struct pytop *p)
{
	p->scouting = alloc_zero(1, sizeof(*p->scouting));
	if (!p->scouting)
		return ST_NO_MEMORY;
	p->scouting->parent = p->attachment.process.pid;
	p->scouting->before_at = now_s();
	return worker_open(&p->scout);
}

void front_close_scout(struct pytop *p)
{
	worker_close(p->scout);
	if (p->scouting)
		free(p->scouting->before);
	free(p->scouting);
}

void front_scout(struct pytop *p, struct pytop_header *header)
{
	struct scouting *s = p->scouting;

	if (!s || header->target != PYTOP_LIVE)
		return;
	if (header->cpu_percent > IDLE_PERCENT) {
		header->busy_child = 0;
		return;
	}
	double now = now_s();
	if (now >= s->next_at && !atomic_load(&s->running)) {
		s->next_at = now + EVERY_S;
		atomic_store(&s->running, true);
		p->scout_job = (struct worker_job){ look_around, s, NULL };
		worker_post(p->scout, &p->scout_job);
	}
	header->busy_child = atomic_load(&s->busiest);
	header->busy_child_percent = atomic_load(&s->percent_tenths) / 10.0;
}
