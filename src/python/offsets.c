/*
 * offsets: reading _Py_DebugOffsets, the table in which CPython 3.13 and later say themselves
 * where they keep things.
 *
 * The table has neither a size nor a format of its own, only the version of the interpreter;
 * and early releases of a minor still carry the table of the one before. So what counts is
 * whether the values hold together: the minor's own form is tried first, then the others from
 * the newest on, and the first plausible one is taken. A minor that is newer than this file is
 * read the same way, which is how pytop works with it on the day it is released. What the table
 * does not tell stands in `minors`.
 *
 * Called by runtime.c once a target; the input is hostile.
 */
#include "python/offsets.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define COOKIE "xdebugpy"
#define FORM_COUNT 3 /* 3.13, 3.14, 3.15 */
#define FIRST_MINOR 13
#define TSTATE_MAX 2048
#define VALUE_MAX (1u << 24) /* no structure of CPython comes near */

#if defined(__aarch64__)
#define TWO_MUTEXES 16 /* pthread_mutex_t is 8 bytes longer */
#else
#define TWO_MUTEXES 0
#endif

/* What we take from the table; 0 where a form has no such field. */
struct told {
	uint64_t runtime_size, runtime_finalizing, interpreters_head;
	uint64_t interp_id, interp_next, threads_head, interp_gc, ceval_gil, own_gil;
	uint64_t gil_enabled, gil_locked, gil_holder, code_generation, tlbc_generation;
	uint64_t tstate_prev, tstate_next, tstate_interp, current_frame, base_frame, thread_id;
	uint64_t native_thread_id, datastack_chunk, status, holds_gil, gil_requested;
	uint64_t current_exception, exc_state;
	uint64_t frame_size, previous, executable, instr_ptr, localsplus, owner, stackpointer;
	uint64_t tlbc_index;
	uint64_t filename, name, qualname, linetable, firstlineno, code_adaptive, co_tlbc;
	uint64_t object_size, object_type, tp_name, tp_flags, cached_keys;
	uint64_t ma_keys, ma_values, bytes_size, bytes_data;
	uint64_t text_state, text_length, ascii_size, compact_size, gc_collecting, gc_frame;
};

/*
 * Where each field stands in the table: byte position in the form of 3.13, 3.14, 3.15; 0: not
 * there. Source: struct _Py_DebugOffsets, Include/internal/pycore_runtime.h (3.13),
 * Include/internal/pycore_debug_offsets.h (3.14, 3.15).
 */
struct field {
	uint16_t to; /* in struct told */
	uint16_t at[FORM_COUNT];
};
#define FIELD(name, at13, at14, at15) \
	{ \
		offsetof(struct told, name), \
		{ \
			at13, at14, at15 \
		} \
	}
