/* Memory at its limits: products that wrap, arrays at their cap, strings with zeros in them. */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

/* The address sanitizer shall refuse a size as malloc does, not end the test. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

START_TEST(zeroed)
{
	uint64_t *items = alloc_zero(100, sizeof(*items));
	void *nothing = alloc_zero(0, 8);

	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(items[i], 0);
	ck_assert_ptr_nonnull(nothing);
	free(items);
	free(nothing);
}
END_TEST

START_TEST(products_that_wrap)
{
	volatile size_t huge = SIZE_MAX / 2 + 1; /* the compiler must not know */
	void *items = NULL;
	size_t capacity = 0;

	ck_assert_ptr_null(alloc_zero(huge, 2));
	ck_assert_ptr_null(alloc_string("x", huge));
	ck_assert_int_eq(alloc_grow(&items, &capacity, huge, SIZE_MAX, 2), ST_NO_MEMORY);
	ck_assert_int_eq(alloc_grow(&items, &capacity, huge, SIZE_MAX, 1), ST_NO_MEMORY);
	ck_assert_ptr_null(items);
	ck_assert_uint_eq(capacity, 0);
}
END_TEST

START_TEST(grows_by_half_and_zeroed)
{
	uint32_t *items = NULL;
	size_t capacity = 0, grown = 0;

	for (size_t i = 0; i < 100000; i++) {
		size_t before = capacity;

		ck_assert_int_eq(
			alloc_grow((void **)&items, &capacity, i + 1, 1 << 20, sizeof(*items)),
			ST_OK);
		ck_assert_uint_gt(capacity, i);
		grown += capacity != before;
		ck_assert_uint_eq(items[i], 0);
		ck_assert_uint_eq(items[capacity - 1], 0);
		items[i] = UINT32_MAX;
	}
	ck_assert_uint_lt(grown, 30);
	for (size_t i = 0; i < 100000; i++)
		ck_assert_uint_eq(items[i], UINT32_MAX);
	free(items);
}
END_TEST

START_TEST(limit)
{
	void *items = NULL;
	size_t capacity = 0;

	ck_assert_int_eq(alloc_grow(&items, &capacity, 0, 0, 8), ST_OK);
	ck_assert_ptr_null(items);
	ck_assert_int_eq(alloc_grow(&items, &capacity, 3, 3, 8), ST_OK);
	ck_assert_uint_eq(capacity, 3);
	ck_assert_int_eq(alloc_grow(&items, &capacity, 4, 3, 8), ST_TOO_BIG);
	ck_assert_uint_eq(capacity, 3);
	ck_assert_int_eq(alloc_grow(&items, &capacity, 10, 11, 8), ST_OK);
	ck_assert_int_eq(alloc_grow(&items, &capacity, 11, 11, 8), ST_OK);
	ck_assert_uint_eq(capacity, 11);
	free(items);
}
END_TEST

START_TEST(strings)
{
	char *copy = alloc_string("ab\0cd", 5), *empty = alloc_string(NULL, 0);
	char *made = alloc_format("%s-%d", "x", 7);

	ck_assert_int_eq(memcmp(copy, "ab\0cd", 6), 0);
	ck_assert_str_eq(empty, "");
	ck_assert_str_eq(made, "x-7");
	free(copy);
	free(empty);
	free(made);
}
END_TEST

UNIT_MAIN("alloc", zeroed, products_that_wrap, grows_by_half_and_zeroed, limit, strings)
