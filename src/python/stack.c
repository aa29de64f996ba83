/*
 * stack: the pieces of a thread, in the order that makes them a proof, and the loop that ends in one.
 *
 * [chunks and frames elsewhere][thread state][entry frames, cframe][chunks and frames elsewhere again]: see frames.c
 * for why this proves a stack. Where the pieces lie is known from the looks before; a walk that leaves them
 * says where it wanted to go, that place is looked up and all is read again. A walk that saw motion is read again
 * just so, PY_READS_MAX times at most.
 *
 * The work in one look is bounded whatever the target does: PY_READS_MAX torn readings, STACK_MISSES_MAX others,
 * STACK_PIECES_MAX pieces, STACK_CHASE_MAX single frames, PLACES_MAX places, CHUNKS_MAX chunks, PY_DEPTH_MAX frames.
 *
 * Called by interp.c for each thread.
 */
#include "python/stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define TSTATE_SIZE_MAX 4096
#define ROOT_STREAK 8 /* looks that ended in the same entry frame until it is not read any more */
#define ROOT_EVERY 64 /* looks between two times it is read nevertheless */
#define AGE_EVERY 16  /* looks between two times that old chunks are forgotten */

enum verdict { VERDICT_GOOD, VERDICT_NONE, VERDICT_MISSING, VERDICT_TORN };

