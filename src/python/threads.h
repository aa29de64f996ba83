/*
 * threads: the thread states of all interpreters, in list order, each with what is remembered of it.
 */
#ifndef PYTOP_PYTHON_THREADS_H
#define PYTOP_PYTHON_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uthash.h>

#include "base/status.h"
#include "python/batch.h"
#include "python/interp.h"
#include "python/stack.h"
#include "target/memory.h"

struct thread_node {
	struct py_thread pub; /* first, so that the one is the other */
	struct stack_memo memo;
	UT_hash_handle hh;
	uint32_t listed; /* the look that last found it in a list */
	uint32_t read;   /* the look whose batch holds its thread state */
	bool whole;      /* that batch holds its stack too */
	struct thread_node *next_spare;
};

struct threads {
	struct thread_node *by_tstate;
	struct py_thread **order; /* interpreter after interpreter */
	size_t count, capacity;
	struct py_thread **next_order; /* being made */
	size_t next_count, next_capacity;
	struct py_thread **gone;
	size_t gone_count, gone_capacity;
	struct thread_node *spare;
	size_t spare_count;
};

static inline struct thread_node *threads_node(struct py_thread *thread)
{
	return (struct thread_node *)thread;
}

void threads_free(struct threads *threads);

/* At the start of a look: those that were gone at the last are freed, and nobody is new. */
void threads_begin(struct threads *threads);

/*
 * Walk an interpreter's list from its head and append it to next_order. old: its threads as known, which are read in
 * bulk. ST_TORN when the list moved under the walk, nothing is appended then; ST_ENDED, ST_DENIED, ST_NO_MEMORY.
 */
enum status threads_walk(struct threads *threads, struct stack_reader *reader, remote_addr head_at,
			 remote_addr interp, struct py_thread *const *old,
			 size_t old_count) MUST_CHECK;

/* Append threads as they are known. */
enum status threads_carry(struct threads *threads, struct py_thread *const *old, size_t count,
			  uint32_t look) MUST_CHECK;

/* next_order is complete: it becomes the order, and who is not in it is gone. */
enum status threads_commit(struct threads *threads, uint32_t look) MUST_CHECK;

/* The thread state (its bytes) is still that of the thread known at its address. */
bool threads_same(const struct py_thread *thread, const struct py_layout *layout,
		  const uint8_t *tstate);

/* Take over what the thread state says of itself: ids, flags. */
void threads_take_state(struct py_thread *thread, const struct py_layout *layout,
			const uint8_t *tstate);

#endif
