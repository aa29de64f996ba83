/*
 * proof: the last step before a runtime is believed.
 *
 * Numbers of a table can be right for a version and wrong for a build of it: one with reference
 * tracing, one with patches of its own. So a few things that must be so are looked at: the list
 * of interpreters, a thread state that names its interpreter, and a frame whose code is an
 * object of the type "code". A target in motion can fail each of them by chance, so what is
 * wrong must stay wrong.
 *
 * Called by runtime.c for each candidate.
 */
#include "python/proof.h"

#include <string.h>

#define INTERPS_TRIED 64
#define THREADS_TRIED 64
#define FRAMES_TRIED 64 /* entry frames and hidden ones before the first that counts */
#define TRIES 20

/* Of one interpreter: ST_BAD_DATA when its first thread state is not its own. */
static enum status check_owner(const struct py_runtime *r, struct memory *memory,
			       remote_addr interp)
{
	uint64_t tstate, owner;

	if (!memory_read_u64(memory, interp + r->layout.interp.threads_head, &tstate))
		return ST_BAD_DATA;
	if (!tstate)
		return ST_STARTING;
	if (!memory_read_u64(memory, tstate + r->layout.tstate.interp, &owner) || owner != interp)
		return ST_BAD_DATA;
	return ST_OK;
}

static bool is_code(const struct py_layout *l, struct memory *memory, remote_addr object)
{
	uint64_t type, name;
	char text[8];

	return memory_read_u64(memory, object + l->object.type, &type) &&
	       memory_read_u64(memory, type + l->type.name, &name) &&
	       memory_read_string(memory, name, text, sizeof(text)) == ST_OK &&
	       strcmp(text, "code") == 0;
}

static bool read_top_frame(const struct py_layout *l, struct memory *memory, remote_addr tstate,
			   uint64_t *frame)
{
	uint64_t cframe;

	switch (l->frame_form) {
	case PY_FRAME_OBJECT:
		return memory_read_u64(memory, tstate + l->tstate.frame, frame);
	case PY_FRAME_PREV_INSTR:
		return memory_read_u64(memory, tstate + l->tstate.cframe, &cframe) &&
		       memory_read_u64(memory, cframe + l->cframe.current_frame, frame);
	case PY_FRAME_INSTR_PTR:
		return memory_read_u64(memory, tstate + l->tstate.current_frame, frame);
	}
	return false;
}

/*
 * From frame on: ST_OK: there is code. ST_STARTING: there are no frames. ST_BAD_DATA: other
 * things.
 */
static enum status check_frames(const struct py_layout *l, struct memory *memory, uint64_t frame)
{
	enum status status = ST_STARTING;

	for (int i = 0; frame && i < FRAMES_TRIED; i++) {
		uint8_t owner = 0;
		uint64_t code;

		if (!memory_read_u64(memory, frame + l->frame.code, &code) ||
		    (l->frame.owner != LAYOUT_NONE &&
		     memory_read(memory, frame + l->frame.owner, &owner, 1) != ST_OK))
			return ST_BAD_DATA;
		if (owner < l->owner_skip) {
			if (is_code(l, memory, l->frame.code_tagged ? code & ~(uint64_t)7 : code))
				return ST_OK;
			status = ST_BAD_DATA;
		}
		if (!memory_read_u64(memory, frame + l->frame.previous, &frame))
			return ST_BAD_DATA;
	}
	return status;
}

/* One thread of the interpreter whose frames are right is enough; so is one without frames. */
static enum status check_threads(const struct py_runtime *r, struct memory *memory,
				 remote_addr interp)
{
	const struct py_layout *l = &r->layout;
	enum status status = ST_BAD_DATA;
	uint64_t tstate, frame;

	if (!memory_read_u64(memory, interp + l->interp.threads_head, &tstate))
		return ST_BAD_DATA;
	for (int i = 0; tstate && i < THREADS_TRIED && status == ST_BAD_DATA; i++) {
		if (read_top_frame(l, memory, tstate, &frame))
			status = check_frames(l, memory, frame);
		if (!memory_read_u64(memory, tstate + l->tstate.next, &tstate))
			break;
	}
	return status == ST_BAD_DATA ? ST_BAD_DATA : ST_OK;
}

/* The newest interpreter comes first and may still be in the making: one that lives is enough. */
static enum status check_interps(const struct py_runtime *r, struct memory *memory)
{
	enum status status = ST_STARTING;
	uint64_t interp;

	if (!memory_read_u64(memory, r->interp_head, &interp))
		return ST_BAD_DATA;
	for (int i = 0; interp && i < INTERPS_TRIED; i++) {
		status = check_owner(r, memory, interp);
		if (status == ST_OK)
			status = check_threads(r, memory, interp);
		if (status == ST_OK)
			return ST_OK;
		if (!memory_read_u64(memory, interp + r->layout.interp.next, &interp))
			return ST_BAD_DATA;
	}
	return status;
}

enum status proof_find(const struct py_runtime *runtime, struct memory *memory)
{
	enum status status = ST_BAD_DATA;
	uint8_t root[8];

	for (int i = 0; i < TRIES && status == ST_BAD_DATA; i++)
		status = check_interps(runtime, memory);
	if (status != ST_BAD_DATA)
		return status;
	/* a target that has ended or may not be read is told apart by its root */
	status = memory_read(memory, runtime->interp_head, root, sizeof(root));
	return status == ST_OK ? ST_UNSUPPORTED_BUILD : status;
}
