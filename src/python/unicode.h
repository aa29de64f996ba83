/*
 * unicode: a str (or 2.7 str, or bytes) of the target as UTF-8. Every form: compact ASCII,
 * Latin-1, UCS-2, UCS-4, and the legacy form. Lone surrogates of file names (surrogateescape)
 * become the escape \udcXX text.
 */
#ifndef PYTOP_PYTHON_UNICODE_H
#define PYTOP_PYTHON_UNICODE_H

#include "base/status.h"
#include "python/layout.h"
#include "target/memory.h"

/*
 * *text is allocated, terminated, valid UTF-8, at most limit bytes (cut at a character).
 * ST_BAD_DATA, ST_FAULT.
 */
enum status unicode_read(char **text, const struct py_layout *layout, struct memory *memory,
			 remote_addr address, size_t limit) MUST_CHECK;

/* A bytes object: allocated. ST_TOO_BIG beyond limit. */
enum status unicode_read_bytes(uint8_t **data, size_t *size, const struct py_layout *layout,
			       struct memory *memory, remote_addr address, size_t limit) MUST_CHECK;

#endif
