/*
 * frames: a thread's stack as addresses: found, copied twice, verified.
 *
 * Never publishes a guess (design 4.1, 4.2): a stack is GOOD only when code, previous and instruction
 * of every frame of the chain were equal in two copies taken in order within one system call, one before and one
 * after the thread state that names the leaf (of the leaf the instruction may have moved on); what is
 * still in motion after PY_READS_MAX tries is TORN, and holds the verified part from the root (may be empty).
 */
#ifndef PYTOP_PYTHON_FRAMES_H
#define PYTOP_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "python/copies.h"
#include "python/layout.h"
#include "target/memory.h"

#define PY_READS_MAX 8 /* tries for one thread in one tick */
#define PY_DEPTH_MAX \
	1024 /* leaf frames kept; beyond: truncated, the rest is walked only to find the root */

/* One Python frame. Entry frames of C and frames CPython itself hides at their owner are left out. */
struct py_frame {
	remote_addr code;
	remote_addr address; /* of the frame itself */
	/*
	 * Where in the code: before 3.11 the byte offset (3.10 already doubled, may be -1); from 3.11 the address of the
	 * instruction minus the address of the code object, in bytes (the resolver subtracts the code's
	 * instr_base and halves it). With tlbc_index > 0 (3.14t+): the bare instruction address.
	 */
	int64_t instruction;
	int32_t tlbc_index;
};

enum py_stack_state {
	PY_STACK_NONE, /* the thread has no Python frame */
	PY_STACK_GOOD,
	PY_STACK_TORN, /* frames: the verified part from the root */
	PY_STACK_UNCHANGED /* not read: the caller knew that the thread had not run; frames are the last ones */
};

struct py_stack {
	enum py_stack_state state;
	bool truncated; /* deeper than PY_DEPTH_MAX: frames holds the leaf part */
	uint32_t depth; /* frames stored, leaf first */
	uint32_t tries; /* reads it took in this tick; > 1: was torn and read again */
	uint32_t
		kept; /* frames nearest the root that are equal to those of this thread's last stack */
	struct py_frame *frames; /* owned by the reader; valid until its next read */
};

#define FRAMES_SIZE_MAX 512                 /* bytes of a frame that are looked at, at most */
#define FRAMES_STEPS_MAX (2 * PY_DEPTH_MAX) /* entry frames included */

/* Where in a frame its words are: the layout, checked. */
struct frame_shape {
	uint32_t previous, code, lasti;
	uint32_t owner, tlbc_index; /* LAYOUT_NONE: there is none */
	uint32_t size; /* from the frame's start to the end of the last of these, rounded up to 8 */
	uint64_t code_mask;
	uint32_t
		executing; /* <= 3.10: byte that tells whether it executes; LAYOUT_NONE: there is none */
	uint8_t executing_zero; /* 1: it does when that is 0; 0: when it is not */
	bool lasti_is_int, lasti_in_units;
	uint8_t owner_skip;
};

/* ST_BAD_DATA when the layout makes no frame. */
enum status frame_shape_make(struct frame_shape *shape, const struct py_layout *layout) MUST_CHECK;

/* An address that a frame or a code object can have: not NULL, aligned, canonical. */
static inline bool frames_address_fits(remote_addr address)
{
	return address >= 4096 && !(address & 7) && address < (UINT64_C(1) << 56);
}

/* Bytes (shape->size) that can be a frame of a stack. */
bool frames_plausible(const struct frame_shape *shape, const uint8_t *raw);

enum frames_end {
	FRAMES_ROOT,    /* the chain ended */
	FRAMES_LIMIT,   /* PY_DEPTH_MAX frames are stored */
	FRAMES_MISSING, /* a frame is not among the copies; nothing had moved up to it */
	FRAMES_BROKEN   /* the chain cannot be followed */
};

/* Where a chain ended: its outermost Python frame and the entry frame below that, which has no caller. */
struct frames_root {
	remote_addr frame, code, entry; /* entry 0: it did not end so */
};

/* One walk from the leaf to the root. */
struct frames_walk {
	enum frames_end end;
	bool moved;     /* some frame was not the same in both copies */
	uint32_t depth; /* frames behind the last one that moved: with ROOT the verified part */
	remote_addr missing;     /* with MISSING */
	bool missing_twice;      /* it was copied once, but two copies are needed */
	struct frames_root root; /* with ROOT: whether read or trusted */
	uint32_t elsewhere_count;
	remote_addr elsewhere[FRAMES_STEPS_MAX]; /* frames that lay in sorted stretches */
	bool elsewhere_is_entry[FRAMES_STEPS_MAX];
	struct py_frame frames[PY_DEPTH_MAX];
};

/*
 * Follow the chain from leaf to NULL or to base (0: none), comparing both copies on the way; used is set in the
 * stretches it went through. The leaf's instruction alone may have moved on: same code, same caller, it is
 * the same call going its way (before 3.13 it moves with every instruction). trusted (or NULL): an end that was read
 * before; when the chain comes to the same frame, code and entry frame, the latter need not be among the copies.
 */
void frames_follow(struct frames_walk *walk, const struct frame_shape *shape, struct copies *copies,
		   remote_addr leaf, remote_addr base, const struct frames_root *trusted);

/* Frames that are equal, counted from the root. */
uint32_t frames_equal_from_root(const struct py_frame *a, uint32_t a_depth,
				const struct py_frame *b, uint32_t b_depth);

#endif
