/*
 * A table keeps its order, its selection and its place from picture to picture.
 */
#include "unit.h"

#include <string.h>

#include "ui/table.h"

#define ROWS 50

static struct pytop_row rows[ROWS];

static void make_rows(void)
{
	static const char *const names[] = { "alpha", "beta", "gamma", "delta", "epsilon" };

	memset(rows, 0, sizeof(rows));
	for (size_t i = 0; i < ROWS; i++) {
		rows[i].function = names[i % 5];
		rows[i].file = "/srv/x.py";
		rows[i].key = 100 + i;
		rows[i].self[KIND_CPU] = (double)(i * 37 % ROWS);
		rows[i].total[KIND_CPU] = rows[i].self[KIND_CPU];
	}
}

static void fill(struct table *t)
{
	ck_assert_int_eq(table_fill(t, rows, ROWS, KIND_CPU), ST_OK);
}

static uint64_t selected_key(const struct table *t)
{
	const struct pytop_row *row = table_row(t);

	return row ? row->key : 0;
}

static void begin(struct table *t)
{
	make_rows();
	table_init(t, &columns_functions, KIND_CPU);
	fill(t);
}

START_TEST(test_sorted)
{
	struct table t;

	begin(&t);
	ck_assert_uint_eq(t.count, ROWS);
	for (size_t i = 1; i < t.count; i++)
		ck_assert(((const struct pytop_row *)t.rows[i - 1])->self[KIND_CPU] >=
			  ((const struct pytop_row *)t.rows[i])->self[KIND_CPU]);
	table_free(&t);
}
END_TEST

/* Unmoved, the first row is selected, whichever that becomes; moved, the row is followed. */
START_TEST(test_follows)
{
	struct table t;
	uint64_t key;

	begin(&t);
	rows[0].self[KIND_CPU] = 1000;
	fill(&t);
	ck_assert_uint_eq(selected_key(&t), 100);
	table_move(&t, 3);
	key = selected_key(&t);
	for (size_t i = 0; i < ROWS; i++)
		rows[i].self[KIND_CPU] = (double)(i * 13 % ROWS);
	fill(&t);
	ck_assert_uint_eq(selected_key(&t), key);
	table_home(&t);
	fill(&t);
	ck_assert_uint_eq(t.selected, 0);
	table_free(&t);
}
END_TEST

/* A followed row that is gone for a while is found again; meanwhile the place stays. */
START_TEST(test_gone_and_back)
{
	struct table t;
	uint64_t key;
	size_t place;

	begin(&t);
	table_move(&t, 7);
	key = selected_key(&t);
	place = t.selected;
	rows[key - 100].key = 9999;
	fill(&t);
	ck_assert_uint_eq(t.selected, place);
	rows[key - 100].key = key;
	fill(&t);
	ck_assert_uint_eq(selected_key(&t), key);
	ck_assert_int_eq(table_fill(&t, rows, 0, KIND_CPU), ST_OK);
	ck_assert_ptr_null(table_row(&t));
	table_move(&t, 1);
	table_end(&t);
	table_scroll(&t, 5);
	fill(&t);
	ck_assert_uint_eq(selected_key(&t), key);
	table_free(&t);
}
END_TEST

/* Rows that print alike keep their order whatever their hidden decimals do. */
START_TEST(test_stable)
{
	const void *before[ROWS];
	struct table t;

	make_rows();
	table_init(&t, &columns_functions, KIND_CPU);
	for (size_t i = 0; i < ROWS; i++)
		rows[i].self[KIND_CPU] = rows[i].total[KIND_CPU] = 5;
	fill(&t);
	memcpy(before, t.rows, sizeof(before));
	for (size_t i = 0; i < ROWS; i++)
		rows[i].self[KIND_CPU] = 5 + (double)(i * 7 % ROWS) / 10000;
	fill(&t);
	ck_assert_mem_eq(before, t.rows, sizeof(before));
	table_free(&t);
}
END_TEST

