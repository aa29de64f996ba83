/*
 * stack: from a reading of a thread to its stack: judge it, find what was missing, read again.
 *
 * See stack_plan.c for what a reading holds, and frames.c for why that proves a stack. Where the pieces lie is known
 * from the looks before; a walk that leaves them says where it wanted to go, that place is looked up and all is read
 * again. A walk that saw motion is read again just so, PY_READS_MAX times at most.
 *
 * The work in one look is bounded whatever the target does: PY_READS_MAX torn readings, STACK_MISSES_MAX others,
 * STACK_PIECES_MAX pieces, STACK_CHASE_MAX single frames, PLACES_MAX places, CHUNKS_MAX chunks, PY_DEPTH_MAX frames.
 *
 * Called by interp.c for each thread.
 */
#include "python/stack.h"

#include <string.h>

#include "base/alloc.h"

#define ROOT_STREAK 8 /* looks that ended in the same entry frame until it is not read any more */
#define ROOT_EVERY 64 /* looks between two times it is read nevertheless */
#define AGE_EVERY 16  /* looks between two times that old chunks are forgotten */

#define UNTRUSTED 1 /* no frame's address: the chain breaks there */

enum verdict { VERDICT_GOOD, VERDICT_NONE, VERDICT_MISSING, VERDICT_TORN };

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

/* What the thread state says of its data stack. */
static void note_chunk(struct stack_reader *reader, struct stack_memo *memo, const uint8_t *state)
{
	uint32_t top = reader->layout->tstate.datastack_top;
	remote_addr limit;

	if (!stack_has_chunks(reader))
		return;
	/* datastack_limit follows datastack_top: Include/cpython/pystate.h, 3.11 to 3.15 */
	if (top + 16 <= reader->layout->tstate.size)
		limit = copies_word(state + top + 8);
	else
		limit = copies_word(state + reader->layout->tstate.datastack_chunk) + 16384;
	chunks_note_top(&memo->chunks, copies_word(state + reader->layout->tstate.datastack_chunk),
			copies_word(state + top), limit, reader->look);
}

/*
 * The address of the top frame; false when what holds it was not read (the walk's missing says where it is). A cframe that
 * was read beside frames, so not in the middle, must name the same frame before and after; else there is no leaf to trust.
 */
static bool find_leaf(struct stack_reader *reader, struct stack_memo *memo, const uint8_t *state,
		      remote_addr *leaf)
{
	remote_addr word = copies_word(state + stack_leaf_offset(reader->layout));
	uint32_t into = reader->layout->cframe.current_frame;
	const struct stretch *stretch;

	memo->leaf_word = word;
	*leaf = word;
	if (!stack_has_cframe(reader) || !word)
		return true;
	stretch = copies_find(&memo->copies, word, into + 8);
	if (!stretch) {
		reader->walk.missing = word;
		return false;
	}
	if (stretch != memo->copies.items)
		places_keep(&memo->places, word, into + 8, false, reader->look);
	*leaf = copies_word(stretch->first + (word - stretch->start) + into);
	if (stretch->second &&
	    copies_word(stretch->second + (word - stretch->start) + into) != *leaf)
		*leaf = UNTRUSTED;
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
		      base != LAYOUT_NONE ? copies_word(state + base) : 0, trusted_root(memo));
	note_walk(reader, memo);
	if (!walk->moved)
		note_root(reader, memo);
	if (walk->end == FRAMES_MISSING)
		return VERDICT_MISSING;
	if (walk->end == FRAMES_BROKEN || walk->moved || memo->copies.interrupted)
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

		if (stack_has_chunks(reader) &&
		    chunks_want(&memo->chunks, reader->layout, reader->memory, address, shape->size,
				reader->look))
			return;
		memo->chase_left--;
		if (memory_read(reader->memory, address, raw, shape->size) != ST_OK)
			return;
		is_entry = shape->owner != LAYOUT_NONE && raw[shape->owner] >= shape->owner_skip;
		if (!frames_plausible(shape, raw))
			return;
		places_keep(&memo->places, address, shape->size, twice || !is_entry, reader->look);
		twice = false;
		address = copies_word(raw + shape->previous);
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
	if (*state && copies_word(*state + reader->layout->tstate.interp) != interp)
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
	    copies_word(state + stack_leaf_offset(reader->layout)) == memo->leaf_word) {
		stack->state = PY_STACK_UNCHANGED;
		stack->tries = 0;
		stack->kept = stack->depth;
		return ST_OK;
	}
	return stack_read_now(reader, memo, tstate, interp, stack);
}
