/*
 * The writable data of an image, which is the input: the first byte chooses the version whose list
 * of interpreters is looked for. What is found must lie inside, and be what was looked for.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "python/layouts.h"
#include "python/scan.h"

#define START 0x100000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void scan_all(const struct scan *scan, struct bytes image, const struct py_layout *layout)
{
	struct py_version version;
	remote_addr found;

	if (scan_cookie(&found, scan) == ST_OK) {
		expect(found >= START && found + 8 <= START + image.size);
		expect(memcmp(image.data + (found - START), "xdebugpy", 8) == 0);
	}
	if (scan_version(&version, scan) == ST_OK)
		expect(version.major == 2 || version.major == 3);
	if (scan_runtime(&found, scan, layout) == ST_OK)
		expect(found + layout->runtime.interpreters_head - START < image.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes image = { data + 1, size - 1 };
	struct memory_region region = { START, image };
	struct mapping mapping = {
		.start = START, .end = START + size - 1, .readable = true, .writable = true
	};
	struct maps maps = { .items = &mapping, .count = 1 };
	struct py_version version = { .major = 3, .level = 'f' };
	struct py_layout layout;
	struct memory memory;
	struct scan scan = { .memory = &memory, .maps = &maps, .range_count = 1 };

	if (size < 2)
		return 0;
	version.minor = (uint8_t)(8 + data[0] % 5);
	expect(layouts_find(&layout, &version) == ST_OK);
	scan.ranges[0] = (struct image_range){ START, image.size };
	memory_open_image(&memory, &region, 1);
	scan_all(&scan, image, &layout);
	memory_close(&memory);
	return 0;
}
