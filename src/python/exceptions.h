/*
 * exceptions: whether a thread has an exception on its way, or is handling one.
 */
#ifndef PYTOP_PYTHON_EXCEPTIONS_H
#define PYTOP_PYTHON_EXCEPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "python/layout.h"
#include "python/stack.h"
#include "target/memory.h"

/* Shared by all threads of a target. */
struct exceptions {
	remote_addr none;     /* address of None; 0: not met yet */
	remote_addr not_none; /* the last value that was something else */
};

/* An exception was raised and not caught yet. */
bool exceptions_raising(const struct py_layout *layout, const uint8_t *tstate);

/*
 * The thread is inside an except block (or what it called is). From the last reading of its stack: what
 * was not in it is asked for at the next look, and until then was is the answer.
 */
bool exceptions_handling(struct exceptions *exceptions, const struct stack_reader *reader,
			 struct stack_memo *memo, bool was);

#endif