/* clang-format off */
static const struct field fields[] = {
	FIELD(runtime_size,       24,  24,  24),
	FIELD(runtime_finalizing, 32,  32,  32),
	FIELD(interpreters_head,  40,  40,  40),
	FIELD(interp_id,          56,  56,  56),
	FIELD(interp_next,        64,  64,  64),
	FIELD(threads_head,       72,  72,  72),
	FIELD(interp_gc,          80,  88,  88),
	FIELD(ceval_gil,         112, 120, 120),
	FIELD(own_gil,           120, 128, 128),
	FIELD(gil_enabled,       128, 136, 136),
	FIELD(gil_locked,        136, 144, 144),
	FIELD(gil_holder,        144, 152, 152),
	FIELD(code_generation,     0, 160, 160),
	FIELD(tlbc_generation,     0, 168, 168),
	FIELD(tstate_prev,       160, 184, 184),
	FIELD(tstate_next,       168, 192, 192),
	FIELD(tstate_interp,     176, 200, 200),
	FIELD(current_frame,     184, 208, 208),
	FIELD(base_frame,          0,   0, 216),
	FIELD(thread_id,         192, 216, 240),
	FIELD(native_thread_id,  200, 224, 248),
	FIELD(datastack_chunk,   208, 232, 256),
	FIELD(status,            216, 240, 264),
	FIELD(holds_gil,           0,   0, 272),
	FIELD(gil_requested,       0,   0, 280),
	FIELD(current_exception,   0,   0, 288),
	FIELD(exc_state,           0,   0, 296),
	FIELD(frame_size,        224, 248, 312),
	FIELD(previous,          232, 256, 320),
	FIELD(executable,        240, 264, 328),
	FIELD(instr_ptr,         248, 272, 336),
	FIELD(localsplus,        256, 280, 344),
	FIELD(owner,             264, 288, 352),
	FIELD(stackpointer,        0, 296, 360),
	FIELD(tlbc_index,          0, 304, 368),
	FIELD(filename,          280, 320, 384),
	FIELD(name,              288, 328, 392),
	FIELD(qualname,          296, 336, 400),
	FIELD(linetable,         304, 344, 408),
	FIELD(firstlineno,       312, 352, 416),
	FIELD(code_adaptive,     344, 384, 448),
	FIELD(co_tlbc,             0, 392, 456),
	FIELD(object_size,       352, 400, 464),
	FIELD(object_type,       360, 408, 472),
	FIELD(tp_name,           376, 424, 488),
	FIELD(tp_flags,          392, 440, 504),
	FIELD(cached_keys,         0,   0, 536),
	FIELD(ma_keys,           456, 536, 632),
	FIELD(ma_values,         464, 544, 640),
	FIELD(bytes_size,        520, 600, 696),
	FIELD(bytes_data,        528, 608, 704),
	FIELD(text_state,        544, 624, 720),
	FIELD(text_length,       552, 632, 728),
	FIELD(ascii_size,        560, 640, 736),
	FIELD(compact_size,        0,   0, 744),
	FIELD(gc_collecting,     576, 656, 760),
	FIELD(gc_frame,            0,   0, 768),
};
/* clang-format on */

/*
 * What the table does not tell, by its form: members of PyThreadState
 * (Include/cpython/pystate.h). What else is untold is the same in all three: the stack chunk,
 * the distances inside PyCodeObject and PyTypeObject, the length of the gil; see the fill
 * functions.
 */
static const struct minor {
	uint16_t state, holds_gil, current_exception, exc_info, exc_state;
	uint16_t holds_gil_bit; /* of status; the bits behind it move up */
} minors[FORM_COUNT] = {
	{ 40, 0, 112, 120, 256, 1u << 5 },
	{ 44, 36, 112, 120, 256, 0 },
	{ 48, 36, 136, 144, 288, 0 },
};

enum status offsets_version(struct py_version *version, struct bytes table)
{
	static const char levels[16] = { [0xa] = 'a', [0xb] = 'b', [0xc] = 'c', [0xf] = 'f' };
	uint64_t hex, free_threaded;

	if (table.size < 8 || memcmp(table.data, COOKIE, 8) || !bytes_u64(table, 8, &hex) ||
	    !bytes_u64(table, 16, &free_threaded))
		return ST_BAD_DATA;
	if (hex > UINT32_MAX || free_threaded > 1 || !levels[hex >> 4 & 15])
		return ST_BAD_DATA;
	*version = (struct py_version){
		.major = (uint8_t)(hex >> 24),
		.minor = (uint8_t)(hex >> 16),
		.micro = (uint8_t)(hex >> 8),
		.level = levels[hex >> 4 & 15],
		.serial = hex & 15,
		.free_threaded = free_threaded,
	};
	return ST_OK;
}

/* Take the fields as one form has them; false when the table is too short or a value is absurd. */
static bool take(struct told *told, struct bytes table, unsigned form)
{
	memset(told, 0, sizeof(*told));
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint64_t value;

		if (!fields[i].at[form])
			continue;
		if (!bytes_u64(table, fields[i].at[form], &value) || value >= VALUE_MAX)
			return false;
		memcpy((char *)told + fields[i].to, &value, sizeof(value));
	}
	return true;
}

/* Objects are so simple that their numbers are known whatever the version. */
static bool objects_plausible(const struct told *t, uint64_t header)
{
	return t->object_size == header && t->object_type == header - 8 &&
	       t->tp_name == header + 8 && t->text_length == header &&
	       t->text_state == header + 16 && t->ascii_size == header + 24 &&
	       (!t->compact_size || t->compact_size == header + 40) && t->bytes_size == header &&
	       t->bytes_data == header + 16 && t->ma_keys == header + 16 &&
	       t->ma_values == header + 24;
}

