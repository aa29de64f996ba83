/*
 * stack_plan: what is asked for of one thread, and in which order.
 *
 * [frames elsewhere, chunks][thread state][entry frames][chunks, frames elsewhere again]. The less lies between the
 * copies of the leaf, the less often it has moved: the newest chunk is last before the middle and first behind it. In
 * 3.11 and 3.12 the cframe names the leaf, so it stands right behind the thread state, which says where it is: a
 * cframe of a call that has returned still names frames, and these must have been live between the copies.
 *
 * Frames elsewhere are copied in the same order both times. Before 3.11 a dead frame looks like a live one: with the
 * caller read first before the middle and last behind it, a frame that began and ended in between would show its
 * last instruction under a caller that seems to have stood still.
 *
 * Called by interp.c for the batch of a tick and by stack.c for readings of one thread.
 */
#include "python/stack.h"

#define TSTATE_SIZE_MAX 4096

uint32_t stack_leaf_offset(const struct py_layout *layout)
{
	switch (layout->frame_form) {
	case PY_FRAME_OBJECT:
		return layout->tstate.frame;
	case PY_FRAME_PREV_INSTR:
		return layout->tstate.cframe;
	default:
		return layout->tstate.current_frame;
	}
}

static bool inside(uint32_t offset, uint32_t width, uint32_t size)
{
	return width <= size && offset <= size - width;
}

enum status stack_reader_open(struct stack_reader *reader, const struct py_layout *layout,
			      struct memory *memory)
{
	uint32_t size = layout->tstate.size;
	enum status status = frame_shape_make(&reader->shape, layout);

	if (status != ST_OK)
		return status;
	if (size < 32 || size > TSTATE_SIZE_MAX || !inside(stack_leaf_offset(layout), 8, size) ||
	    !inside(layout->tstate.next, 8, size) || !inside(layout->tstate.interp, 8, size))
		return ST_BAD_DATA;
	if (layout->frame_form != PY_FRAME_OBJECT &&
	    (!inside(layout->tstate.datastack_chunk, 8, size) ||
	     !inside(layout->tstate.datastack_top, 8, size)))
		return ST_BAD_DATA;
	if (layout->frame_form == PY_FRAME_PREV_INSTR &&
	    !inside(layout->cframe.current_frame, 8, FRAMES_SIZE_MAX))
		return ST_BAD_DATA;
	if (layout->tstate.base_frame != LAYOUT_NONE && !inside(layout->tstate.base_frame, 8, size))
		return ST_BAD_DATA;
	reader->layout = layout;
	reader->memory = memory;
	return ST_OK;
}

void stack_reader_close(struct stack_reader *reader)
{
	batch_free(&reader->again);
}

void stack_memo_free(struct stack_memo *memo)
{
	chunks_free(&memo->chunks);
	places_free(&memo->places);
	copies_free(&memo->copies);
}

void stack_memo_reset(struct stack_memo *memo)
{
	memo->chunks.count = 0;
	memo->chunks.newest = 0;
	memo->places.count = 0;
	memo->places.changed = true;
	copies_clear(&memo->copies);
	memo->root = (struct frames_root){ 0 };
	memo->root_streak = 0;
	memo->root_frame = 0;
	memo->leaf_word = 0;
	memo->settled = false;
}

/* The newest chunk, or all others that are read. */
static void gather_chunks(struct stack_reader *reader, struct stack_memo *memo, bool newest)
{
	for (size_t i = 0; i < memo->chunks.count; i++) {
		const struct chunk *chunk = &memo->chunks.items[i];

		if ((chunk->address == memo->chunks.newest) == newest &&
		    chunk_is_read(&memo->chunks, chunk, reader->look))
			copies_add(&memo->copies, chunk->address, chunk->used);
	}
}

/* Which stretches are wanted; no pieces yet. */
static void gather(struct stack_reader *reader, struct stack_memo *memo, bool again)
{
	struct copies *copies = &memo->copies;
	uint32_t look = reader->look;

	gather_chunks(reader, memo, true);
	gather_chunks(reader, memo, false);
	copies->sorted = copies->count;
	places_settle(&memo->places, look, again);
	for (size_t i = 0; i < memo->places.span_count; i++) {
		const struct place_span *span = &memo->places.spans[i];
		struct stretch *stretch = copies_add(copies, span->start, span->size);

		if (stretch)
			stretch->again = span->twice ? 0 : BATCH_NO_PIECE;
	}
}

/* The first copies: the newest chunk, where the leaf mostly is, last. */
static void add_first(struct copies *copies, struct batch *batch)
{
	for (size_t i = copies->sorted; i < copies->count; i++) {
		struct stretch *stretch = &copies->items[i];

		if (stretch->again != BATCH_NO_PIECE)
			stretch->piece = batch_add(batch, stretch->start, stretch->size);
	}
	for (size_t i = copies->sorted; i-- > 1;) {
		struct stretch *stretch = &copies->items[i];

		stretch->piece = batch_add(batch, stretch->start, stretch->size);
	}
}

static void add_once(struct copies *copies, struct batch *batch)
{
	for (size_t i = 1; i < copies->count; i++) {
		struct stretch *stretch = &copies->items[i];

		if (stretch->again == BATCH_NO_PIECE)
			stretch->piece = batch_add(batch, stretch->start, stretch->size);
	}
}

/* The second copies: the newest chunk first. */
static void add_second(struct copies *copies, struct batch *batch)
{
	for (size_t i = 1; i < copies->count; i++) {
		struct stretch *stretch = &copies->items[i];

		if (stretch->again != BATCH_NO_PIECE)
			stretch->again = batch_add(batch, stretch->start, stretch->size);
	}
}

void stack_plan(struct stack_reader *reader, struct stack_memo *memo, struct batch *batch,
		remote_addr tstate, bool whole)
{
	struct copies *copies = &memo->copies;
	struct stretch *state;

	copies_clear(copies);
	state = copies_add(copies, tstate, reader->layout->tstate.size);
	copies->sorted = copies->count;
	if (!state)
		return;
	state->again = BATCH_NO_PIECE;
	if (whole)
		gather(reader, memo, batch == &reader->again);
	add_first(copies, batch);
	state = copies->items;
	state->piece = batch_add(batch, state->start, state->size);
	add_once(copies, batch);
	add_second(copies, batch);
}

/* A stretch that could not be read: what was there is no more. */
static void forget(struct stack_memo *memo, struct stretch *stretch, bool is_chunk)
{
	stretch->first = NULL;
	if (is_chunk)
		chunks_drop(&memo->chunks, stretch->start);
	else
		places_drop(&memo->places, stretch->start, stretch->size);
}

const uint8_t *stack_tstate(struct stack_memo *memo, const struct batch *batch)
{
	struct copies *copies = &memo->copies;

	copies->interrupted = batch->interrupted;
	for (size_t i = 0; i < copies->count; i++) {
		struct stretch *stretch = &copies->items[i];
		bool twice = stretch->again != BATCH_NO_PIECE;

		stretch->first = batch_bytes(batch, stretch->piece);
		stretch->second = twice ? batch_bytes(batch, stretch->again) : NULL;
		if (i > 0 && (!stretch->first || (twice && !stretch->second)))
			forget(memo, stretch, i < copies->sorted);
	}
	return copies->count ? copies->items[0].first : NULL;
}
