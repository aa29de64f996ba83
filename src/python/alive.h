/*
 * alive: whether a frame seen a moment ago still lives and still holds the code object it was seen with.
 */
#ifndef PYTOP_PYTHON_ALIVE_H
#define PYTOP_PYTHON_ALIVE_H

#include <stdbool.h>

#include "python/frames.h"
#include "python/identity.h"
#include "python/layout.h"
#include "target/memory.h"

/*
 * Its words are read again; frame->instruction is brought up to date, so that name and line belong together. tstate: of the
 * frame's thread. False also when it cannot be read.
 */
bool alive_frame(struct py_frame *frame, const struct py_layout *layout, struct memory *memory,
		 remote_addr tstate, const struct code_identity *identity);

#endif