static bool code_plausible(const struct told *t, uint64_t header)
{
	return t->firstlineno >= header && t->firstlineno < t->filename && t->filename < t->name &&
	       t->name < t->qualname && t->qualname < t->linetable &&
	       t->linetable + 24 <= t->code_adaptive && t->code_adaptive <= 256 &&
	       (!t->co_tlbc || (t->co_tlbc > t->linetable + 16 && t->co_tlbc < t->code_adaptive));
}

static bool frame_plausible(const struct told *t)
{
	return t->frame_size >= 64 && t->frame_size <= 256 && t->previous == 8 &&
	       t->executable + 8 <= t->frame_size && t->instr_ptr + 8 <= t->frame_size &&
	       t->owner < t->frame_size && t->localsplus <= t->frame_size && t->localsplus >= 64 &&
	       t->stackpointer + 8 <= t->frame_size && t->tlbc_index + 4 <= t->frame_size;
}

/* A thread state is small, and so is what pytop reads of it each tick. */
static bool tstate_plausible(const struct told *t)
{
	const uint64_t offsets[] = {
		t->tstate_prev,       t->tstate_next,     t->tstate_interp,
		t->current_frame,     t->base_frame,      t->thread_id,
		t->native_thread_id,  t->datastack_chunk, t->status,
		t->holds_gil,         t->gil_requested,   t->exc_state,
		t->current_exception,
	};

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		if (offsets[i] > TSTATE_MAX)
			return false;
	return t->tstate_next != t->tstate_prev && t->tstate_interp && t->current_frame &&
	       t->thread_id && t->native_thread_id && t->datastack_chunk;
}

/* Up to 3.15 `enabled` is told from the gil's start, the other members from the interpreter's. */
static uint64_t in_gil(const struct told *t, uint64_t offset)
{
	return offset >= t->own_gil ? offset - t->own_gil : offset;
}

static bool roots_plausible(const struct told *t)
{
	return t->interpreters_head && t->interpreters_head < t->runtime_size &&
	       t->runtime_finalizing < t->runtime_size && t->threads_head &&
	       t->threads_head != t->interp_next && t->own_gil && t->gil_holder > t->own_gil &&
	       t->gil_holder <= t->own_gil + 64 && t->gil_locked > t->own_gil &&
	       t->gil_locked <= t->own_gil + 64 && in_gil(t, t->gil_enabled) <= 64;
}

static bool plausible(const struct told *told, bool free_threaded)
{
	uint64_t header = free_threaded ? 32 : 16;

	return objects_plausible(told, header) && code_plausible(told, header) &&
	       frame_plausible(told) && tstate_plausible(told) && roots_plausible(told);
}

/* An offset for which 0 means that there is none. */
static uint32_t optional(uint64_t value)
{
	return value ? (uint32_t)value : LAYOUT_NONE;
}

static void cover(uint32_t *size, uint64_t offset, uint64_t width)
{
	if (offset != LAYOUT_NONE && *size < offset + width)
		*size = (uint32_t)(offset + width);
}

