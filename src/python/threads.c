/*
 * threads: the lists of thread states, walked anew when something in them has changed.
 *
 * Invariant: a struct py_thread stays at its address while its thread state lives; by_tstate holds
 * those in order and no others (between threads_commit() calls). A freed thread state's memory is soon given to the
 * next thread, so the same address with other ids is another thread. New threads come in at the head; a thread state
 * that is not bound yet has no ids, and getting them does not make it another one.
 *
 * The list may change while it is walked: every node must belong to the interpreter, none may come twice, the
 * length is bounded; else the walk is torn and its caller tries again or keeps what it had.
 *
 * Called by interp.c.
 */
#include "python/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "python/copies.h"
#include "python/frames.h"

#define SPARE_MAX 64 /* nodes kept for threads to come */

static uint64_t field(const uint8_t *tstate, const struct py_layout *layout, uint32_t offset)
{
	if (offset == LAYOUT_NONE || offset + 8 > layout->tstate.size)
		return 0;
	return copies_word(tstate + offset);
}

static uint32_t int_field(const uint8_t *tstate, const struct py_layout *layout, uint32_t offset)
{
	uint32_t v = 0;

	if (offset != LAYOUT_NONE && offset + 4 <= layout->tstate.size)
		memcpy(&v, tstate + offset, sizeof(v));
	return v;
}

static void node_free(struct thread_node *node)
{
	stack_memo_free(&node->memo);
	free(node->pub.stack.frames);
	free(node);
}

void threads_free(struct threads *threads)
{
	struct thread_node *node, *next;

	HASH_ITER (hh, threads->by_tstate, node, next) {
		HASH_DEL(threads->by_tstate, node);
		node_free(node);
	}
	for (size_t i = 0; i < threads->gone_count; i++)
		node_free(threads_node(threads->gone[i]));
	for (; threads->spare; threads->spare = next) {
		next = threads->spare->next_spare;
		node_free(threads->spare);
	}
	free(threads->order);
	free(threads->next_order);
	free(threads->gone);
	*threads = (struct threads){ 0 };
}

void threads_begin(struct threads *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		threads->order[i]->is_new = false;
	for (size_t i = 0; i < threads->gone_count; i++) {
		struct thread_node *node = threads_node(threads->gone[i]);

		if (threads->spare_count == SPARE_MAX) {
			node_free(node);
			continue;
		}
		node->next_spare = threads->spare;
		threads->spare = node;
		threads->spare_count++;
	}
	threads->gone_count = 0;
}

static enum status append(struct py_thread ***list, size_t *count, size_t *capacity,
			  struct py_thread *thread)
{
	void *items = *list;
	enum status status =
		alloc_grow(&items, capacity, *count + 1, INTERP_THREAD_LIMIT, sizeof(**list));

	*list = items;
	if (status == ST_OK)
		(*list)[(*count)++] = thread;
	return status;
}

/* A node for a thread not seen before, not yet in by_tstate. */
static struct thread_node *node_new(struct threads *threads, remote_addr tstate)
{
	struct thread_node *node = threads->spare;
	struct py_frame *frames;

	if (node) {
		threads->spare = node->next_spare;
		threads->spare_count--;
	} else {
		node = alloc_zero(1, sizeof(*node));
		if (!node)
			return NULL;
	}
	frames = node->pub.stack.frames;
	stack_memo_reset(&node->memo);
	node->pub = (struct py_thread){ .tstate = tstate, .attach = UINT8_MAX, .is_new = true };
	node->pub.stack.frames = frames;
	node->pub.memo = node;
	node->read = 0;
	node->listed = 0;
	node->whole = false;
	return node;
}

bool threads_same(const struct py_thread *thread, const struct py_layout *layout,
		  const uint8_t *tstate)
{
	uint64_t thread_id = field(tstate, layout, layout->tstate.thread_id);
	uint64_t native_id = field(tstate, layout, layout->tstate.native_thread_id);

	if (thread->thread_id && thread->thread_id != thread_id)
		return false;
	return layout->tstate.native_thread_id == LAYOUT_NONE || !thread->native_id ||
	       thread->native_id == (int64_t)native_id;
}

void threads_take_state(struct py_thread *thread, const struct py_layout *layout,
			const uint8_t *tstate)
{
	thread->thread_id = field(tstate, layout, layout->tstate.thread_id);
	if (layout->tstate.native_thread_id != LAYOUT_NONE)
		thread->native_id = (int64_t)field(tstate, layout, layout->tstate.native_thread_id);
	thread->gil_requested = layout->tstate.gil_requested != LAYOUT_NONE &&
				int_field(tstate, layout, layout->tstate.gil_requested) != 0;
	if (layout->version.free_threaded && layout->tstate.state != LAYOUT_NONE) {
		uint32_t state = int_field(tstate, layout, layout->tstate.state);

		thread->attach = state <= 2 ? (uint8_t)state : UINT8_MAX;
	}
}

/* The thread states that are known, read in one go with the head before them. */
static enum status read_known(struct stack_reader *reader, remote_addr head_at,
			      struct py_thread *const *old, size_t old_count)
{
	batch_clear(&reader->again);
	batch_add(&reader->again, head_at, 8);
	for (size_t i = 0; i < old_count; i++)
		batch_add(&reader->again, old[i]->tstate, reader->layout->tstate.size);
	reader->retried++;
	return batch_read(&reader->again, reader->memory);
}

