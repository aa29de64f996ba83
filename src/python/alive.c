/*
 * alive: a second look at one frame.
 *
 * Memory keeps what calls have left behind, code word and all; so it takes more than the word to say that a frame lives.
 * The resolver asks when it has read a code object for the first time: was it the one that ran?
 */
#include "python/alive.h"

#include <string.h>

/*
 * <= 3.10: the words of a frame object: its instruction, and behind that whether it executes.
 * Source: Include/frameobject.h, f_executing of 3.8 and 3.9; f_state of 3.10, where 0 is FRAME_EXECUTING.
 */
static bool read_frame_object(struct py_frame *f, const struct py_layout *l, struct memory *memory)
{
	bool in_units = l->lines_form == PY_LINES_310;
	uint8_t raw[16];
	int32_t lasti;

	if (memory_read(memory, f->address + l->frame.lasti, raw, sizeof(raw)) != ST_OK)
		return false;
	memcpy(&lasti, raw, sizeof(lasti));
	f->instruction = lasti < 0 ? -1 : in_units ? 2 * (int64_t)lasti : lasti;
	return (raw[12] == 0) == in_units;
}

/*
 * 3.11 and later: what lies beyond the top of the data stack is dead.
 * datastack_limit follows datastack_top: Include/cpython/pystate.h, 3.11 to 3.15.
 */
static bool read_frame(struct py_frame *f, const struct py_layout *l, struct memory *memory,
		       remote_addr tstate)
{
	uint64_t instruction, top[2];

	if (!memory_read_u64(memory, f->address + l->frame.lasti, &instruction) ||
	    memory_read(memory, tstate + l->tstate.datastack_top, top, sizeof(top)) != ST_OK)
		return false;
	f->instruction = (int64_t)(f->tlbc_index > 0 ? instruction : instruction - f->code);
	return f->address < top[0] || f->address >= top[1];
}

bool alive_frame(struct py_frame *frame, const struct py_layout *layout, struct memory *memory,
		 remote_addr tstate, const struct code_identity *identity)
{
	bool lives = layout->frame_form == PY_FRAME_OBJECT
			     ? read_frame_object(frame, layout, memory)
			     : read_frame(frame, layout, memory, tstate);
	bool same = false;
	remote_addr code;

	if (!lives || !memory_read_u64(memory, frame->address + layout->frame.code, &code))
		return false;
	if (layout->frame.code_tagged)
		code &= ~(remote_addr)7;
	return code == frame->code &&
	       identity_check(&identity, &same, 1, layout, memory) == ST_OK && same;
}
