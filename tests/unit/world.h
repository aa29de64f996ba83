/*
 * world: a made-up CPython in an arena: roots, interpreters, thread states, frames in stack chunks or on the heap. The
 * layouts are small inventions of the three forms that exist; only what interp reads is there.
 */
#ifndef PYTOP_TESTS_WORLD_H
#define PYTOP_TESTS_WORLD_H

#include "arena.h"
#include "python/runtime.h"

#define WORLD_RUNTIME (ARENA_START + 0x40u)
#define WORLD_INTERP(i) (ARENA_START + 0x200u + (i)*0x200u)  /* i < 4 */
#define WORLD_TSTATE(i) (ARENA_START + 0x1000u + (i)*0x100u) /* i < 16 */
#define WORLD_CFRAME(i) (ARENA_START + 0x2000u + (i)*0x40u)
#define WORLD_HEAP(i) (ARENA_START + 0x3000u + (i)*0x1000u) /* i < 4: frames that lie elsewhere */
#define WORLD_CHUNK(i) (ARENA_START + 0x8000u + (i)*0x800u) /* i < 14 */
#define WORLD_CHUNK_SIZE 0x800u
#define WORLD_CODE(i) (UINT64_C(0x500000) + (uint64_t)(i)*0x100u) /* is not read */

#define WORLD_FRAME_SIZE 80u
#define WORLD_NATIVE_ID(i) (1000u + (i))

enum world_form { WORLD_OBJECTS, WORLD_CFRAMES, WORLD_INSTRS };

struct world {
	struct arena arena;
	struct py_runtime runtime;
	enum world_form form;
};

/* clang-format off */
static inline void world_layout(struct py_layout *l, enum world_form form)
{
	*l = (struct py_layout){
		.version = { .major = 3, .minor = form == WORLD_OBJECTS ? 8 : form == WORLD_CFRAMES ? 11 : 13, .level = 'f' },
		.frame_form = form == WORLD_OBJECTS ? PY_FRAME_OBJECT : form == WORLD_CFRAMES ? PY_FRAME_PREV_INSTR
											 : PY_FRAME_INSTR_PTR,
		.lines_form = form == WORLD_OBJECTS ? PY_LINES_LNOTAB : PY_LINES_311,
		.runtime = { .interpreters_head = 8, .finalizing = 16, .gil = LAYOUT_NONE,
			     .gc_collecting = LAYOUT_NONE, .tstate_current = LAYOUT_NONE, .size = 24 },
		.interp = { .next = 0, .threads_head = 8, .id = 16, .gc_collecting = 24, .gc_frame = LAYOUT_NONE,
			    .finalizing = LAYOUT_NONE, .ceval_gil = 32, .gil = 64, .code_generation = LAYOUT_NONE,
			    .tlbc_generation = LAYOUT_NONE, .runtime = LAYOUT_NONE, .size = 104 },
		.gil = { .last_holder = 8, .locked = 16, .enabled = LAYOUT_NONE, .size = 40 },
		.tstate = { .prev = 0, .next = 8, .interp = 16, .thread_id = 56, .native_thread_id = 64,
			    .status = LAYOUT_NONE, .state = LAYOUT_NONE, .frame = LAYOUT_NONE, .cframe = LAYOUT_NONE,
			    .current_frame = LAYOUT_NONE, .base_frame = LAYOUT_NONE, .datastack_chunk = LAYOUT_NONE,
			    .datastack_top = LAYOUT_NONE, .holds_gil = LAYOUT_NONE, .gil_requested = LAYOUT_NONE,
			    .curexc = 72, .exc_info = 80, .size = 104 },
		.cframe = { .current_frame = LAYOUT_NONE },
		.err_item = { .exc_value = 0, .previous_item = 8 },
		.frame = { .previous = 8, .code = 0, .lasti = 56, .owner = 70, .localsplus = 72,
			   .tlbc_index = LAYOUT_NONE, .stackpointer = LAYOUT_NONE, .size = WORLD_FRAME_SIZE },
		.owner_skip = form == WORLD_INSTRS ? 3 : 255,
		.stack_chunk = { .chunk_previous = 0, .chunk_size = 8, .chunk_top = 16, .chunk_data = 24 },
		.object = { .size = 16, .type = 8 },
		.type = { .name = 24 },
	};
	if (form == WORLD_OBJECTS) {
		l->tstate.frame = 24;
		l->frame.owner = LAYOUT_NONE;
		l->runtime.gil = 32;
		l->runtime.size = 72;
		l->interp.ceval_gil = l->interp.gil = LAYOUT_NONE;
		return;
	}
	if (form == WORLD_CFRAMES) {
		l->tstate.cframe = 24;
		l->cframe.current_frame = 8;
	} else {
		l->tstate.current_frame = 24;
	}
	l->tstate.datastack_chunk = 32;
	l->tstate.datastack_top = 40;
}
/* clang-format on */

