/*
 * replay_threads: who is who in a log: its numbers of threads are the same in every segment, and
 * each stands for one thread of the replay's names.
 *
 * A segment defines a thread before it uses it, and says it again when it was renamed or died. A
 * thread for which names has no room is kept too, since its rows must be read over, but is never
 * seen.
 */
#include "record/replay_threads.h"

#include <stdlib.h>

#include "base/alloc.h"

#define THREAD_COLUMN(c) (&columns[SPOOL_THREADS_##c - SPOOL_THREADS_ID])
#define TIME_US_MAX (INT64_C(1) << 52) /* 142 years */
#define US 1000
#define SYSCALL_NONE (-1)

void replay_threads_open(struct replay_threads *r, struct names *names,
			 const struct replay_define *define)
{
	*r = (struct replay_threads){ .names = names, .define = define, .seed = index_seed() };
}

void replay_threads_close(struct replay_threads *r)
{
	free(r->row);
	index_clear(&r->by_id);
}

void replay_threads_close_row(struct replay_thread *t)
{
	t->seen = false;
	t->number = 0;
	t->open = (struct sample){ .thread = t->id, .syscall = SYSCALL_NONE };
}

void replay_threads_clear(struct replay_threads *r)
{
	for (size_t i = 0; i < r->count; i++) {
		replay_threads_close_row(&r->row[i]);
		r->row[i].defined = false;
		r->row[i].place = 0;
	}
}

struct replay_thread *replay_threads_find(const struct replay_threads *r, uint32_t log_id)
{
	uint32_t hash = index_hash(log_id, 0, r->seed), found;

	for (size_t at = index_start(&r->by_id, hash); (found = index_id(&r->by_id, at));
	     at = index_next(&r->by_id, at)) {
		if (index_is(&r->by_id, at, hash) && r->row[found - 1].log_id == log_id)
			return &r->row[found - 1];
	}
	return NULL;
}

static enum status add_thread(struct replay_threads *r, uint32_t log_id,
			      const struct name_thread *is, struct replay_thread **thread)
{
	void *items = r->row;
	struct replay_thread *t;
	enum status st =
		alloc_grow(&items, &r->capacity, r->count + 1, NAMES_THREADS_MAX, sizeof(*r->row));

	r->row = items;
	if (st != ST_OK)
		return st;
	t = &r->row[r->count];
	*t = (struct replay_thread){ .log_id = log_id };
	st = names_thread(r->names, is, &t->id);
	if (st == ST_TOO_BIG) {
		r->left_out++;
		st = ST_OK;
	}
	if (st == ST_OK)
		st = index_add(&r->by_id, index_hash(log_id, 0, r->seed), (uint32_t)r->count + 1);
	if (st != ST_OK)
		return st;
	replay_threads_close_row(t);
	r->count++;
	*thread = t;
	return ST_OK;
}

static enum status take_thread(struct replay_threads *r, struct cursor *columns)
{
	uint64_t log_id = cursor_varint(THREAD_COLUMN(ID));
	int64_t tid = cursor_svarint(THREAD_COLUMN(TID));
	uint64_t name = cursor_varint(THREAD_COLUMN(NAME));
	struct name_thread is = {
		.tid = (pid_t)tid,
		.interpreter = cursor_svarint(THREAD_COLUMN(INTERPRETER)),
	};
	int64_t born = cursor_svarint(THREAD_COLUMN(BORN));
	int64_t died = cursor_svarint(THREAD_COLUMN(DIED));
	struct replay_thread *thread;
	enum status st = ST_OK;

	is.main = cursor_varint(THREAD_COLUMN(FLAGS)) & 1;
	if (columns[0].overrun || !log_id || log_id > UINT32_MAX || tid < 0 || tid > INT32_MAX ||
	    born < 0 || born > TIME_US_MAX || died < 0 || died > TIME_US_MAX ||
	    (name && !replay_id(&r->define->strings, name, &is.name)))
		return ST_BAD_DATA;
	is.born = born * US;
	is.died = died * US;
	thread = replay_threads_find(r, (uint32_t)log_id);
	if (!thread)
		st = add_thread(r, (uint32_t)log_id, &is, &thread);
	if (st != ST_OK)
		return st == ST_TOO_BIG ? ST_BAD_DATA : st;
	thread->defined = true;
	names_thread_renamed(r->names, thread->id, is.name);
	names_thread_died(r->names, thread->id, is.died);
	return ST_OK;
}

enum status replay_threads_block(struct replay_threads *r, const struct block_layout *layout,
				 const struct spool_block *block, struct bytes payload)
{
	struct cursor c = cursor_over(payload), columns[BLOCK_COLUMNS_MAX];
	uint32_t sizes[BLOCK_COLUMNS_MAX];
	enum status st = ST_OK;

	if (!block_sizes(&c, layout, SPOOL_THREADS, sizes) ||
	    !block_split(&c, layout, SPOOL_THREADS, sizes, columns))
		return ST_BAD_DATA;
	for (uint32_t i = 0; i < block->rows && st == ST_OK; i++)
		st = take_thread(r, columns);
	return st;
}