static uint64_t word_at(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* The thread state's pointer to its top frame, or to what holds it. */
static uint32_t leaf_offset(const struct py_layout *layout)
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
	if (size < 32 || size > TSTATE_SIZE_MAX || !inside(leaf_offset(layout), 8, size) ||
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

static bool has_chunks(const struct stack_reader *reader)
{
	return reader->layout->frame_form != PY_FRAME_OBJECT;
}

/* The entry frame that ended the chain so often that it is left out of the reading. */
static const struct frames_root *trusted_root(const struct stack_memo *memo)
{
	return memo->root_streak >= ROOT_STREAK ? &memo->root : NULL;
}

/* Where the chain ended this time. */
static void note_root(struct stack_reader *reader, struct stack_memo *memo)
{
	const struct frames_root *root = &reader->walk.root;

	if (reader->shape.owner_skip == UINT8_MAX || reader->walk.end != FRAMES_ROOT ||
	    !root->entry)
		return;
	if (root->frame != memo->root.frame || root->code != memo->root.code ||
	    root->entry != memo->root.entry) {
		memo->root = *root;
		memo->root_streak = 0;
		return;
	}
	if (++memo->root_streak == ROOT_STREAK) {
		places_drop(&memo->places, root->entry, 1);
	} else if (memo->root_streak >= ROOT_STREAK + ROOT_EVERY) {
		places_keep(&memo->places, root->entry, reader->shape.size, false, reader->look);
		memo->root_streak = ROOT_STREAK - 1;
	}
}

/* Which stretches are wanted; no pieces yet. */
static void gather(struct stack_reader *reader, struct stack_memo *memo, bool again)
{
	struct copies *copies = &memo->copies;
	uint32_t look = reader->look;

	for (size_t i = 0; i < memo->chunks.count; i++) {
		const struct chunk *chunk = &memo->chunks.items[i];
		struct stretch *stretch = NULL;

		if (chunk_is_read(&memo->chunks, chunk, look))
			stretch = copies_add(copies, chunk->address, chunk->used);
		if (stretch)
			stretch->again = 0;
	}
	copies->sorted = copies->count;
	places_settle(&memo->places, look, again);
	for (size_t i = 0; i < memo->places.span_count; i++) {
		const struct place_span *span = &memo->places.spans[i];
		struct stretch *stretch = copies_add(copies, span->start, span->size);

		if (stretch)
			stretch->again = span->twice ? 0 : BATCH_NO_PIECE;
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
	for (size_t i = 1; i < copies->count; i++) {
		struct stretch *stretch = &copies->items[i];

		if (stretch->again != BATCH_NO_PIECE)
			stretch->piece = batch_add(batch, stretch->start, stretch->size);
	}
	for (size_t i = 0; i < copies->count; i++) {
		struct stretch *stretch = &copies->items[i];

		if (stretch->again == BATCH_NO_PIECE)
			stretch->piece = batch_add(batch, stretch->start, stretch->size);
	}
	for (size_t i = 1; i < copies->count; i++) {
		struct stretch *stretch = &copies->items[i];

		if (stretch->again != BATCH_NO_PIECE)
			stretch->again = batch_add(batch, stretch->start, stretch->size);
	}
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

/* What the thread state says of its data stack. */
static void note_chunk(struct stack_reader *reader, struct stack_memo *memo, const uint8_t *state)
{
	uint32_t top = reader->layout->tstate.datastack_top;
	remote_addr limit;

	if (!has_chunks(reader))
		return;
	/* datastack_limit follows datastack_top: Include/cpython/pystate.h, 3.11 to 3.15 */
	if (inside(top, 16, reader->layout->tstate.size))
		limit = word_at(state + top + 8);
	else
		limit = word_at(state + reader->layout->tstate.datastack_chunk) + 16384;
	chunks_note_top(&memo->chunks, word_at(state + reader->layout->tstate.datastack_chunk),
			word_at(state + top), limit, reader->look);
}

/* The address of the top frame; false when what holds it was not read (the walk's missing says where it is). */
static bool find_leaf(struct stack_reader *reader, struct stack_memo *memo, const uint8_t *state,
		      remote_addr *leaf)
{
	remote_addr word = word_at(state + leaf_offset(reader->layout));
	uint32_t into = reader->layout->cframe.current_frame;
	const struct stretch *stretch;

	memo->leaf_word = word;
	*leaf = word;
	if (reader->layout->frame_form != PY_FRAME_PREV_INSTR || !word)
		return true;
	stretch = copies_find(&memo->copies, word, into + 8);
	if (!stretch) {
		reader->walk.missing = word;
		return false;
	}
	if (stretch != memo->copies.items)
		places_keep(&memo->places, word, into + 8, false, reader->look);
	*leaf = word_at(stretch->first + (word - stretch->start) + into);
	return true;
}

/* After a walk: remember where it went. */
static void note_walk(struct stack_reader *reader, struct stack_memo *memo)
{
	struct copies *copies = &memo->copies;

	for (size_t i = 1; i < copies->sorted; i++) {
		const struct stretch *stretch = &copies->items[i];

		if (stretch->used)
			chunks_note_frames(&memo->chunks, reader->layout, stretch->start,
					   (struct bytes){ stretch->second, stretch->size },
					   reader->look);
	}
	places_keep_frames(&memo->places, reader->walk.elsewhere, reader->walk.elsewhere_is_entry,
			   reader->walk.elsewhere_count, reader->shape.size, reader->look);
}

/*
 * A chain that ends at another frame than this thread's stacks did is believed when a second reading says so too:
 * before 3.12 nothing in a frame proves that it is the root, and two copies can be torn in the same way.
 */
static bool root_is_believed(struct stack_reader *reader, struct stack_memo *memo)
{
	const struct frames_walk *walk = &reader->walk;
	remote_addr root;

	if (walk->end != FRAMES_ROOT || !walk->depth)
		return true;
	root = walk->frames[walk->depth - 1].address;
	if (root != memo->root_frame && root != memo->root_candidate) {
		memo->root_candidate = root;
		return false;
	}
	memo->root_frame = root;
	return true;
}

/* What this reading says. */
static enum verdict judge(struct stack_reader *reader, struct stack_memo *memo,
			  const uint8_t *state, bool *cframe_missing)
{
	struct frames_walk *walk = &reader->walk;
	uint32_t base = reader->layout->tstate.base_frame;
	remote_addr leaf;

	note_chunk(reader, memo, state);
	*cframe_missing = !find_leaf(reader, memo, state, &leaf);
	if (*cframe_missing)
		return frames_address_fits(walk->missing) ? VERDICT_MISSING : VERDICT_TORN;
	frames_follow(walk, &reader->shape, &memo->copies, leaf,
		      base != LAYOUT_NONE ? word_at(state + base) : 0, trusted_root(memo));
	note_walk(reader, memo);
	if (!walk->moved)
		note_root(reader, memo);
	if (walk->end == FRAMES_MISSING)
		return VERDICT_MISSING;
	if (walk->end == FRAMES_BROKEN || walk->moved)
		return VERDICT_TORN;
	if (!root_is_believed(reader, memo))
		return VERDICT_TORN;
	return walk->depth ? VERDICT_GOOD : VERDICT_NONE;
}

/* Follow frames that lie nowhere known, one by one and unverified, only to learn where they are. */
static void chase(struct stack_reader *reader, struct stack_memo *memo, remote_addr address,
		  bool twice)
{
	const struct frame_shape *shape = &reader->shape;
	uint8_t raw[FRAMES_SIZE_MAX];

	while (frames_address_fits(address) && memo->chase_left) {
		bool is_entry;

		if (has_chunks(reader) && chunks_want(&memo->chunks, reader->layout, reader->memory,
						      address, shape->size, reader->look))
			return;
		memo->chase_left--;
		if (memory_read(reader->memory, address, raw, shape->size) != ST_OK)
			return;
		is_entry = shape->owner != LAYOUT_NONE && raw[shape->owner] >= shape->owner_skip;
		places_keep(&memo->places, address, shape->size, twice || !is_entry, reader->look);
		twice = false;
		address = word_at(raw + shape->previous);
		if (copies_find(&memo->copies, address, shape->size))
			return;
	}
}

static void find_missing(struct stack_reader *reader, struct stack_memo *memo, bool cframe)
{
	remote_addr address = reader->walk.missing;
	uint32_t into = reader->layout->cframe.current_frame;
	uint64_t leaf;

	if (!cframe) {
		chase(reader, memo, address, reader->walk.missing_twice);
		return;
	}
	places_keep(&memo->places, address, into + 8, false, reader->look);
	if (memory_read_u64(reader->memory, address + into, &leaf) &&
	    !copies_find(&memo->copies, leaf, reader->shape.size))
		chase(reader, memo, leaf, false);
}

/* The walk becomes the thread's stack; frames near the root that are as they were stay where they are. */
static enum status publish(struct stack_reader *reader, struct stack_memo *memo,
			   enum verdict verdict, struct py_stack *stack)
{
	const struct frames_walk *walk = &reader->walk;
	uint32_t depth = walk->end <= FRAMES_LIMIT ? walk->depth : 0;

	if (verdict == VERDICT_TORN && walk->end == FRAMES_ROOT && depth &&
	    walk->frames[depth - 1].address != memo->root_frame)
		depth = 0;

	void *frames = stack->frames;
	enum status status = alloc_grow(&frames, &memo->frames_capacity, depth, PY_DEPTH_MAX,
					sizeof(*stack->frames));

	if (status != ST_OK)
		return status;
	stack->frames = frames;
	stack->kept = frames_equal_from_root(stack->frames, stack->depth, walk->frames, depth);
	if (depth == stack->depth && depth)
		memcpy(stack->frames, walk->frames, (depth - stack->kept) * sizeof(*walk->frames));
	else if (depth)
		memcpy(stack->frames, walk->frames, depth * sizeof(*walk->frames));
	stack->depth = depth;
	stack->truncated = depth && walk->end == FRAMES_LIMIT;
	stack->state = verdict == VERDICT_GOOD   ? PY_STACK_GOOD
		       : verdict == VERDICT_NONE ? PY_STACK_NONE
						 : PY_STACK_TORN;
	return ST_OK;
}

/* Read this thread alone, now. *state NULL: it is not there any more. */
static enum status read_again(struct stack_reader *reader, struct stack_memo *memo,
			      remote_addr tstate, remote_addr interp, const uint8_t **state)
{
	enum status status;

	reader->retried++;
	batch_clear(&reader->again);
	stack_plan(reader, memo, &reader->again, tstate, true);
	status = batch_read(&reader->again, reader->memory);
	if (status != ST_OK)
		return status;
	*state = stack_tstate(memo, &reader->again);
	if (*state && word_at(*state + reader->layout->tstate.interp) != interp)
		*state = NULL;
	return ST_OK;
}

/* From a reading to a stack. */
static enum status settle(struct stack_reader *reader, struct stack_memo *memo,
			  const uint8_t *state, remote_addr tstate, remote_addr interp,
			  struct py_stack *stack)
{
	enum verdict verdict = VERDICT_TORN;
	unsigned torn = 0;
	unsigned missing = 0;
	size_t pieces = 0;

	memo->settled = false;
	memo->root_candidate = 0;
	memo->chase_left = STACK_CHASE_MAX;
	reader->walk.end = FRAMES_BROKEN;
	while (state) {
		bool cframe;
		enum status status;

		verdict = judge(reader, memo, state, &cframe);
		if (verdict == VERDICT_GOOD || verdict == VERDICT_NONE)
			break;
		if (verdict == VERDICT_TORN && ++torn == PY_READS_MAX)
			break;
		if (verdict == VERDICT_MISSING) {
			if (++missing > STACK_MISSES_MAX)
				break;
			find_missing(reader, memo, cframe);
		}
		if (pieces > STACK_PIECES_MAX)
			break;
		stack->tries++;
		status = read_again(reader, memo, tstate, interp, &state);
		if (status != ST_OK)
			return status;
		pieces += reader->again.count;
	}
	if (!state || verdict == VERDICT_MISSING) {
		verdict = VERDICT_TORN;
		reader->walk.end = FRAMES_BROKEN;
	}
	enum status status = publish(reader, memo, verdict, stack);

	memo->settled = status == ST_OK && verdict != VERDICT_TORN;
	if (reader->look % AGE_EVERY == 0)
		chunks_age(&memo->chunks, reader->look);
	return status;
}

enum status stack_take(struct stack_reader *reader, struct stack_memo *memo, remote_addr tstate,
		       remote_addr interp, struct py_stack *stack)
{
	stack->tries = 1;
	return settle(reader, memo, memo->copies.items[0].first, tstate, interp, stack);
}

enum status stack_read_now(struct stack_reader *reader, struct stack_memo *memo, remote_addr tstate,
			   remote_addr interp, struct py_stack *stack)
{
	const uint8_t *state = NULL;
	enum status status = read_again(reader, memo, tstate, interp, &state);

	if (status != ST_OK)
		return status;
	stack->tries = 1;
	return settle(reader, memo, state, tstate, interp, stack);
}

enum status stack_check(struct stack_reader *reader, struct stack_memo *memo, remote_addr tstate,
			remote_addr interp, struct py_stack *stack)
{
	const uint8_t *state = memo->copies.count ? memo->copies.items[0].first : NULL;

	if (memo->settled && state &&
	    word_at(state + leaf_offset(reader->layout)) == memo->leaf_word) {
		stack->state = PY_STACK_UNCHANGED;
		stack->tries = 0;
		stack->kept = stack->depth;
		return ST_OK;
	}
	return stack_read_now(reader, memo, tstate, interp, stack);
}
