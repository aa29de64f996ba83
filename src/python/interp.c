/*
 * interp: the look: plan, one reading, and what follows from it.
 *
 * The batch of a tick is [roots][interpreters][thread after thread: stack, state, stack again]. Then the lists are
 * compared with what is known, those that changed are walked, and each thread's stack is settled; all further
 * readings are one thread's or one list's own.
 *
 * A thread that sleeps need not be read, and with a thousand of them it should not: a thread state leaves the
 * list only when its thread runs, and that shows in the `next` of the one before it. So of sleepers only those
 * before a thread that is awake are read, and every one now and then.
 *
 * Invariant: after a look every thread of the order is in by_tstate, and interp indexes are right; after a failed
 * look the next one lists everything anew. Called by the sampler and by --dump.
 */
#include "python/interp.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "python/copies.h"
#include "python/exceptions.h"
#include "python/interps.h"
#include "python/stack.h"
#include "python/threads.h"

#define WALKS_MAX 4      /* walks of a thread list that changes under them */
#define READ_EVERY 64    /* looks between two readings of a sleeper's thread state */
#define LEARN_THREADS 64 /* threads that tell where the kernel's id is */
#define TIDS_LIMIT 65536

struct interp_reader {
	struct py_runtime *runtime; /* borrowed */
	struct memory *memory;      /* borrowed */
	struct batch batch;
	struct interps interps;
	struct threads threads;
	struct stack_reader stacks;
	struct exceptions exceptions;
	struct py_look look;
	uint32_t number; /* of this look; 0 is never one */
	bool stale;      /* the last look failed half way: which thread is where is not known */
	int32_t *tids;
	size_t tid_count, tid_capacity;
};

enum status interp_open(struct interp_reader **reader, struct py_runtime *runtime,
			struct memory *memory)
{
	struct interp_reader *r = alloc_zero(1, sizeof(*r));
	enum status status;

	if (!r)
		return ST_NO_MEMORY;
	r->runtime = runtime;
	r->memory = memory;
	status = interps_open(&r->interps, runtime);
	if (status == ST_OK)
		status = stack_reader_open(&r->stacks, &runtime->layout, memory);
	if (status != ST_OK) {
		free(r);
		return status;
	}
	*reader = r;
	return ST_OK;
}

void interp_close(struct interp_reader *reader)
{
	if (!reader)
		return;
	threads_free(&reader->threads);
	interps_free(&reader->interps);
	stack_reader_close(&reader->stacks);
	batch_free(&reader->batch);
	free(reader->tids);
	free(reader);
}

void interp_give_tids(struct interp_reader *reader, const int32_t *tids, size_t n)
{
	void *items = reader->tids;

	if (n > TIDS_LIMIT)
		n = TIDS_LIMIT;
	if (alloc_grow(&items, &reader->tid_capacity, n, TIDS_LIMIT, sizeof(*tids)) != ST_OK)
		return;
	reader->tids = items;
	if (n)
		memcpy(reader->tids, tids, n * sizeof(*tids));
	reader->tid_count = n;
}

/* Its stack is read with this look's batch. */
static bool is_awake(const struct thread_node *node)
{
	return !node->pub.asleep || !node->memo.settled;
}

static void plan_threads(struct interp_reader *r)
{
	const struct threads *threads = &r->threads;
	bool next_awake = false;

	for (size_t i = threads->count; i-- > 0;) {
		struct thread_node *node = threads_node(threads->order[i]);
		bool awake = is_awake(node);

		if (awake || next_awake || (r->number + i) % READ_EVERY == 0) {
			node->read = r->number;
			node->whole = awake;
		}
		next_awake = awake;
	}
	for (size_t i = 0; i < threads->count; i++) {
		struct thread_node *node = threads_node(threads->order[i]);

		if (node->read == r->number)
			stack_plan(&r->stacks, &node->memo, &r->batch, node->pub.tstate,
				   node->whole);
	}
}