/* One interpreter without threads. */
static inline void world_open(struct world *w, enum world_form form)
{
	arena_open(&w->arena);
	w->form = form;
	w->runtime = (struct py_runtime){ .address = WORLD_RUNTIME,
					  .interp_head = WORLD_RUNTIME + 8,
					  .tid_offset = LAYOUT_NONE };
	world_layout(&w->runtime.layout, form);
	arena_u64(&w->arena, WORLD_RUNTIME + 8, WORLD_INTERP(0));
	if (form != WORLD_OBJECTS)
		arena_u64(&w->arena, WORLD_INTERP(0) + 32, WORLD_INTERP(0) + 64);
}

/* Thread state i in interpreter k, before next (0: the last) in its list; its links are the caller's. */
static inline void world_thread(struct world *w, unsigned i, unsigned k, remote_addr next)
{
	struct arena *a = &w->arena;

	arena_u64(a, WORLD_TSTATE(i) + 8, next);
	arena_u64(a, WORLD_TSTATE(i) + 16, WORLD_INTERP(k));
	arena_u64(a, WORLD_TSTATE(i) + 56, 0x7f0000000000u + i * 0x1000u);
	arena_u64(a, WORLD_TSTATE(i) + 64, WORLD_NATIVE_ID(i));
	arena_u64(a, WORLD_TSTATE(i) + 80, WORLD_TSTATE(i) + 88);
	arena_u64(a, WORLD_TSTATE(i) + 24, w->form == WORLD_CFRAMES ? WORLD_CFRAME(i) : 0);
	if (w->form == WORLD_OBJECTS)
		return;
	arena_u64(a, WORLD_TSTATE(i) + 32, WORLD_CHUNK(i));
	arena_u64(a, WORLD_TSTATE(i) + 40, WORLD_CHUNK(i) + 24);
	arena_u64(a, WORLD_TSTATE(i) + 48, WORLD_CHUNK(i) + WORLD_CHUNK_SIZE);
	arena_u64(a, WORLD_CHUNK(i) + 8, WORLD_CHUNK_SIZE);
}

static inline void world_head(struct world *w, unsigned k, remote_addr tstate)
{
	arena_u64(&w->arena, WORLD_INTERP(k) + 8, tstate);
}

/* A frame anywhere, owned by owner; instruction: bytes from the code's start (objects: lasti). */
static inline void world_frame(struct world *w, remote_addr at, remote_addr previous, unsigned code,
			       uint32_t instruction, uint8_t owner)
{
	arena_u64(&w->arena, at, WORLD_CODE(code));
	arena_u64(&w->arena, at + 8, previous);
	arena_put(&w->arena, at + 70, &owner, 1);
	if (w->form == WORLD_OBJECTS) {
		arena_u32(&w->arena, at + 56, instruction);
		arena_u32(&w->arena, at + 68, 1); /* executing */
	} else {
		arena_u64(&w->arena, at + 56, WORLD_CODE(code) + instruction);
	}
}

/* The leaf of thread i. */
static inline void world_leaf(struct world *w, unsigned i, remote_addr frame)
{
	if (w->form == WORLD_CFRAMES)
		arena_u64(&w->arena, WORLD_CFRAME(i) + 8, frame);
	else
		arena_u64(&w->arena, WORLD_TSTATE(i) + 24, frame);
}

/* The address of frame n, counted from the root, in the chunk of thread i (objects: on heap page i). */
static inline remote_addr world_slot(const struct world *w, unsigned i, unsigned n)
{
	return (w->form == WORLD_OBJECTS ? WORLD_HEAP(i) : WORLD_CHUNK(i) + 24u) +
	       n * WORLD_FRAME_SIZE;
}

/*
 * A stack of depth frames for thread i, frame n running code first_code + n; 3.13's has an entry frame on the "C stack"
 * below the root.
 */
static inline void world_stack(struct world *w, unsigned i, unsigned depth, unsigned first_code)
{
	remote_addr previous = 0;

	if (w->form == WORLD_INSTRS && depth) {
		previous = WORLD_HEAP(3) + i * 0x100u;
		world_frame(w, previous, 0, 999, 0, 3);
	}
	for (unsigned n = 0; n < depth; n++) {
		world_frame(w, world_slot(w, i, n), previous, first_code + n, 2 * n, 0);
		previous = world_slot(w, i, n);
	}
	world_leaf(w, i, depth ? previous : 0);
	if (w->form != WORLD_OBJECTS)
		arena_u64(&w->arena, WORLD_TSTATE(i) + 40, world_slot(w, i, depth));
}

/* Thread holder (its index) has the GIL of interpreter k; -1: nobody. */
static inline void world_gil(struct world *w, unsigned k, int holder)
{
	remote_addr gil = w->form == WORLD_OBJECTS ? WORLD_RUNTIME + 32 : WORLD_INTERP(k) + 64;

	if (holder >= 0)
		arena_u64(&w->arena, gil + 8, WORLD_TSTATE((unsigned)holder));
	arena_u32(&w->arena, gil + 16, holder >= 0);
}

#endif
