/*
 * offsets: the layout of a 3.13+ target from its own _Py_DebugOffsets, which stands at the
 * start of _PyRuntime. Source: Include/internal/pycore_debug_offsets.h (3.14, 3.15),
 * pycore_runtime.h (3.13).
 */
#ifndef PYTOP_PYTHON_OFFSETS_H
#define PYTOP_PYTHON_OFFSETS_H

#include "base/bytes.h"
#include "base/status.h"
#include "python/layout.h"

#define OFFSETS_SIZE 1024 /* how much to read at _PyRuntime */

/* Version of the cookie's header; ST_BAD_DATA when the cookie is not there. */
enum status offsets_version(struct py_version *version, struct bytes table) MUST_CHECK;

/*
 * Parse. A minor without a table of its own is tried with the newest one whose values hold
 * together; ST_UNSUPPORTED_VERSION when none does.
 */
enum status offsets_parse(struct py_layout *layout, struct bytes table) MUST_CHECK;

#endif
