/*
 * frames: following a thread's frames through two copies of its memory.
 *
 * Why two copies prove a stack: the words of a frame are written before the frame becomes current, and stay
 * until it has ceased to be. The copies are taken before and after the word that says which frame is current. If
 * that frame's words are equal in both, it was live at that moment, so were its callers, and theirs are equal too:
 * the chain is what the interpreter itself would have said then. What two copies cannot see is a frame that went and
 * came back with the same code, caller and instruction in between; such a stack is still a possible one, and a reading
 * that took long enough for it is not believed (batch.c). Only a generator that was suspended both times and ran in
 * between would end the chain early, since it has no caller then: so a frame without a caller must be one that can be
 * the root.
 *
 * Entry frames (3.12+: where C enters the interpreter) lie on the C stack and do not change while the frame above them
 * lives, so one copy is enough, save for the leaf.
 *
 * Everything read is hostile: addresses are checked before use, steps are counted. Called by stack.c.
 */
#include "python/frames.h"

#include <string.h>

#define OWNER_MAX 4 /* _frameowner, 3.14 */
#define OWNER_GENERATOR 1
#define OWNER_FRAME_OBJECT 2 /* a dead frame kept by its frame object: never on a live stack */
#define FIRST_FRAME_MAX 32   /* where in a chunk the first frame lies: pycore_frame.h, pystate.c */
#define CODE_SIZE_MAX (UINT64_C(64) << 20)

