/*
 * stack: reading one thread's stack: what to ask for in the reading of a tick, what it says, and the readings that
 * follow when the stack had moved.
 */
#ifndef PYTOP_PYTHON_STACK_H
#define PYTOP_PYTHON_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "python/batch.h"
#include "python/chunks.h"
#include "python/copies.h"
#include "python/frames.h"
#include "python/layout.h"
#include "python/places.h"
#include "target/memory.h"

#define STACK_MISSES_MAX 16 /* readings of one thread in one look that only find where things are */
#define STACK_PIECES_MAX \
	2048 /* pieces of all readings again of one thread in one look; the last may pass it */
#define STACK_CHASE_MAX \
	512 /* single frames read in one look of one thread to find where they are */

/* Shared by all threads of a target. */
struct stack_reader {
	const struct py_layout *layout; /* borrowed */
	struct memory *memory;          /* borrowed */
	struct frame_shape shape;
	uint32_t look;    /* number of the look, set by the owner */
	uint64_t retried; /* readings that were not the tick's own */
	struct batch again;
	struct frames_walk walk;
};

/* What is remembered of one thread. */
struct stack_memo {
	struct chunks chunks;
	struct places places;
	struct copies copies;       /* of the last reading; [0] is the thread state */
	struct frames_root root;    /* where the chain ended at the last looks */
	uint32_t root_streak;       /* how many of them in a row */
	remote_addr root_frame;     /* the outermost Python frame of the last good stack */
	remote_addr root_candidate; /* one that a reading of this look showed instead */
	remote_addr leaf_word; /* the thread state's pointer to its top frame at the last look */
	bool settled;          /* the last look knew the stack, GOOD or NONE */
	size_t frames_capacity;
	uint32_t chase_left;
};

/* 3.11+: frames lie in chunks. */
static inline bool stack_has_chunks(const struct stack_reader *reader)
{
	return reader->layout->frame_form != PY_FRAME_OBJECT;
}

/* 3.11, 3.12: a cframe on the C stack names the leaf. */
static inline bool stack_has_cframe(const struct stack_reader *reader)
{
	return reader->layout->frame_form == PY_FRAME_PREV_INSTR;
}

/* Where in the thread state the pointer to its top frame is, or to what holds that. */
uint32_t stack_leaf_offset(const struct py_layout *layout);

/* ST_BAD_DATA: the layout makes no sense. */
enum status stack_reader_open(struct stack_reader *reader, const struct py_layout *layout,
			      struct memory *memory) MUST_CHECK;
void stack_reader_close(struct stack_reader *reader);

void stack_memo_free(struct stack_memo *memo);
/* For another thread; keeps its memory. */
void stack_memo_reset(struct stack_memo *memo);

/* Ask for the thread state, and when whole for its stack around it. */
void stack_plan(struct stack_reader *reader, struct stack_memo *memo, struct batch *batch,
		remote_addr tstate, bool whole);

/* The bytes of the thread state that were read; NULL: unreadable. Valid until the batch's next reading. */
const uint8_t *stack_tstate(struct stack_memo *memo, const struct batch *batch);

/*
 * After batch_read() and stack_tstate(): what the stack is, reading again as long as needed. ST_ENDED,
 * ST_DENIED, ST_NO_MEMORY; all trouble of the thread itself is a torn stack.
 */
enum status stack_take(struct stack_reader *reader, struct stack_memo *memo, remote_addr tstate,
		       remote_addr interp, struct py_stack *stack) MUST_CHECK;

/* It was planned without its stack: is it the one known? If not it is read now, as above. */
enum status stack_check(struct stack_reader *reader, struct stack_memo *memo, remote_addr tstate,
			remote_addr interp, struct py_stack *stack) MUST_CHECK;

/* A thread seen first in this look, or one whose part of the batch was of no use. */
enum status stack_read_now(struct stack_reader *reader, struct stack_memo *memo, remote_addr tstate,
			   remote_addr interp, struct py_stack *stack) MUST_CHECK;

#endif
