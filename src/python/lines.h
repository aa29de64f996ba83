/*
 * lines: a code object's line table, decoded once into a sorted array. The parser takes bytes.
 * Source: Objects/lnotab_notes.txt (2.7 - 3.9), PEP 626 (3.10), Objects/locations.md (3.11+).
 */
#ifndef PYTOP_PYTHON_LINES_H
#define PYTOP_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "python/layout.h"

struct lines_range {
	uint32_t start; /* in the unit of lasti: bytes up to 3.10, code units from 3.11 */
	int32_t line;   /* 0: no line here (3.11+: code 15) */
};

struct lines {
	struct lines_range *ranges; /* ascending by start; each goes up to the next */
	size_t count;
	uint32_t end;
	int32_t first_line;
};

enum status lines_parse(struct lines *lines, enum py_lines_form form, struct bytes table,
			int32_t first_line) MUST_CHECK;
void lines_free(struct lines *lines);

/*
 * The line executing at lasti (3.10: already doubled to bytes); never less than 1: where the
 * table has none, the range before, or the first line.
 */
int32_t lines_find(const struct lines *lines, int64_t lasti);

#endif
