/*
 * layouts: the table of the versions that do not tell where they keep things.
 *
 * One row a minor version; what several rows share is named above the table. The numbers were
 * printed by a program compiled against the headers of the release named in the row, and hold
 * for every final micro version of that minor. Alphas and betas of these versions moved fields
 * and are refused. On aarch64 pthread_mutex_t is 8 bytes longer, so what lies behind the gil's
 * mutexes moves.
 *
 * Called by runtime.c once a target. From 3.13 on offsets.c takes this place.
 */
#include "python/layouts.h"

#include <stddef.h>

#define NONE LAYOUT_NONE

#if defined(__aarch64__)
#define TWO_MUTEXES 16
#else
#define TWO_MUTEXES 0
#endif

/* Python/ceval_gil.h, Include/internal/pycore_gil.h: the same in 3.8 to 3.12 */
#define GIL \
	{ \
		.last_holder = 8, .locked = 16, .enabled = NONE, .size = 208 + TWO_MUTEXES \
	}

/* PyObject, PyTypeObject, PyBytesObject, PyDictObject: the same in 3.8 to 3.12 but for one field */
#define OBJECT \
	{ \
		.size = 16, .type = 8 \
	}
#define TYPE(keys) \
	{ \
		.name = 24, .flags = 168, .basicsize = 32, .dictoffset = 288, .cached_keys = keys, \
		.dict_back = NONE \
	}
#define BYTES \
	{ \
		.ob_size = 16, .data = 32 \
	}
#define DICT \
	{ \
		.keys = 32, .values = 40 \
	}
#define NO_CHUNK \
	{ \
		.chunk_previous = NONE, .chunk_size = NONE, .chunk_top = NONE, .chunk_data = NONE \
	}
#define CHUNK \
	{ \
		.chunk_previous = 0, .chunk_size = 8, .chunk_top = 16, .chunk_data = 24 \
	}

/* PyASCIIObject, PyCompactUnicodeObject: with wstr up to 3.11, without it from 3.12 */
#define TEXT_WSTR \
	{ \
		.length = 16, .state = 32, .ascii_data = 48, .compact_data = 72, .legacy_data = 72 \
	}
#define TEXT \
	{ \
		.length = 16, .state = 32, .ascii_data = 40, .compact_data = 56, .legacy_data = 56 \
	}

/* PyThreadState, PyCodeObject of 3.8, 3.9 and 3.10 */
#define TSTATE_38 \
	{ \
		.prev = 0, .next = 8, .interp = 16, .frame = 24, .thread_id = 176, \
		.native_thread_id = NONE, .status = NONE, .state = NONE, .cframe = NONE, \
		.current_frame = NONE, .base_frame = NONE, .datastack_chunk = NONE, \
		.datastack_top = NONE, .holds_gil = NONE, .gil_requested = NONE, .curexc = 88, \
		.exc_info = 144, .size = 184 \
	}
#define CODE_38 \
	{ \
		.ob_size = NONE, .filename = 104, .name = 112, .qualname = NONE, .linetable = 120, \
		.firstlineno = 40, .code_adaptive = NONE, .tlbc = NONE, .firsttraceable = NONE, \
		.nlocalsplus = NONE, .stacksize = NONE, .framesize = NONE, .size = 128 \
	}
#define FRAME_38(lasti_at, localsplus_at) \
	{ \
		.previous = 24, .code = 32, .lasti = lasti_at, .owner = NONE, \
		.localsplus = localsplus_at, .tlbc_index = NONE, .stackpointer = NONE, \
		.size = localsplus_at, .code_tagged = false \
	}
#define OBJECT_FRAMES \
	.frame_form = PY_FRAME_OBJECT, .text_form = PY_TEXT_STATE_BITS, \
	.dict_form = PY_DICT_TABLE, .gil = GIL, .tstate = TSTATE_38, \
	.cframe = { .current_frame = NONE }, .err_item = { .exc_value = 8, .previous_item = 24 }, \
	.owner_skip = UINT8_MAX, .stack_chunk = NO_CHUNK, .code = CODE_38, .object = OBJECT, \
	.text = TEXT_WSTR, .bytes = BYTES, .dict = DICT

