/*
 * exceptions: the thread's stack of handled exceptions.
 *
 * tstate->exc_info points to the innermost _PyErr_StackItem: the one embedded in the thread state, or that of
 * the generator that is running; previous_item leads outwards. The thread handles an exception when some item
 * has a value that is not None. Items of generators are read as places: their objects are beside the frames.
 * Where None is shows the type's name of the first value met. Source: Include/cpython/pystate.h, Python/errors.c
 * (_PyErr_GetTopmostException), 3.7 to 3.15.
 *
 * Called by interp.c for threads that were read.
 */
#include "python/exceptions.h"

#include <string.h>

#include "python/copies.h"

#define ITEMS_MAX 16

bool exceptions_raising(const struct py_layout *layout, const uint8_t *tstate)
{
	uint32_t offset = layout->tstate.curexc;

	if (offset == LAYOUT_NONE || offset + 8 > layout->tstate.size)
		return false;
	return copies_word(tstate + offset) != 0;
}

static bool is_none(struct exceptions *exceptions, const struct stack_reader *reader,
		    remote_addr value)
{
	const struct py_layout *layout = reader->layout;
	uint64_t type, name;
	char text[16];

	if (exceptions->none)
		return value == exceptions->none;
	if (value == exceptions->not_none)
		return false;
	if (!memory_read_u64(reader->memory, value + layout->object.type, &type) ||
	    !memory_read_u64(reader->memory, type + layout->type.name, &name) ||
	    memory_read_string(reader->memory, name, text, sizeof(text)) != ST_OK ||
	    strcmp(text, "NoneType") != 0) {
		exceptions->not_none = value;
		return false;
	}
	exceptions->none = value;
	return true;
}

bool exceptions_handling(struct exceptions *exceptions, const struct stack_reader *reader,
			 struct stack_memo *memo, bool was)
{
	const struct py_layout *layout = reader->layout;
	uint32_t size = layout->err_item.previous_item + 8;
	const struct stretch *state = memo->copies.count ? memo->copies.items : NULL;
	remote_addr item;

	if (!state || !state->first || layout->tstate.exc_info == LAYOUT_NONE ||
	    layout->tstate.exc_info + 8 > layout->tstate.size || size > 64)
		return false;
	item = copies_word(state->first + layout->tstate.exc_info);
	for (unsigned i = 0; i < ITEMS_MAX && item; i++) {
		const struct stretch *stretch = copies_find(&memo->copies, item, size);
		const uint8_t *at;
		remote_addr value;

		if (!stretch) {
			if (frames_address_fits(item))
				places_keep(&memo->places, item, size, false, reader->look);
			return was;
		}
		if (stretch != state && i < ITEMS_MAX)
			places_keep(&memo->places, item, size, false, reader->look);
		at = stretch->first + (item - stretch->start);
		value = copies_word(at + layout->err_item.exc_value);
		if (value && !is_none(exceptions, reader, value))
			return true;
		item = copies_word(at + layout->err_item.previous_item);
	}
	return false;
}
