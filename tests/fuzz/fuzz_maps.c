/*
 * The text of /proc/PID/maps: what comes out ascends, does not overlap, is found again by its
 * addresses, and its paths are strings inside the one block.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maps maps;

	if (maps_parse(&maps, (struct bytes){ data, size }) != ST_OK)
		return 0;
	for (size_t i = 0; i < maps.count; i++) {
		const struct mapping *m = &maps.items[i];

		expect(m->start < m->end);
		expect(i == 0 || m[-1].end <= m->start);
		expect(maps_find(&maps, m->start) == m);
		expect(maps_find(&maps, m->end - 1) == m);
		expect(m->path >= maps.paths);
		expect((size_t)(m->path - maps.paths) + strlen(m->path) <= size);
	}
	maps_free(&maps);
	return 0;
}
