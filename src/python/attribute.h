/*
 * attribute: the value of an instance's own attribute, found by name wherever this version
 * keeps it. Source: Objects/dictobject.c, Include/internal/pycore_dict.h, pycore_object.h of
 * 3.8 to 3.15.
 */
#ifndef PYTOP_PYTHON_ATTRIBUTE_H
#define PYTOP_PYTHON_ATTRIBUTE_H

#include "base/status.h"
#include "python/layout.h"
#include "target/memory.h"

#define ATTRIBUTES_MAX 256 /* of one instance that are looked through */

/* ST_AGAIN: it has no such attribute (yet). ST_BAD_DATA, ST_FAULT, ST_ENDED, ST_DENIED. */
enum status attribute_read(remote_addr *value, const struct py_layout *layout,
			   struct memory *memory, remote_addr object, const char *name) MUST_CHECK;

#endif
