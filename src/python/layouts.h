/*
 * layouts: the layouts of versions that do not tell (3.8 to 3.12), one row a version. Source:
 * offsets computed by compiling against the headers of the CPython release named in each row.
 */
#ifndef PYTOP_PYTHON_LAYOUTS_H
#define PYTOP_PYTHON_LAYOUTS_H

#include "base/status.h"
#include "python/layout.h"

/* ST_UNSUPPORTED_VERSION when no row fits. layout->version is set from version. */
enum status layouts_find(struct py_layout *layout, const struct py_version *version) MUST_CHECK;

#endif