/* The thread state of a thread in the batch: still this thread's. */
static bool is_intact(const struct interp_reader *r, const struct thread_node *node,
		      remote_addr interp)
{
	const struct py_layout *layout = &r->runtime->layout;
	const uint8_t *state = node->memo.copies.count ? node->memo.copies.items[0].first : NULL;

	return state && copies_word(state + layout->tstate.interp) == interp &&
	       threads_same(&node->pub, layout, state);
}

/* An interpreter's thread list is as it was, as far as it was read. */
static bool list_holds(struct interp_reader *r, const struct interp_node *interp)
{
	struct py_thread **order = interp->count ? r->threads.order + interp->first : NULL;
	remote_addr first = order ? order[0]->tstate : 0;
	uint32_t next = r->runtime->layout.tstate.next;
	bool holds = !interp->unlisted && interp->head == first;

	for (size_t i = 0; i < interp->count; i++) {
		struct thread_node *node = threads_node(order[i]);
		remote_addr expected = i + 1 < interp->count ? order[i + 1]->tstate : 0;

		if (node->read != r->number)
			continue;
		stack_tstate(&node->memo, &r->batch);
		if (holds && (!is_intact(r, node, interp->address) ||
			      copies_word(node->memo.copies.items[0].first + next) != expected))
			holds = false;
	}
	return holds;
}

/* The threads of one interpreter stay as they are known. */
static enum status carry(struct interp_reader *r, const struct interp_node *interp)
{
	if (!interp->count)
		return ST_OK;
	return threads_carry(&r->threads, r->threads.order + interp->first, interp->count,
			     r->number);
}

/* Walk the list of one interpreter; one that never holds still stays as it is known. */
static enum status relist(struct interp_reader *r, struct interp_node *interp)
{
	struct py_thread **old = interp->count ? r->threads.order + interp->first : NULL;
	remote_addr head_at = interp->address + r->runtime->layout.interp.threads_head;
	enum status status = ST_TORN;

	for (unsigned i = 0; i < WALKS_MAX && status == ST_TORN; i++)
		status = threads_walk(&r->threads, &r->stacks, head_at, interp->address, old,
				      interp->count);
	interp->unlisted = status == ST_TORN;
	return status == ST_TORN ? carry(r, interp) : status;
}

/* Compare all lists, walk those that changed. */
static enum status take_lists(struct interp_reader *r, bool relisted)
{
	struct interps *interps = &r->interps;
	struct threads *threads = &r->threads;
	bool changed = relisted;

	for (size_t i = 0; i < interps->count; i++) {
		struct interp_node *interp = &interps->nodes[i];

		if (r->stale)
			interp->first = interp->count = 0;
		interp->unlisted = r->stale || !list_holds(r, interp);
		changed |= interp->unlisted;
	}
	if (!changed)
		return ST_OK;
	r->stale = true;
	threads->next_count = 0;
	for (size_t i = 0; i < interps->count; i++) {
		struct interp_node *interp = &interps->nodes[i];
		size_t from = threads->next_count;
		enum status status;

		if (interp->unlisted)
			status = relist(r, interp);
		else
			status = carry(r, interp);
		if (status != ST_OK)
			return status;
		interp->first = from;
		interp->count = threads->next_count - from;
		for (size_t k = from; k < threads->next_count; k++)
			threads->next_order[k]->interp = (uint32_t)i;
	}
	enum status status = threads_commit(threads, r->number);

	r->stale = status != ST_OK;
	return status;
}

/* One thread: its stack, and what its state says. */
static enum status take_thread(struct interp_reader *r, struct thread_node *node)
{
	const struct interp_node *interp = &r->interps.nodes[node->pub.interp];
	const struct py_layout *layout = &r->runtime->layout;
	struct py_thread *thread = &node->pub;
	bool sleeps = thread->asleep && node->memo.settled;
	const uint8_t *state;
	enum status status;