static void fill_roots(struct py_layout *l, const struct told *t)
{
	l->runtime.interpreters_head = (uint32_t)t->interpreters_head;
	l->runtime.finalizing = (uint32_t)t->runtime_finalizing;
	l->runtime.gil = l->runtime.gc_collecting = l->runtime.tstate_current = LAYOUT_NONE;
	cover(&l->runtime.size, t->interpreters_head, 8);
	cover(&l->runtime.size, t->runtime_finalizing, 8);

	l->interp.next = (uint32_t)t->interp_next;
	l->interp.threads_head = (uint32_t)t->threads_head;
	l->interp.id = (uint32_t)t->interp_id;
	l->interp.gc_collecting = (uint32_t)(t->interp_gc + t->gc_collecting);
	l->interp.gc_frame = t->gc_frame ? (uint32_t)(t->interp_gc + t->gc_frame) : LAYOUT_NONE;
	l->interp.finalizing = LAYOUT_NONE;
	l->interp.ceval_gil = (uint32_t)t->ceval_gil;
	l->interp.gil = (uint32_t)t->own_gil;
	l->interp.code_generation = optional(t->code_generation);
	l->interp.tlbc_generation = optional(t->tlbc_generation);
	l->interp.runtime = LAYOUT_NONE;

	l->gil.enabled =
		l->version.free_threaded ? (uint32_t)in_gil(t, t->gil_enabled) : LAYOUT_NONE;
	l->gil.last_holder = (uint32_t)(t->gil_holder - t->own_gil);
	l->gil.locked = (uint32_t)(t->gil_locked - t->own_gil);
	l->gil.size = 192 + l->gil.locked + TWO_MUTEXES;

	cover(&l->interp.size, l->interp.next, 8);
	cover(&l->interp.size, l->interp.threads_head, 8);
	cover(&l->interp.size, l->interp.id, 8);
	cover(&l->interp.size, l->interp.gc_collecting, 4);
	cover(&l->interp.size, l->interp.gc_frame, 8);
	cover(&l->interp.size, l->interp.ceval_gil, 8);
	cover(&l->interp.size, l->interp.gil, l->gil.size);
	cover(&l->interp.size, l->interp.code_generation, 8);
	cover(&l->interp.size, l->interp.tlbc_generation, 4);
}

static void fill_tstate(struct py_layout *l, const struct told *t, const struct minor *untold)
{
	uint64_t exc_state = t->exc_state ? t->exc_state : untold->exc_state;
	unsigned shift = untold->holds_gil_bit ? 1 : 0;

	l->tstate.prev = (uint32_t)t->tstate_prev;
	l->tstate.next = (uint32_t)t->tstate_next;
	l->tstate.interp = (uint32_t)t->tstate_interp;
	l->tstate.thread_id = (uint32_t)t->thread_id;
	l->tstate.native_thread_id = (uint32_t)t->native_thread_id;
	l->tstate.status = (uint32_t)t->status;
	l->tstate.state = untold->state;
	l->tstate.frame = l->tstate.cframe = LAYOUT_NONE;
	l->tstate.current_frame = (uint32_t)t->current_frame;
	l->tstate.base_frame = optional(t->base_frame);
	l->tstate.datastack_chunk = (uint32_t)t->datastack_chunk;
	l->tstate.datastack_top = l->tstate.datastack_chunk + 8;
	l->tstate.holds_gil = optional(t->holds_gil ? t->holds_gil : untold->holds_gil);
	l->tstate.gil_requested = optional(t->gil_requested);
	l->tstate.curexc =
		t->current_exception ? (uint32_t)t->current_exception : untold->current_exception;
	l->tstate.exc_info = untold->exc_info;
	l->status_bits.bound_gilstate = 1u << 3;
	l->status_bits.active = 1u << 4;
	l->status_bits.holds_gil = untold->holds_gil_bit;
	l->status_bits.finalizing = 1u << 5 << shift;
	l->status_bits.cleared = 1u << 6 << shift;
	l->status_bits.finalized = 1u << 7 << shift;

	cover(&l->tstate.size, t->tstate_prev, 8);
	cover(&l->tstate.size, t->tstate_next, 8);
	cover(&l->tstate.size, t->tstate_interp, 8);
	cover(&l->tstate.size, t->thread_id, 8);
	cover(&l->tstate.size, t->native_thread_id, 8);
	cover(&l->tstate.size, t->status, 4);
	cover(&l->tstate.size, l->tstate.state, 4);
	cover(&l->tstate.size, t->current_frame, 8);
	cover(&l->tstate.size, l->tstate.datastack_top, 8);
	cover(&l->tstate.size, l->tstate.base_frame, 8);
	cover(&l->tstate.size, l->tstate.holds_gil, 4);
	cover(&l->tstate.size, l->tstate.gil_requested, 4);
	cover(&l->tstate.size, l->tstate.curexc, 8);
	cover(&l->tstate.size, l->tstate.exc_info, 8);
	cover(&l->tstate.size, exc_state, 16);
}

