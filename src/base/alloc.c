/*
 * alloc: the few ways memory is asked for.
 *
 * Invariant: no product of sizes wraps, no array passes the limit its owner named, and an array
 * that could not grow is as it was. Called by every room whose sizes may come from a target.
 */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 8

void *alloc_zero(size_t count, size_t size)
{
	if (!count || !size)
		return calloc(1, 1);
	return calloc(count, size);
}

/* Half again, but no less than need and no more than limit. */
static size_t next_capacity(size_t capacity, size_t need, size_t limit)
{
	size_t next = capacity + capacity / 2;

	if (next < FIRST_CAPACITY)
		next = FIRST_CAPACITY;
	if (next > limit)
		next = limit;
	return next < need ? need : next;
}

enum status alloc_grow(void **items, size_t *capacity, size_t need, size_t limit, size_t size)
{
	size_t next, bytes;
	void *moved;

	if (need > limit)
		return ST_TOO_BIG;
	if (need <= *capacity)
		return ST_OK;
	next = next_capacity(*capacity, need, limit);
	if (__builtin_mul_overflow(next, size, &bytes) || bytes > PTRDIFF_MAX)
		return ST_NO_MEMORY;
	moved = realloc(*items, bytes);
	if (!moved)
		return ST_NO_MEMORY;
	memset((char *)moved + *capacity * size, 0, (next - *capacity) * size);
	*items = moved;
	*capacity = next;
	return ST_OK;
}

char *alloc_string(const char *text, size_t n)
{
	char *copy = n < PTRDIFF_MAX ? malloc(n + 1) : NULL;

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

char *alloc_format(const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	return n < 0 ? NULL : text;
}
