/*
 * proof: does a living interpreter stand where we think, and does its layout fit?
 */
#ifndef PYTOP_PYTHON_PROOF_H
#define PYTOP_PYTHON_PROOF_H

#include "base/status.h"
#include "python/runtime.h"
#include "target/memory.h"

/*
 * runtime has address, interp_head and layout. ST_OK: an interpreter has a thread state that
 * names it, and the frames of one thread, if any has frames, lead to a code object.
 * ST_STARTING: there is no interpreter or no thread state yet. ST_UNSUPPORTED_BUILD: what is
 * there stays wrong. ST_FAULT, ST_ENDED, ST_DENIED.
 */
enum status proof_find(const struct py_runtime *runtime, struct memory *memory) MUST_CHECK;

#endif
