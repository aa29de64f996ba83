/*
 * _Py_DebugOffsets of a hostile target. Whatever it says, an accepted layout has offsets so
 * small that the reads they lead to stay small.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "python/offsets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check(const struct py_layout *l)
{
	expect(l->version.major == 3 && l->version.minor >= 13);
	expect(l->tstate.size <= 8192 && l->tstate.interp + 8 <= l->tstate.size);
	expect(l->interp.size < 1u << 26 && l->runtime.size <= 1u << 24);
	expect(l->frame.size <= 256 && l->frame.lasti + 8 <= l->frame.size);
	expect(l->frame.owner < l->frame.size && l->frame.localsplus <= l->frame.size);
	expect(l->code.size <= 256 && l->code.linetable + 8 <= l->code.size);
	expect(l->code.firsttraceable + 4 <= l->code.size);
	expect(l->gil.last_holder + 8 <= l->gil.size && l->gil.locked + 4 <= l->gil.size);
	expect(l->object.size == 16 || l->object.size == 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes table = { data, size };
	struct py_layout layout;
	struct py_version version;

	if (offsets_version(&version, table) == ST_OK && offsets_parse(&layout, table) == ST_OK)
		check(&layout);
	return 0;
}