START_TEST(test_filter)
{
	struct table t;

	begin(&t);
	strcpy(t.filter, "BETA");
	fill(&t);
	ck_assert_uint_eq(t.count, ROWS / 5);
	ck_assert_uint_eq(t.all, ROWS);
	strcpy(t.filter, "nowhere");
	fill(&t);
	ck_assert_uint_eq(t.count, 0);
	ck_assert(!table_search(&t, "beta", 1, true));
	t.filter[0] = '\0';
	t.hide_idle = true;
	for (size_t i = 0; i < 10; i++)
		rows[i].self[KIND_CPU] = rows[i].total[KIND_CPU] = 0.01;
	fill(&t);
	for (size_t i = 0; i < t.count; i++)
		ck_assert(((const struct pytop_row *)t.rows[i])->total[KIND_CPU] > 0.05);
	table_free(&t);
}
END_TEST

static const char *selected_name(const struct table *t)
{
	const struct pytop_row *row = table_row(t);

	return row->function;
}

START_TEST(test_search)
{
	struct table t;
	size_t first;

	begin(&t);
	ck_assert(table_search(&t, "gam", 1, true));
	ck_assert_str_eq(selected_name(&t), "gamma");
	first = t.selected;
	ck_assert(table_search(&t, "gam", 1, true));
	ck_assert_uint_eq(t.selected, first);
	for (size_t i = 0; i < ROWS / 5; i++)
		ck_assert(table_search(&t, "gam", 1, false));
	ck_assert_uint_eq(t.selected, first);
	for (size_t i = 0; i < ROWS / 5; i++)
		ck_assert(table_search(&t, "gam", -1, false));
	ck_assert_uint_eq(t.selected, first);
	ck_assert(!table_search(&t, "omega", 1, false));
	ck_assert_uint_eq(t.selected, first);
	table_free(&t);
}
END_TEST

/* Whatever one does, the selected row is among the lines, and none is wasted. */
/* While a text is typed the rows may get another order: one comes back to the row, not to its number. */
START_TEST(test_return)
{
	struct table t;
	struct table_place place;
	uint64_t key;

	begin(&t);
	table_move(&t, 3);
	key = selected_key(&t);
	place = table_place(&t);
	ck_assert(table_search(&t, "delta", 1, true));
	table_move(&t, 7);
	for (size_t i = 0; i < ROWS; i++)
		rows[i].self[KIND_CPU] = (double)(i * 13 % ROWS);
	fill(&t);
	table_return(&t, &place);
	ck_assert_uint_eq(selected_key(&t), key);
	/* the first row, whichever that is */
	table_home(&t);
	place = table_place(&t);
	table_end(&t);
	table_return(&t, &place);
	ck_assert_uint_eq(t.selected, 0);
	ck_assert(!t.follows);
	table_free(&t);
}
END_TEST

START_TEST(test_scroll)
{
	static const int moves[] = { 1, 1, 20, -3, 100, -7, -100, 30, 5, -1 };
	struct table t;

	begin(&t);
	for (size_t height = 1; height < 60; height++)
		for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
			table_move(&t, moves[i]);
			table_scroll(&t, height);
			ck_assert_uint_lt(t.selected, t.count);
			ck_assert_uint_le(t.top, t.selected);
			ck_assert_uint_lt(t.selected - t.top, height);
			ck_assert(!t.top || t.count - t.top >= height);
		}
	table_scroll(&t, 0);
	table_free(&t);
}
END_TEST

/* A set without an order shows rows as they came. */
START_TEST(test_unsorted)
{
	struct pytop_frame frames[] = { { "z", "z.py", 1 },
					{ "a", "a.py", 2 },
					{ "z", "z.py", 1 } };
	struct table t;

	table_init(&t, &columns_frames, KIND_CPU);
	ck_assert_ptr_null(t.sort);
	ck_assert_int_eq(table_fill(&t, frames, 3, KIND_CPU), ST_OK);
	for (size_t i = 0; i < 3; i++)
		ck_assert_ptr_eq(t.rows[i], &frames[i]);
	table_free(&t);
}
END_TEST

UNIT_MAIN("table", test_sorted, test_follows, test_gone_and_back, test_stable, test_filter,
	  test_search, test_return, test_scroll, test_unsorted)
