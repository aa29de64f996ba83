/*
 * output: stdout, whose failure (a full disk, a closed pipe) must not go unnoticed.
 */
#ifndef PYTOP_UI_OUTPUT_H
#define PYTOP_UI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* A json_sink over a FILE. */
enum status output_json(void *file, const char *text, size_t size);
/* ST_CANNOT_WRITE (errno kept). */
enum status output_flush(void) MUST_CHECK;
/* Has whoever read stdout gone (pytop -b | head)? No failure: what was wanted was read. */
bool output_is_closed(void);
/* Is the locale's encoding something other than UTF-8? */
bool output_is_ascii(void);

#endif
