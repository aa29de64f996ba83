/*
 * layout: where CPython keeps what pytop reads. One struct for every version: from 3.13 on
 * filled from the target's own _Py_DebugOffsets (offsets.c), before that from a table row a
 * version (layouts.c). Offsets are in bytes from the start of the object named; LAYOUT_NONE:
 * this version has no such field.
 */
#ifndef PYTOP_PYTHON_LAYOUT_H
#define PYTOP_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define LAYOUT_NONE UINT32_MAX

struct py_version {
	uint8_t major, minor, micro;
	char level; /* 'a' 'b' 'c' (release candidate) 'f' (final) */
	uint8_t serial;
	bool free_threaded;
	bool debug; /* Py_DEBUG, where it can be told */
};

/* How a thread's frames are linked. */
enum py_frame_form {
	PY_FRAME_OBJECT,     /* <= 3.10: heap PyFrameObject through f_back, lasti an int */
	PY_FRAME_PREV_INSTR, /* 3.11, 3.12: _PyInterpreterFrame, cframe on the C stack */
	PY_FRAME_INSTR_PTR   /* 3.13+: instr_ptr, tstate->current_frame */
};

/* Forms of the line table, see lines.h. */
enum py_lines_form { PY_LINES_LNOTAB_27, PY_LINES_LNOTAB, PY_LINES_310, PY_LINES_311 };

/* Forms of str. */
enum py_text_form { PY_TEXT_BYTES /* 2.7 */, PY_TEXT_STATE_BITS, PY_TEXT_STATE_BYTES /* 3.14t+ */ };

/*
 * Where an instance keeps its attributes, and what the keys of a dict look like; see
 * attribute.c.
 */
enum py_dict_form {
	PY_DICT_TABLE,    /* <= 3.10: dict at obj + tp_dictoffset, 24-byte entries */
	PY_DICT_VALUES,   /* 3.11: values at obj - 32, dict at obj - 24 */
	PY_DICT_ORVALUES, /* 3.12: one word at obj - 24, values when its low bit is set */
	PY_DICT_INLINE    /* 3.13+: values behind the instance, else dict at obj - type.dict_back */
};

struct py_layout {
	struct py_version version;
	enum py_frame_form frame_form;
	enum py_lines_form lines_form;
	enum py_text_form text_form;
	enum py_dict_form dict_form;

	/* size covers all of the others, the gil whole */
	struct {
		uint32_t interpreters_head, finalizing, gil, gc_collecting, tstate_current, size;
	} runtime;
	struct {
		uint32_t next, threads_head, id, gc_collecting, gc_frame, finalizing;
		uint32_t ceval_gil; /* pointer to the gil, 3.12+ */
		uint32_t gil;       /* own gil inside the interpreter, 3.12+ */
		uint32_t code_generation, tlbc_generation, runtime;
		uint32_t size; /* what a tick reads: covers all of the above, the own gil whole */
	} interp;
	/* inside the gil struct; size: everything a futex address may lie in */
	struct {
		uint32_t last_holder, locked, enabled, size;
	} gil;
	struct {
		uint32_t prev, next, interp, thread_id, native_thread_id, status, state;
		uint32_t frame;         /* <= 3.10 */
		uint32_t cframe;        /* 3.11, 3.12 */
		uint32_t current_frame; /* 3.13+ */
		uint32_t base_frame;    /* 3.15+ */
		uint32_t datastack_chunk, datastack_top;
		uint32_t holds_gil, gil_requested; /* 3.14+, 3.15+: int */
		uint32_t curexc, exc_info; /* raised (type or value); handled: a _PyErr_StackItem */
		uint32_t
			size; /* what a tick reads: covers all of the above and the own exc_state */
	} tstate;
	/* Bits of the word at tstate.status (3.12+); 0: this version has no such bit. */
	struct {
		uint32_t bound_gilstate, active, holds_gil, finalizing, cleared, finalized;
	} status_bits;
	struct {
		uint32_t current_frame;
	} cframe;
	struct {
		uint32_t exc_value, previous_item;
	} err_item;
	/* _PyInterpreterFrame (3.11+) or PyFrameObject (before) */
	struct {
		uint32_t previous, code, lasti /* int, instr pointer */, owner, localsplus,
			tlbc_index, stackpointer, size;
		bool code_tagged; /* 3.14+: mask the low 3 bits */
	} frame;
	uint8_t owner_skip; /* 3.12+: owners from this on are entry frames of C; 255: none */
	struct {
		uint32_t chunk_previous, chunk_size, chunk_top, chunk_data;
	} stack_chunk;
	struct {
		uint32_t ob_size; /* number of code units, 3.11+ */
		uint32_t filename, name, qualname, linetable, firstlineno;
		uint32_t code_adaptive, tlbc, firsttraceable;
		uint32_t nlocalsplus, stacksize, framesize;
		uint32_t size; /* of the fixed part */
	} code;
	struct {
		uint32_t size, type;
	} object;
	struct {
		uint32_t name, flags, basicsize, dictoffset, cached_keys;
		uint32_t dict_back; /* 3.13+: the managed dict's pointer stands so far before it */
	} type;
	struct {
		uint32_t length, state, ascii_data, compact_data, legacy_data;
	} text;
	struct {
		uint32_t ob_size, data;
	} bytes;
	struct {
		uint32_t keys, values;
	} dict;
};

#endif