struct thread_walk {
	struct threads *threads;
	struct stack_reader *reader;
	remote_addr interp;
	struct py_thread *const *old;
	size_t old_count;
	size_t hint; /* where in old the next one is likely */
};

/* The bytes of a thread state: from the bulk, else read alone into raw. */
static const uint8_t *walk_bytes(struct thread_walk *walk, remote_addr tstate, uint8_t *raw,
				 enum status *status)
{
	const struct thread_node *node;
	size_t at = walk->hint;

	HASH_FIND(hh, walk->threads->by_tstate, &tstate, sizeof(tstate), node);
	while (node && at < walk->old_count && walk->old[at] != &node->pub)
		at++;
	if (!node)
		at = walk->old_count;
	*status = ST_OK;
	if (at < walk->old_count) {
		walk->hint = at + 1;
		return batch_bytes(&walk->reader->again, (uint32_t)at + 1);
	}
	*status = memory_read(walk->reader->memory, tstate, raw, walk->reader->layout->tstate.size);
	return *status == ST_OK ? raw : NULL;
}

/* The node of a thread state that is in the list: the one known, or a new one. */
static enum status walk_node(struct thread_walk *walk, remote_addr tstate, const uint8_t *bytes)
{
	struct threads *threads = walk->threads;
	const struct py_layout *layout = walk->reader->layout;
	struct thread_node *node;
	enum status status;

	HASH_FIND(hh, threads->by_tstate, &tstate, sizeof(tstate), node);
	if (node && node->listed == walk->reader->look)
		return ST_TORN;
	if (node && !threads_same(&node->pub, layout, bytes)) {
		status = append(&threads->gone, &threads->gone_count, &threads->gone_capacity,
				&node->pub);
		if (status != ST_OK)
			return status;
		HASH_DEL(threads->by_tstate, node);
		node = NULL;
	}
	if (!node) {
		node = node_new(threads, tstate);
		if (!node)
			return ST_NO_MEMORY;
		HASH_ADD(hh, threads->by_tstate, pub.tstate, sizeof(node->pub.tstate), node);
		threads_take_state(&node->pub, layout, bytes);
	}
	node->listed = walk->reader->look;
	return append(&threads->next_order, &threads->next_count, &threads->next_capacity,
		      &node->pub);
}

/* Take a torn walk back: its nodes may be listed again. */
static void walk_undo(struct threads *threads, size_t from)
{
	for (size_t i = from; i < threads->next_count; i++)
		threads_node(threads->next_order[i])->listed = 0;
	threads->next_count = from;
}

enum status threads_walk(struct threads *threads, struct stack_reader *reader, remote_addr head_at,
			 remote_addr interp, struct py_thread *const *old, size_t old_count)
{
	const struct py_layout *layout = reader->layout;
	struct thread_walk walk = { threads, reader, interp, old, old_count, 0 };
	size_t from = threads->next_count;
	uint8_t raw[4096];
	enum status status = read_known(reader, head_at, old, old_count);
	const uint8_t *bytes = status == ST_OK ? batch_bytes(&reader->again, 0) : NULL;
	remote_addr tstate = bytes ? copies_word(bytes) : 0;

	if (status == ST_OK && !bytes)
		status = ST_TORN;
	while (status == ST_OK && tstate) {
		if (!frames_address_fits(tstate)) {
			status = ST_TORN;
			break;
		}
		bytes = walk_bytes(&walk, tstate, raw, &status);
		if (!bytes || copies_word(bytes + layout->tstate.interp) != interp) {
			status = status == ST_ENDED || status == ST_DENIED ? status : ST_TORN;
			break;
		}
		status = walk_node(&walk, tstate, bytes);
		tstate = copies_word(bytes + layout->tstate.next);
	}
	if (status == ST_TOO_BIG)
		return ST_OK; /* more threads than pytop shows */
	if (status != ST_OK)
		walk_undo(threads, from);
	return status;
}

enum status threads_carry(struct threads *threads, struct py_thread *const *old, size_t count,
			  uint32_t look)
{
	for (size_t i = 0; i < count; i++) {
		struct thread_node *node = threads_node(old[i]);
		struct thread_node *known;
		enum status status;

		HASH_FIND(hh, threads->by_tstate, &node->pub.tstate, sizeof(node->pub.tstate),
			  known);
		if (known != node || node->listed == look)
			continue;
		node->listed = look;
		status = append(&threads->next_order, &threads->next_count, &threads->next_capacity,
				&node->pub);
		if (status != ST_OK)
			return status;
	}
	return ST_OK;
}

enum status threads_commit(struct threads *threads, uint32_t look)
{
	struct py_thread **order = threads->order;
	size_t capacity = threads->capacity;
	struct thread_node *node, *next;

	HASH_ITER (hh, threads->by_tstate, node, next) {
		enum status status;

		if (node->listed == look)
			continue;
		if (node->pub
			    .is_new) { /* met in a walk that came to nothing: nobody was told of it */
			HASH_DEL(threads->by_tstate, node);
			node_free(node);
			continue;
		}
		status = append(&threads->gone, &threads->gone_count, &threads->gone_capacity,
				&node->pub);
		if (status != ST_OK)
			return status;
		HASH_DEL(threads->by_tstate, node);
	}
	threads->order = threads->next_order;
	threads->count = threads->next_count;
	threads->capacity = threads->next_capacity;
	threads->next_order = order;
	threads->next_capacity = capacity;
	threads->next_count = 0;
	return ST_OK;
}
