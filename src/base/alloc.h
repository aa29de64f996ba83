/*
 * alloc: memory whose size may come from outside: every size is multiplied with care and capped.
 * NULL or ST_NO_MEMORY on failure; freed with free().
 */
#ifndef PYTOP_BASE_ALLOC_H
#define PYTOP_BASE_ALLOC_H

#include <stddef.h>

#include "base/status.h"

/* Zeroed memory for count items of size bytes, or NULL. */
void *alloc_zero(size_t count, size_t size);

/*
 * Make *items (an array of *capacity items of size bytes) hold at least need items; grows by half
 * again, new space is zeroed. ST_TOO_BIG when need > limit.
 */
enum status alloc_grow(void **items, size_t *capacity, size_t need, size_t limit,
		       size_t size) MUST_CHECK;

/* A terminated copy of n bytes, or NULL. */
char *alloc_string(const char *text, size_t n);

/* printf into fresh memory, or NULL. */
char *alloc_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