static int32_t int_at(const uint8_t *at)
{
	int32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* Make size cover a field; false when it cannot be part of a frame. */
static bool cover(uint32_t *size, uint32_t offset, uint32_t width)
{
	if (offset > FRAMES_SIZE_MAX - width)
		return false;
	if (*size < offset + width)
		*size = offset + width;
	return true;
}

enum status frame_shape_make(struct frame_shape *shape, const struct py_layout *layout)
{
	bool object = layout->frame_form == PY_FRAME_OBJECT;
	struct frame_shape s = {
		.previous = layout->frame.previous,
		.code = layout->frame.code,
		.lasti = layout->frame.lasti,
		.owner = layout->frame.owner,
		.tlbc_index = layout->frame.tlbc_index,
		.code_mask = layout->frame.code_tagged ? ~UINT64_C(7) : ~UINT64_C(0),
		.executing = LAYOUT_NONE,
		.lasti_is_int = object,
		.lasti_in_units = layout->lines_form == PY_LINES_310,
		.owner_skip = layout->owner_skip,
	};

	if (!cover(&s.size, s.previous, 8) || !cover(&s.size, s.code, 8) ||
	    !cover(&s.size, s.lasti, object ? 4 : 8))
		return ST_BAD_DATA;
	/* Include/frameobject.h: f_executing of 3.6 to 3.9; of 3.10 f_state, where FRAME_EXECUTING is 0 */
	if (object && layout->version.major >= 3) {
		s.executing = s.lasti + 12;
		s.executing_zero = s.lasti_in_units;
		if (!cover(&s.size, s.executing, 1))
			return ST_BAD_DATA;
	}
	if (s.owner != LAYOUT_NONE && !cover(&s.size, s.owner, 1))
		return ST_BAD_DATA;
	if (s.tlbc_index != LAYOUT_NONE && !cover(&s.size, s.tlbc_index, 4))
		return ST_BAD_DATA;
	s.size = (s.size + 7) & ~7u;
	*shape = s;
	return ST_OK;
}

bool frames_plausible(const struct frame_shape *shape, const uint8_t *raw)
{
	if (!frames_address_fits(copies_word(raw + shape->code) & shape->code_mask))
		return false;
	return shape->owner == LAYOUT_NONE ||
	       (raw[shape->owner] <= OWNER_MAX && raw[shape->owner] != OWNER_FRAME_OBJECT);
}

/* The executing instruction, and whether it can belong to the code. */
static bool read_instruction(struct py_frame *frame, const struct frame_shape *shape,
			     const uint8_t *at)
{
	uint64_t pointer;

	frame->tlbc_index = 0;
	if (shape->lasti_is_int) {
		int64_t lasti = int_at(at + shape->lasti);

		frame->instruction = lasti < 0 ? -1 : shape->lasti_in_units ? 2 * lasti : lasti;
		return lasti >= -1;
	}
	pointer = copies_word(at + shape->lasti);
	if (shape->tlbc_index != LAYOUT_NONE)
		frame->tlbc_index = int_at(at + shape->tlbc_index);
	if (frame->tlbc_index > 0) {
		frame->instruction = (int64_t)pointer;
		return true;
	}
	frame->instruction = (int64_t)(pointer - frame->code);
	return pointer - frame->code < CODE_SIZE_MAX;
}

/*
 * Before 3.11. A frame says so from a moment after it has become current until a moment before it ceases to be, so a caller
 * always does; when it is dead it keeps all its words but this.
 */
static bool executes(const struct frame_shape *shape, const uint8_t *at)
{
	return (at[shape->executing] == 0) == (shape->executing_zero == 1);
}

static bool same_words(const struct frame_shape *shape, const uint8_t *a, const uint8_t *b,
		       bool is_leaf)
{
	if (copies_word(a + shape->code) != copies_word(b + shape->code) ||
	    copies_word(a + shape->previous) != copies_word(b + shape->previous))
		return false;
	if (shape->owner != LAYOUT_NONE && a[shape->owner] != b[shape->owner])
		return false;
	if (is_leaf)
		return true;
	if (shape->executing != LAYOUT_NONE && !(executes(shape, a) && executes(shape, b)))
		return false;
	if (shape->lasti_is_int)
		return int_at(a + shape->lasti) == int_at(b + shape->lasti);
	return copies_word(a + shape->lasti) == copies_word(b + shape->lasti);
}

/* Store a Python frame, or begin anew behind one that moved. */
static void store(struct frames_walk *walk, const struct frame_shape *shape, remote_addr address,
		  const struct stretch *stretch, bool is_leaf)
{
	uint64_t into = address - stretch->start;
	const uint8_t *at = stretch->second + into;
	struct py_frame *frame = &walk->frames[walk->depth];

	frame->address = address;
	frame->code = copies_word(at + shape->code) & shape->code_mask;
	if (read_instruction(frame, shape, at) && frames_address_fits(frame->code) &&
	    same_words(shape, stretch->first + into, at, is_leaf)) {
		walk->depth++;
		return;
	}
	walk->moved = true;
	walk->depth = 0;
}

/* An entry frame; it may have been copied once. */
static void pass_entry(struct frames_walk *walk, const struct frame_shape *shape,
		       remote_addr address, const struct stretch *stretch)
{
	uint64_t into = address - stretch->start;

	if (!stretch->second)
		return;
	if (copies_word(stretch->first + into + shape->previous) ==
	    copies_word(stretch->second + into + shape->previous))
		return;
	walk->moved = true;
	walk->depth = 0;
}

static void note_elsewhere(struct frames_walk *walk, const struct copies *copies,
			   const struct stretch *stretch, remote_addr address, bool is_entry)
{
	if ((size_t)(stretch - copies->items) < copies->sorted)
		return;
	walk->elsewhere[walk->elsewhere_count] = address;
	walk->elsewhere_is_entry[walk->elsewhere_count++] = is_entry;
}

/* The chain cannot go on at this address: why? */
static void stop(struct frames_walk *walk, remote_addr address, bool twice)
{
	if (walk->moved || !frames_address_fits(address)) {
		walk->end = FRAMES_BROKEN;
		return;
	}
	walk->end = FRAMES_MISSING;
	walk->missing = address;
	walk->missing_twice = twice;
}

/*
 * A frame without a caller must be able to be the root; a suspended generator has no caller either. From 3.12 on every
 * chain ends in an entry frame, in 3.11 in the first frame of the first chunk.
 */
static bool can_be_root(const struct frame_shape *shape, const uint8_t *at, uint8_t owner,
			uint64_t into_stretch)
{
	if (shape->executing != LAYOUT_NONE)
		return executes(shape, at);
	if (shape->owner == LAYOUT_NONE)
		return true;
	if (shape->owner_skip <= OWNER_MAX)
		return owner >= shape->owner_skip;
	return owner != OWNER_GENERATOR && into_stretch <= FIRST_FRAME_MAX;
}

/* One frame; gives the address of its caller. False: the walk has ended. */
static bool step(struct frames_walk *walk, const struct frame_shape *shape, struct copies *copies,
		 remote_addr *address, bool is_leaf)
{
	struct stretch *stretch = copies_find(copies, *address, shape->size);
	const uint8_t *at;
	uint8_t owner;
	bool is_entry;
	remote_addr previous;

	if (!stretch || !frames_address_fits(*address)) {
		stop(walk, *address, false);
		return false;
	}
	at = (stretch->second ? stretch->second : stretch->first) + (*address - stretch->start);
	owner = shape->owner != LAYOUT_NONE ? at[shape->owner] : 0;
	is_entry = owner >= shape->owner_skip;
	if (!stretch->second && (!is_entry || is_leaf)) {
		stop(walk, *address, true);
		return false;
	}
	previous = copies_word(at + shape->previous);
	stretch->used = true;
	note_elsewhere(walk, copies, stretch, *address, is_entry);
	if (is_entry)
		pass_entry(walk, shape, *address, stretch);
	else
		store(walk, shape, *address, stretch, is_leaf);
	/* In a chunk callers lie below; a frame of its own kind above, or a dead one, is no part of a stack. */
	if (owner > OWNER_MAX || owner == OWNER_FRAME_OBJECT ||
	    (!previous && !can_be_root(shape, at, owner, *address - stretch->start)) ||
	    (previous >= *address && (size_t)(stretch - copies->items) < copies->sorted &&
	     stretch_holds(stretch, previous, 8))) {
		walk->moved = true;
		walk->end = FRAMES_BROKEN;
		return false;
	}
	*address = previous;
	return true;
}

/*
 * The common case, fast: frames of the thread's own in a chunk, all equal in both copies. Stops at the first that
 * is anything else, which step() then looks at. Not inlined: it lives in registers.
 */
__attribute__((noinline)) static remote_addr stride(struct frames_walk *walk,
						    const struct frame_shape *shape,
						    const struct stretch *stretch,
						    remote_addr address, bool is_leaf)
{
	const uint8_t *first = stretch->first;
	const uint8_t *second = stretch->second;
	const size_t code_at = shape->code, previous_at = shape->previous;
	const size_t lasti_at = shape->lasti, owner_at = shape->owner;
	const uint64_t mask = shape->code_mask;
	const uint64_t last = stretch->size - shape->size;
	uint64_t lasti_mask = is_leaf ? 0 : UINT64_MAX;
	uint64_t into = address - stretch->start;
	struct py_frame *frame = walk->frames + walk->depth;
	const struct py_frame *end = walk->frames + PY_DEPTH_MAX;

	while (frame < end && into <= last && !(into & 7)) {
		uint64_t word = copies_word(second + into + code_at);
		uint64_t previous = copies_word(second + into + previous_at);
		uint64_t lasti = copies_word(second + into + lasti_at);
		uint64_t moved = (copies_word(first + into + code_at) ^ word) |
				 (copies_word(first + into + previous_at) ^ previous) |
				 ((copies_word(first + into + lasti_at) ^ lasti) & lasti_mask);
		uint64_t code = word & mask;

		if (moved | first[into + owner_at] | second[into + owner_at])
			break;
		if (!frames_address_fits(code) || lasti - code >= CODE_SIZE_MAX || !previous ||
		    (previous - stretch->start >= into && previous - stretch->start <= last))
			break;
		frame->code = code;
		frame->address = stretch->start + into;
		frame->instruction = (int64_t)(lasti - code);
		frame->tlbc_index = 0;
		frame++;
		lasti_mask = UINT64_MAX;
		into = previous - stretch->start;
	}
	walk->depth = (uint32_t)(frame - walk->frames);
	return stretch->start + into;
}

/* Whether the fast case applies: 3.11+ without thread-local bytecode. */
static bool can_stride(const struct frame_shape *shape)
{
	return !shape->lasti_is_int && shape->tlbc_index == LAYOUT_NONE &&
	       shape->owner != LAYOUT_NONE;
}

/* The chain has come to an end that was read before. */
static bool is_trusted(const struct frames_walk *walk, const struct frames_root *trusted,
		       remote_addr address)
{
	const struct py_frame *last = walk->frames + walk->depth - 1;

	return trusted && walk->depth && address && address == trusted->entry &&
	       last->address == trusted->frame && last->code == trusted->code;
}

static void begin(struct frames_walk *walk)
{
	walk->moved = false;
	walk->depth = 0;
	walk->missing = 0;
	walk->missing_twice = false;
	walk->root = (struct frames_root){ 0 };
	walk->elsewhere_count = 0;
}

/* The end is reached: was the last step over an entry frame, right below a Python frame that is stored? */
static void note_root(struct frames_walk *walk, remote_addr entry)
{
	const struct py_frame *last = walk->frames + walk->depth - 1;

	walk->end = FRAMES_ROOT;
	if (walk->depth)
		walk->root = (struct frames_root){ last->address, last->code, entry };
}

void frames_follow(struct frames_walk *walk, const struct frame_shape *shape, struct copies *copies,
		   remote_addr leaf, remote_addr base, const struct frames_root *trusted)
{
	remote_addr address = leaf;
	remote_addr before = 0; /* the frame stepped over last, when it was an entry frame */
	bool fast = can_stride(shape);

	begin(walk);
	for (unsigned steps = 0; steps < FRAMES_STEPS_MAX; steps++) {
		remote_addr from;
		uint32_t depth;

		if (fast && address) {
			struct stretch *stretch = copies_find(copies, address, shape->size);

			if (stretch && stretch->second &&
			    (size_t)(stretch - copies->items) < copies->sorted) {
				stretch->used = true;
				from = address;
				address = stride(walk, shape, stretch, address, address == leaf);
				if (from != address)
					before = 0;
			}
		}
		if (!address || address == base || is_trusted(walk, trusted, address)) {
			note_root(walk, address && address != base ? address : before);
			return;
		}
		if (walk->depth == PY_DEPTH_MAX)
			break;
		from = address;
		depth = walk->depth;
		if (!step(walk, shape, copies, &address, address == leaf))
			return;
		before = walk->depth == depth && !walk->moved ? from : 0;
	}
	walk->end = FRAMES_LIMIT;
}

static bool frame_equal(const struct py_frame *a, const struct py_frame *b)
{
	return a->code == b->code && a->address == b->address && a->instruction == b->instruction &&
	       a->tlbc_index == b->tlbc_index;
}

uint32_t frames_equal_from_root(const struct py_frame *a, uint32_t a_depth,
				const struct py_frame *b, uint32_t b_depth)
{
	uint32_t least = a_depth < b_depth ? a_depth : b_depth;
	uint32_t n = 0;

	while (n < least && frame_equal(&a[a_depth - 1 - n], &b[b_depth - 1 - n]))
		n++;
	return n;
}