	thread->holds_gil = thread->tstate == r->interps.pubs[thread->interp].gil.holder;
	if (sleeps && node->read != r->number) {
		thread->stack.state = PY_STACK_UNCHANGED;
		thread->stack.tries = 0;
		thread->stack.kept = thread->stack.depth;
		return ST_OK;
	}
	if (node->read != r->number || !is_intact(r, node, interp->address))
		status = stack_read_now(&r->stacks, &node->memo, thread->tstate, interp->address,
					&thread->stack);
	else if (node->whole)
		status = stack_take(&r->stacks, &node->memo, thread->tstate, interp->address,
				    &thread->stack);
	else
		status = stack_check(&r->stacks, &node->memo, thread->tstate, interp->address,
				     &thread->stack);
	if (status != ST_OK)
		return status;
	state = node->memo.copies.items[0].first;
	if (thread->stack.state == PY_STACK_UNCHANGED || !is_intact(r, node, interp->address))
		return ST_OK;
	threads_take_state(thread, layout, state);
	thread->raising = exceptions_raising(layout, state);
	thread->handling =
		exceptions_handling(&r->exceptions, &r->stacks, &node->memo, thread->handling);
	return ST_OK;
}

/* <= 3.10: where the kernel's id lies in a thread's control block. */
static void learn_tids(struct interp_reader *r)
{
	uint64_t pthreads[LEARN_THREADS];
	size_t n = 0;

	for (size_t i = 0; i < r->threads.count && n < LEARN_THREADS; i++) {
		if (r->threads.order[i]->thread_id)
			pthreads[n++] = r->threads.order[i]->thread_id;
	}
	if (n && r->tid_count &&
	    runtime_learn_tid(r->runtime, r->memory, pthreads, n, r->tids, r->tid_count) == ST_OK)
		r->tid_count = 0;
}

/* <= 3.10: the kernel's id of a thread. */
static void find_tid(struct interp_reader *r, struct py_thread *thread)
{
	int32_t tid;

	if (r->runtime->tid_offset == LAYOUT_NONE)
		learn_tids(r);
	if (r->runtime->tid_offset == LAYOUT_NONE)
		return;
	if (memory_read(r->memory, thread->thread_id + r->runtime->tid_offset, &tid, sizeof(tid)) ==
		    ST_OK &&
	    tid > 0)
		thread->native_id = tid;
}

static enum status take(struct interp_reader *r)
{
	bool old_ids = r->runtime->layout.tstate.native_thread_id == LAYOUT_NONE;
	bool relisted = false;
	enum status status = interps_take(&r->interps, &r->batch, &r->stacks.again, r->memory,
					  r->number, &relisted);

	if (status == ST_OK)
		status = take_lists(r, relisted);
	if (r->stale)
		r->threads.count = 0;
	for (size_t i = 0; i < r->threads.count && status == ST_OK; i++) {
		struct py_thread *thread = r->threads.order[i];

		status = take_thread(r, threads_node(thread));
		if (old_ids && !thread->native_id && thread->thread_id)
			find_tid(r, thread);
	}
	return status;
}

enum status interp_look(struct interp_reader *reader, const struct py_look **look)
{
	struct interp_reader *r = reader;
	enum status status;

	if (++r->number == 0)
		r->number = 1;
	r->stacks.look = r->number;
	r->stacks.retried = 0;
	threads_begin(&r->threads);
	batch_clear(&r->batch);
	interps_plan(&r->interps, &r->batch, r->number);
	plan_threads(r);
	status = batch_read(&r->batch, r->memory);
	if (status == ST_OK)
		status = take(r);
	if (status != ST_OK)
		return status;
	r->look = (struct py_look){
		.interps = r->interps.pubs,
		.interp_count = r->interps.count,
		.threads = r->threads.order,
		.thread_count = r->threads.count,
		.gone = r->threads.gone,
		.gone_count = r->threads.gone_count,
		.retried = r->stacks.retried,
		.finalizing = r->interps.finalizing,
	};
	*look = &r->look;
	return ST_OK;
}
