/* gil: the holder from its bytes, and who waits for it. */
#include "python/gil.h"

#include <string.h>

#include "unit.h"

static const struct py_layout with_gil = {
	.gil = { .last_holder = 8, .locked = 16, .enabled = LAYOUT_NONE, .size = 208 },
};
static const struct py_layout free_threaded = {
	.gil = { .last_holder = 16, .locked = 24, .enabled = 0, .size = 216 },
};
static uint8_t raw[256];

static struct py_gil parse(const struct py_layout *layout, int32_t enabled, uint64_t holder,
			   int32_t locked)
{
	struct py_gil gil;

	memset(raw, 0, sizeof(raw));
	memcpy(raw, &enabled, 4);
	memcpy(raw + layout->gil.last_holder, &holder, 8);
	memcpy(raw + layout->gil.locked, &locked, 4);
	gil_parse(&gil, layout, 0x5000, (struct bytes){ raw, layout->gil.size });
	return gil;
}

/* last_holder outlives the release. */
START_TEST(holder)
{
	ck_assert_uint_eq(parse(&with_gil, 0, 0x1234, 1).holder, 0x1234);
	ck_assert_uint_eq(parse(&with_gil, 0, 0x1234, 0).holder, 0);
	ck_assert_uint_eq(parse(&with_gil, 0, 0x1234, -1).holder, 0);
	ck_assert_uint_eq(parse(&with_gil, 0, 0x1234, 2).holder, 0);
	ck_assert_uint_eq(parse(&with_gil, 0, 0x1234, 1).address, 0x5000);
}
END_TEST

START_TEST(switched_off)
{
	ck_assert_uint_eq(parse(&free_threaded, 0, 0x1234, 1).holder, 0);
	ck_assert_uint_eq(parse(&free_threaded, 0, 0x1234, 1).address, 0);
	ck_assert(!parse(&free_threaded, 0, 0x1234, 1).enabled);
	ck_assert_uint_eq(parse(&free_threaded, INT32_MAX, 0x1234, 1).holder, 0x1234);
	ck_assert_uint_eq(parse(&free_threaded, 1, 0x1234, 1).holder, 0x1234);
}
END_TEST

START_TEST(no_bytes)
{
	struct py_gil gil;

	gil_parse(&gil, &with_gil, 0x5000, (struct bytes){ NULL, 0 });
	ck_assert_uint_eq(gil.holder, 0);
	gil_parse(&gil, &with_gil, 0x5000, (struct bytes){ raw, 12 });
	ck_assert_uint_eq(gil.holder, 0);
	gil_parse(&gil, &with_gil, 0, (struct bytes){ raw, sizeof(raw) });
	ck_assert_uint_eq(gil.address, 0);
	ck_assert(!gil.enabled);
}
END_TEST

START_TEST(waiters)
{
	struct py_gil gil = parse(&with_gil, 0, 0x1234, 1);
	struct task_activity activity = { .doing = TASK_FUTEX, .argument0 = 0x5000 + 32 };

	ck_assert(gil_waits(&gil, &with_gil, &activity));
	activity.argument0 = 0x5000 + 207;
	ck_assert(gil_waits(&gil, &with_gil, &activity));
	activity.argument0 = 0x5000 + 208;
	ck_assert(!gil_waits(&gil, &with_gil, &activity));
	activity.argument0 = 0x4fff;
	ck_assert(!gil_waits(&gil, &with_gil, &activity));
	activity = (struct task_activity){ .doing = TASK_IO, .argument0 = 0x5000 + 32 };
	ck_assert(!gil_waits(&gil, &with_gil, &activity));
	gil = parse(&free_threaded, 0, 0x1234, 1);
	activity.doing = TASK_FUTEX;
	ck_assert(!gil_waits(&gil, &free_threaded, &activity));
}
END_TEST

UNIT_MAIN("gil", holder, switched_off, no_bytes, waiters)
