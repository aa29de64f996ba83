/*
 * An ELF file, parsed as a file and as an image in memory at an address that its first byte chooses.
 * Whatever it claims, no byte outside it is read, and the bytes handed out are its own.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BIAS 0x7f0000000000u
#define SMALL_BIAS 0x1000u

static void look_up(const struct image *image)
{
	static const char *const names[] = { "_PyRuntime", "one", "", ".PyRuntime", ".text" };
	struct image_range range, ranges[4];
	size_t count = 4;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (image_symbol(image, names[i], &range) == ST_OK &&
		    image_bytes(image, range.address, 64).size % 64 != 0)
			abort();
		if (image_section(image, names[i], &range) == ST_OK &&
		    image_bytes(image, range.address, 8).size % 8 != 0)
			abort();
	}
	image_writable(image, ranges, &count);
	if (count > 4)
		abort();
	for (size_t i = 0; i < count; i++) {
		struct bytes bytes = image_bytes(image, ranges[i].address, 16);
		volatile uint8_t sum = 0;

		for (size_t k = 0; k < bytes.size; k++)
			sum = (uint8_t)(sum + bytes.data[k]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *image;
	struct memory memory;
	uint64_t address = size > 0 && data[0] & 1 ? BIAS : SMALL_BIAS;
	struct memory_region region = { address, { data, size } };

	if (image_open_bytes(&image, (struct bytes){ data, size }, BIAS) == ST_OK) {
		look_up(image);
		image_close(image);
	}
	memory_open_image(&memory, &region, 1);
	if (image_open_memory(&image, &memory, address) == ST_OK) {
		look_up(image);
		image_close(image);
	}
	memory_close(&memory);
	return 0;
}
