/*
 * A code object in a recorded image that is the input itself, read by the layout that its first
 * byte chooses. The input's addresses are offsets into itself, so that a fuzzer can make them
 * lead somewhere: every word of the image that is small enough is moved to where the image
 * lies. A thread's name is looked for too.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "python/code.h"
#include "python/layouts.h"
#include "python/threadname.h"

#define START 0x100000u
#define SIZE 0x2000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void relocate(uint8_t *image)
{
	for (size_t at = 0; at + 8 <= SIZE; at += 8) {
		uint64_t word;

		memcpy(&word, image + at, sizeof(word));
		/* the mark says that it is meant as an address */
		if (word >> 16 == 0xa0d0 && (word & 0xffff) < SIZE)
			word = START + (word & 0xffff);
		memcpy(image + at, &word, sizeof(word));
	}
}

static void check(const struct code *code)
{
	expect(text_is_utf8(code->file, strlen(code->file)));
	expect(strlen(code->function) <= CODE_NAME_LIMIT);
	expect(code->first_traceable >= 0 && code->instr_count >= 0);
	for (int64_t at = -1; at < 64; at++)
		expect(code_line(code, at) >= 1);
}

static void read_all(struct py_runtime *runtime, struct memory *memory)
{
	struct code code;
	remote_addr base;
	char *name;

	if (code_read(&code, runtime, memory, START) == ST_OK) {
		check(&code);
		code_free(&code);
	}
	if (threadname_read(&name, runtime, memory, START) == ST_OK) {
		expect(text_is_utf8(name, strlen(name)));
		free(name);
	}
	(void)!code_tlbc_base(&base, &runtime->layout, memory, START, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t image[SIZE];
	struct memory_region region = { START, { image, SIZE } };
	struct py_version version = { .major = 3, .level = 'f' };
	struct py_runtime runtime = { 0 };
	struct memory memory;

	if (!size)
		return 0;
	version.minor = (uint8_t)(8 + (data[0] & 7) % 5);
	memset(image, 0, SIZE);
	memcpy(image, data + 1, size - 1 < SIZE ? size - 1 : SIZE);
	relocate(image);
	expect(layouts_find(&runtime.layout, &version) == ST_OK);
	if (data[0] & 8) {
		runtime.layout.text_form = PY_TEXT_STATE_BYTES;
		runtime.layout.dict_form = PY_DICT_INLINE;
		runtime.layout.type.dict_back = 24;
		runtime.layout.code.tlbc = 184;
	}
	memory_open_image(&memory, &region, 1);
	read_all(&runtime, &memory);
	memory_close(&memory);
	return 0;
}
