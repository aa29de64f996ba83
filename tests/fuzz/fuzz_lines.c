/*
 * A line table: the first byte chooses the form. What was decoded must be ascending, without
 * neighbours that say the same, and give a line at every instruction.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "python/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check(const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		const struct lines_range *range = &lines->ranges[i];

		expect(range->line >= 0);
		expect(i == 0 || range->start > range[-1].start);
		expect(i == 0 || range->line != range[-1].line);
		expect(lines_find(lines, range->start) >= 1);
		expect(!range->line || lines_find(lines, range->start) == range->line);
	}
	expect(lines_find(lines, -1) >= 1 && lines_find(lines, INT64_MAX) >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines lines;

	if (!size)
		return 0;
	if (lines_parse(&lines, (enum py_lines_form)(data[0] & 3),
			(struct bytes){ data + 1, size - 1 }, (int8_t)data[0]) == ST_OK) {
		check(&lines);
		lines_free(&lines);
	}
	return 0;
}
