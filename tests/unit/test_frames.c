/* frames: the walk through two copies, what proves a stack and what does not. */
#include "python/frames.h"
#include "world.h"

#include "unit.h"

#define CHUNK WORLD_CHUNK(0)
#define ENTRY (WORLD_HEAP(3))

/* Two copies of a world: the stack chunk twice, the page of entry frames once. */
struct pair {
	struct world first, second;
	struct frame_shape shape;
	struct copies copies;
	struct frames_walk walk;
};

static struct pair pair;

static const uint8_t *at(const struct world *w, remote_addr address)
{
	return w->arena.bytes + (address - ARENA_START);
}

static void open_pair(enum world_form form, unsigned depth)
{
	struct stretch *stretch;

	copies_free(&pair.copies);
	world_open(&pair.first, form);
	world_stack(&pair.first, 0, depth, 1);
	pair.second = pair.first;
	ck_assert_int_eq(frame_shape_make(&pair.shape, &pair.first.runtime.layout), ST_OK);
	if (form != WORLD_OBJECTS) {
		stretch = copies_add(&pair.copies, CHUNK, WORLD_CHUNK_SIZE);
		stretch->first = at(&pair.first, CHUNK);
		stretch->second = at(&pair.second, CHUNK);
	}
	pair.copies.sorted = pair.copies.count;
	stretch = copies_add(&pair.copies, WORLD_HEAP(0), 0x1000);
	stretch->first = at(&pair.first, WORLD_HEAP(0));
	stretch->second = at(&pair.second, WORLD_HEAP(0));
	stretch = copies_add(&pair.copies, ENTRY, 0x1000);
	stretch->first = at(&pair.first, ENTRY);
}

static remote_addr slot(unsigned n)
{
	return world_slot(&pair.first, 0, n);
}

static void follow(remote_addr leaf)
{
	frames_follow(&pair.walk, &pair.shape, &pair.copies, leaf, 0, NULL);
}

static void expect_frames(unsigned depth)
{
	ck_assert_uint_eq(pair.walk.depth, depth);
	for (unsigned k = 0; k < depth; k++) {
		unsigned n = depth - 1 - k;

		ck_assert_uint_eq(pair.walk.frames[k].code, WORLD_CODE(1 + n));
		ck_assert_uint_eq(pair.walk.frames[k].address, slot(n));
		ck_assert_int_eq(pair.walk.frames[k].instruction, 2 * n);
	}
}

START_TEST(whole_chain)
{
	for (int form = WORLD_OBJECTS; form <= WORLD_INSTRS; form++) {
		open_pair((enum world_form)form, 5);
		follow(slot(4));
		ck_assert_int_eq(pair.walk.end, FRAMES_ROOT);
		ck_assert(!pair.walk.moved);
		expect_frames(5);
		follow(0);
		ck_assert_int_eq(pair.walk.end, FRAMES_ROOT);
		ck_assert_uint_eq(pair.walk.depth, 0);
	}
}
END_TEST

/* The instruction of the leaf may move on, that of a caller may not. */
START_TEST(moved_instruction)
{
	for (int form = WORLD_OBJECTS; form <= WORLD_INSTRS; form++) {
		open_pair((enum world_form)form, 5);
		world_frame(&pair.first, slot(4), slot(3), 5, 6, 0);
		follow(slot(4));
		ck_assert(!pair.walk.moved);
		expect_frames(5);
		world_frame(&pair.first, slot(3), slot(2), 4, 4, 0);
		follow(slot(4));
		ck_assert(pair.walk.moved);
		ck_assert_int_eq(pair.walk.end, FRAMES_ROOT);
		expect_frames(3);
	}
}
END_TEST

