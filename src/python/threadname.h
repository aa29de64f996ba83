/*
 * threadname: the full name of a threading.Thread: local 0 of the bottom _bootstrap frame is
 * the Thread object, whose _name is the name (all versions).
 */
#ifndef PYTOP_PYTHON_THREADNAME_H
#define PYTOP_PYTHON_THREADNAME_H

#include "base/status.h"
#include "python/runtime.h"
#include "target/memory.h"

/*
 * root_frame: address of the thread's outermost Python frame (the caller has seen that its
 * function is threading.py's _bootstrap). *name allocated. ST_BAD_DATA when it is not such a
 * frame.
 */
enum status threadname_read(char **name, const struct py_runtime *runtime, struct memory *memory,
			    remote_addr root_frame) MUST_CHECK;

#endif