static void fill_frames(struct py_layout *l, const struct told *t, unsigned form)
{
	uint32_t line = (uint32_t)t->firstlineno;

	l->cframe.current_frame = LAYOUT_NONE;
	l->err_item.exc_value = 0;
	l->err_item.previous_item = 8;
	l->frame.previous = (uint32_t)t->previous;
	l->frame.code = (uint32_t)t->executable;
	l->frame.lasti = (uint32_t)t->instr_ptr;
	l->frame.owner = (uint32_t)t->owner;
	l->frame.localsplus = (uint32_t)t->localsplus;
	l->frame.tlbc_index = optional(t->tlbc_index);
	l->frame.stackpointer = optional(t->stackpointer);
	l->frame.size = (uint32_t)t->frame_size;
	l->frame.code_tagged = form > 0;
	l->owner_skip = 3;
	l->stack_chunk.chunk_previous = 0;
	l->stack_chunk.chunk_size = 8;
	l->stack_chunk.chunk_top = 16;
	l->stack_chunk.chunk_data = 24;

	l->code.ob_size = (uint32_t)t->object_size;
	l->code.filename = (uint32_t)t->filename;
	l->code.name = (uint32_t)t->name;
	l->code.qualname = (uint32_t)t->qualname;
	l->code.linetable = (uint32_t)t->linetable;
	l->code.firstlineno = line;
	l->code.code_adaptive = (uint32_t)t->code_adaptive;
	l->code.tlbc = optional(t->co_tlbc);
	l->code.firsttraceable = (uint32_t)(t->co_tlbc ? t->co_tlbc : t->code_adaptive) - 16;
	l->code.stacksize = line - 4;
	l->code.nlocalsplus = line + 4;
	l->code.framesize = line + 8;
	l->code.size = l->code.code_adaptive;
}

static void fill_objects(struct py_layout *l, const struct told *t)
{
	uint32_t header = (uint32_t)t->object_size;

	l->object.size = header;
	l->object.type = (uint32_t)t->object_type;
	l->type.name = (uint32_t)t->tp_name;
	l->type.flags = (uint32_t)t->tp_flags;
	l->type.basicsize = header + 16;
	l->type.dictoffset = header + 272;
	l->type.cached_keys = t->cached_keys ? (uint32_t)t->cached_keys : header + 864;
	l->type.dict_back = l->version.free_threaded ? 8 : 24;
	l->text.length = (uint32_t)t->text_length;
	l->text.state = (uint32_t)t->text_state;
	l->text.ascii_data = (uint32_t)t->ascii_size;
	l->text.compact_data = l->text.legacy_data = header + 40;
	l->bytes.ob_size = (uint32_t)t->bytes_size;
	l->bytes.data = (uint32_t)t->bytes_data;
	l->dict.keys = (uint32_t)t->ma_keys;
	l->dict.values = (uint32_t)t->ma_values;
}

static void fill(struct py_layout *l, const struct told *told, const struct py_version *version,
		 unsigned form)
{
	memset(l, 0, sizeof(*l));
	l->version = *version;
	l->frame_form = PY_FRAME_INSTR_PTR;
	l->lines_form = PY_LINES_311;
	l->text_form =
		version->free_threaded && form > 0 ? PY_TEXT_STATE_BYTES : PY_TEXT_STATE_BITS;
	l->dict_form = PY_DICT_INLINE;
	fill_roots(l, told);
	fill_tstate(l, told, &minors[form]);
	fill_frames(l, told, form);
	fill_objects(l, told);
}

enum status offsets_parse(struct py_layout *layout, struct bytes table)
{
	struct py_version version;
	enum status status = offsets_version(&version, table);
	unsigned own;

	if (status != ST_OK)
		return status;
	if (version.major != 3 || version.minor < FIRST_MINOR)
		return ST_UNSUPPORTED_VERSION;
	own = version.minor - FIRST_MINOR;
	for (unsigned try = 0; try <= FORM_COUNT; try++) {
		unsigned form = try ? FORM_COUNT -
		try : own
			;
		struct told told;

		if (form < FORM_COUNT && take(&told, table, form) &&
		    plausible(&told, version.free_threaded)) {
			fill(layout, &told, &version, form);
			return ST_OK;
		}
	}
	return ST_UNSUPPORTED_VERSION;
}