/* Another function in the leaf's place, another caller, a frame that was just popped: never good. */
START_TEST(moved_frame)
{
	for (int form = WORLD_OBJECTS; form <= WORLD_INSTRS; form++) {
		open_pair((enum world_form)form, 5);
		world_frame(&pair.second, slot(4), slot(3), 77, 8, 0);
		follow(slot(4));
		ck_assert(pair.walk.moved);
		expect_frames(4);
		open_pair((enum world_form)form, 5);
		world_frame(&pair.second, slot(4), slot(1), 5, 8, 0);
		follow(slot(4));
		ck_assert(pair.walk.moved);
		expect_frames(2);
		open_pair((enum world_form)form, 5);
		arena_u64(&pair.first.arena, slot(2), 0);
		arena_u64(&pair.second.arena, slot(2), 0);
		follow(slot(4));
		ck_assert(pair.walk.moved);
		expect_frames(2);
	}
}
END_TEST

START_TEST(missing_places)
{
	open_pair(WORLD_INSTRS, 3);
	world_frame(&pair.first, slot(1), WORLD_HEAP(1), 2, 2, 0);
	pair.second = pair.first;
	follow(slot(2));
	ck_assert_int_eq(pair.walk.end, FRAMES_MISSING);
	ck_assert_uint_eq(pair.walk.missing, WORLD_HEAP(1));
	ck_assert(!pair.walk.missing_twice);
	/* an entry frame may be copied once, unless it is the leaf */
	follow(ENTRY);
	ck_assert_int_eq(pair.walk.end, FRAMES_MISSING);
	ck_assert(pair.walk.missing_twice);
	/* what leads to no possible place, or comes after motion, is no place to look at */
	world_frame(&pair.first, slot(1), WORLD_HEAP(1) + 4, 2, 2, 0);
	pair.second = pair.first;
	follow(slot(2));
	ck_assert_int_eq(pair.walk.end, FRAMES_BROKEN);
	world_frame(&pair.first, slot(1), WORLD_HEAP(1), 2, 2, 0);
	world_frame(&pair.second, slot(1), WORLD_HEAP(1), 3, 2, 0);
	follow(slot(2));
	ck_assert_int_eq(pair.walk.end, FRAMES_BROKEN);
}
END_TEST

/* A chain that ends where none can: a generator was suspended both times and ran in between. */
START_TEST(impossible_root)
{
	for (int form = WORLD_OBJECTS; form <= WORLD_INSTRS; form++) {
		open_pair((enum world_form)form, 3);
		world_frame(&pair.first, WORLD_HEAP(0) + 0x800, 0, 2, 2, 1);
		arena_u32(&pair.first.arena, WORLD_HEAP(0) + 0x800 + 68,
			  0x10000); /* does not execute */
		pair.second = pair.first;
		follow(WORLD_HEAP(0) + 0x800);
		ck_assert_int_eq(pair.walk.end, FRAMES_BROKEN);
	}
	open_pair(WORLD_INSTRS, 3);
	world_frame(&pair.first, slot(0), 0, 1, 0, 0);
	pair.second = pair.first;
	follow(slot(2));
	ck_assert_int_eq(pair.walk.end, FRAMES_BROKEN);
	open_pair(WORLD_CFRAMES, 3);
	world_frame(&pair.first, slot(1), 0, 1, 0, 0);
	pair.second = pair.first;
	follow(slot(2));
	ck_assert_int_eq(pair.walk.end, FRAMES_BROKEN);
}
END_TEST

START_TEST(circles)
{
	for (int form = WORLD_OBJECTS; form <= WORLD_INSTRS; form++) {
		open_pair((enum world_form)form, 5);
		world_frame(&pair.first, slot(1), slot(3), 2, 2, 0);
		pair.second = pair.first;
		follow(slot(4));
		ck_assert_int_eq(pair.walk.end,
				 form == WORLD_OBJECTS ? FRAMES_LIMIT : FRAMES_BROKEN);
		world_frame(&pair.first, slot(1), slot(1), 2, 2, 0);
		pair.second = pair.first;
		follow(slot(4));
		ck_assert_int_eq(pair.walk.end,
				 form == WORLD_OBJECTS ? FRAMES_LIMIT : FRAMES_BROKEN);
		ck_assert_uint_le(pair.walk.depth, PY_DEPTH_MAX);
	}
	/* entry frames only, in a circle */
	open_pair(WORLD_INSTRS, 1);
	world_frame(&pair.first, ENTRY, ENTRY, 9, 0, 3);
	follow(slot(0));
	ck_assert_int_eq(pair.walk.end, FRAMES_LIMIT);
	ck_assert_uint_eq(pair.walk.depth, 1);
}
END_TEST