static const struct py_layout rows[] = {
	{
		/* 3.8.18 */
		.version = { .major = 3, .minor = 8 },
		.lines_form = PY_LINES_LNOTAB,
		OBJECT_FRAMES,
		.runtime = { .interpreters_head = 32,
			     .finalizing = 16,
			     .gil = 1152,
			     .gc_collecting = 544,
			     .tstate_current = 1368 + TWO_MUTEXES,
			     .size = 1376 + TWO_MUTEXES },
		.interp = { .next = 0,
			    .threads_head = 8,
			    .id = 16,
			    .gc_collecting = NONE,
			    .gc_frame = NONE,
			    .finalizing = NONE,
			    .ceval_gil = NONE,
			    .gil = NONE,
			    .code_generation = NONE,
			    .tlbc_generation = NONE,
			    .runtime = NONE,
			    .size = 24 },
		.frame = FRAME_38(104, 360),
		.type = TYPE(872),
	},
	{
		/* 3.9.18 */
		.version = { .major = 3, .minor = 9 },
		.lines_form = PY_LINES_LNOTAB,
		OBJECT_FRAMES,
		.runtime = { .interpreters_head = 32,
			     .finalizing = 16,
			     .gil = 352,
			     .gc_collecting = NONE,
			     .tstate_current = 568 + TWO_MUTEXES,
			     .size = 576 + TWO_MUTEXES },
		.interp = { .next = 0,
			    .threads_head = 8,
			    .id = 24,
			    .gc_collecting = 816,
			    .gc_frame = NONE,
			    .finalizing = NONE,
			    .ceval_gil = NONE,
			    .gil = NONE,
			    .code_generation = NONE,
			    .tlbc_generation = NONE,
			    .runtime = 16,
			    .size = 820 },
		.frame = FRAME_38(104, 360),
		.type = TYPE(864),
	},
	{
		/* 3.10.13 */
		.version = { .major = 3, .minor = 10 },
		.lines_form = PY_LINES_310,
		OBJECT_FRAMES,
		.runtime = { .interpreters_head = 32,
			     .finalizing = 16,
			     .gil = 352,
			     .gc_collecting = NONE,
			     .tstate_current = 568 + TWO_MUTEXES,
			     .size = 576 + TWO_MUTEXES },
		.interp = { .next = 0,
			    .threads_head = 8,
			    .id = 24,
			    .gc_collecting = 816,
			    .gc_frame = NONE,
			    .finalizing = NONE,
			    .ceval_gil = NONE,
			    .gil = NONE,
			    .code_generation = NONE,
			    .tlbc_generation = NONE,
			    .runtime = 16,
			    .size = 820 },
		.frame = FRAME_38(96, 352),
		.type = TYPE(872),
	},
	{
		/* 3.11.7 */
		.version = { .major = 3, .minor = 11 },
		.frame_form = PY_FRAME_PREV_INSTR,
		.lines_form = PY_LINES_311,
		.text_form = PY_TEXT_STATE_BITS,
		.dict_form = PY_DICT_VALUES,
		.runtime = { .interpreters_head = 40,
			     .finalizing = 24,
			     .gil = 360,
			     .gc_collecting = NONE,
			     .tstate_current = 576 + TWO_MUTEXES,
			     .size = 584 + TWO_MUTEXES },
		.interp = { .next = 0,
			    .threads_head = 16,
			    .id = 48,
			    .gc_collecting = 848,
			    .gc_frame = NONE,
			    .finalizing = NONE,
			    .ceval_gil = NONE,
			    .gil = NONE,
			    .code_generation = NONE,
			    .tlbc_generation = NONE,
			    .runtime = 40,
			    .size = 852 },
		.gil = GIL,
		.tstate = { .prev = 0,
			    .next = 8,
			    .interp = 16,
			    .thread_id = 152,
			    .native_thread_id = 160,
			    .status = NONE,
			    .state = NONE,
			    .frame = NONE,
			    .cframe = 56,
			    .current_frame = NONE,
			    .base_frame = NONE,
			    .datastack_chunk = 296,
			    .datastack_top = 304,
			    .holds_gil = NONE,
			    .gil_requested = NONE,
			    .curexc = 96,
			    .exc_info = 120,
			    .size = 336 },
		.cframe = { .current_frame = 8 },
		.err_item = { .exc_value = 0, .previous_item = 8 },
		.frame = { .previous = 48,
			   .code = 32,
			   .lasti = 56,
			   .owner = 69,
			   .localsplus = 72,
			   .tlbc_index = NONE,
			   .stackpointer = NONE,
			   .size = 80,
			   .code_tagged = false },
		.owner_skip = UINT8_MAX,
		.stack_chunk = CHUNK,
		.code = { .ob_size = 16,
			  .filename = 112,
			  .name = 120,
			  .qualname = 128,
			  .linetable = 136,
			  .firstlineno = 72,
			  .code_adaptive = 184,
			  .tlbc = NONE,
			  .firsttraceable = 168,
			  .nlocalsplus = 76,
			  .stacksize = 68,
			  .framesize = NONE,
			  .size = 184 },
		.object = OBJECT,
		.type = TYPE(872),
		.text = TEXT_WSTR,
		.bytes = BYTES,
		.dict = DICT,
	},
	{
		/* 3.12.1 */
		.version = { .major = 3, .minor = 12 },
		.frame_form = PY_FRAME_PREV_INSTR,
		.lines_form = PY_LINES_311,
		.text_form = PY_TEXT_STATE_BITS,
		.dict_form = PY_DICT_ORVALUES,
		.runtime = { .interpreters_head = 40,
			     .finalizing = 24,
			     .gil = NONE,
			     .gc_collecting = NONE,
			     .tstate_current = NONE,
			     .size = 48 },
		.interp = { .next = 0,
			    .threads_head = 72,
			    .id = 8,
			    .gc_collecting = 312,
			    .gc_frame = NONE,
			    .finalizing = NONE,
			    .ceval_gil = 384,
			    .gil = 1040,
			    .code_generation = NONE,
			    .tlbc_generation = NONE,
			    .runtime = 96,
			    .size = 1248 + TWO_MUTEXES },
		.gil = GIL,
		.tstate = { .prev = 0,
			    .next = 8,
			    .interp = 16,
			    .thread_id = 136,
			    .native_thread_id = 144,
			    .status = 24,
			    .state = NONE,
			    .frame = NONE,
			    .cframe = 56,
			    .current_frame = NONE,
			    .base_frame = NONE,
			    .datastack_chunk = 232,
			    .datastack_top = 240,
			    .holds_gil = NONE,
			    .gil_requested = NONE,
			    .curexc = 96,
			    .exc_info = 104,
			    .size = 272 },
		.status_bits = { .bound_gilstate = 1u << 3,
				 .active = 1u << 4,
				 .holds_gil = 0,
				 .finalizing = 1u << 5,
				 .cleared = 1u << 6,
				 .finalized = 1u << 7 },
		.cframe = { .current_frame = 0 },
		.err_item = { .exc_value = 0, .previous_item = 8 },
		.frame = { .previous = 8,
			   .code = 0,
			   .lasti = 56,
			   .owner = 70,
			   .localsplus = 72,
			   .tlbc_index = NONE,
			   .stackpointer = NONE,
			   .size = 80,
			   .code_tagged = false },
		.owner_skip = 3,
		.stack_chunk = CHUNK,
		.code = { .ob_size = 16,
			  .filename = 112,
			  .name = 120,
			  .qualname = 128,
			  .linetable = 136,
			  .firstlineno = 68,
			  .code_adaptive = 192,
			  .tlbc = NONE,
			  .firsttraceable = 176,
			  .nlocalsplus = 72,
			  .stacksize = 64,
			  .framesize = 76,
			  .size = 192 },
		.object = OBJECT,
		.type = TYPE(880),
		.text = TEXT,
		.bytes = BYTES,
		.dict = DICT,
	},
};

enum status layouts_find(struct py_layout *layout, const struct py_version *version)
{
	if (version->free_threaded || (version->level != 'f' && version->level != 'c'))
		return ST_UNSUPPORTED_VERSION;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].version.major != version->major ||
		    rows[i].version.minor != version->minor)
			continue;
		*layout = rows[i];
		layout->version = *version;
		return ST_OK;
	}
	return ST_UNSUPPORTED_VERSION;
}