/* An end that was read before need not be among the copies; another one must. */
START_TEST(trusted_end)
{
	struct frames_root root;

	open_pair(WORLD_INSTRS, 3);
	follow(slot(2));
	root = pair.walk.root;
	ck_assert_uint_eq(root.entry, ENTRY);
	ck_assert_uint_eq(root.frame, slot(0));
	ck_assert_uint_eq(root.code, WORLD_CODE(1));
	pair.copies.count--;
	frames_follow(&pair.walk, &pair.shape, &pair.copies, slot(2), 0, &root);
	ck_assert_int_eq(pair.walk.end, FRAMES_ROOT);
	expect_frames(3);
	root.code = WORLD_CODE(2);
	frames_follow(&pair.walk, &pair.shape, &pair.copies, slot(2), 0, &root);
	ck_assert_int_eq(pair.walk.end, FRAMES_MISSING);
	ck_assert_uint_eq(pair.walk.missing, ENTRY);
	/* the base frame of 3.15 */
	frames_follow(&pair.walk, &pair.shape, &pair.copies, slot(2), ENTRY, NULL);
	ck_assert_int_eq(pair.walk.end, FRAMES_ROOT);
	expect_frames(3);
}
END_TEST

START_TEST(tags_and_units)
{
	struct py_layout *layout = &pair.first.runtime.layout;

	open_pair(WORLD_INSTRS, 2);
	layout->frame.code_tagged = true;
	ck_assert_int_eq(frame_shape_make(&pair.shape, layout), ST_OK);
	arena_u64(&pair.first.arena, slot(1), WORLD_CODE(2) | 1);
	pair.second = pair.first;
	follow(slot(1));
	expect_frames(2);
	open_pair(WORLD_OBJECTS, 2);
	layout->lines_form = PY_LINES_310;
	ck_assert_int_eq(frame_shape_make(&pair.shape, layout), ST_OK);
	arena_u32(&pair.first.arena, slot(0) + 68, 0); /* 3.10: executes */
	arena_u32(&pair.first.arena, slot(1) + 56, UINT32_MAX);
	arena_u32(&pair.first.arena, slot(0) + 56, 7);
	pair.second = pair.first;
	follow(slot(1));
	ck_assert_int_eq(pair.walk.end, FRAMES_ROOT);
	ck_assert_int_eq(pair.walk.frames[0].instruction, -1);
	ck_assert_int_eq(pair.walk.frames[1].instruction, 14);
	layout->frame.lasti = FRAMES_SIZE_MAX;
	ck_assert_int_eq(frame_shape_make(&pair.shape, layout), ST_BAD_DATA);
}
END_TEST

START_TEST(equal_from_root)
{
	struct py_frame a[3] = { { 1, 8, 2, 0 }, { 2, 16, 4, 0 }, { 3, 24, 6, 0 } };
	struct py_frame b[2] = { { 2, 16, 4, 0 }, { 3, 24, 6, 0 } };

	ck_assert_uint_eq(frames_equal_from_root(a, 3, b, 2), 2);
	b[0].instruction++;
	ck_assert_uint_eq(frames_equal_from_root(a, 3, b, 2), 1);
	b[1].address += 8;
	ck_assert_uint_eq(frames_equal_from_root(a, 3, b, 2), 0);
	ck_assert_uint_eq(frames_equal_from_root(a, 0, b, 2), 0);
}
END_TEST

UNIT_MAIN("frames", whole_chain, moved_instruction, moved_frame, missing_places, impossible_root,
	  circles, trusted_end, tags_and_units, equal_from_root)
