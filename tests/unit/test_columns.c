/*
 * Columns: what a width has room for, in what order they leave, how cells are cut and rows ordered.
 */
#include "unit.h"

#include <string.h>

#include "base/text.h"
#include "ui/columns.h"

static const struct columns_context context = { .mode = KIND_CPU };

static const struct column_set *const sets[] = { &columns_functions, &columns_threads,
						 &columns_frames, &columns_processes };
#define SETS (sizeof(sets) / sizeof(sets[0]))

static struct pytop_row a_row(const char *function, const char *file, double cpu)
{
	struct pytop_row row = { .function = function, .file = file, .line = 7 };

	row.self[KIND_CPU] = cpu;
	row.total[KIND_CPU] = cpu;
	return row;
}

static bool shows(const struct columns_layout *layout, const struct column *column)
{
	for (size_t i = 0; i < layout->count; i++)
		if (layout->places[i].column == column)
			return true;
	return false;
}

START_TEST(test_find)
{
	ck_assert_str_eq(columns_find(&columns_functions, "cpu")->title, "%CPU");
	ck_assert_str_eq(columns_find(&columns_functions, "%cpu")->title, "%CPU");
	ck_assert_str_eq(columns_find(&columns_functions, "FILE:LINE")->name, "file");
	ck_assert_ptr_null(columns_find(&columns_functions, "nonsense"));
	for (int kind = 0; kind < KIND_COUNT; kind++)
		ck_assert_ptr_nonnull(columns_of_kind(&columns_functions, (enum kind)kind));
}
END_TEST

/* Names are unique, and each can be walked to. */
START_TEST(test_walk)
{
	for (size_t s = 0; s < SETS; s++) {
		const struct column *at = sets[s]->columns, *first = at;

		ck_assert_uint_le(sets[s]->count, COLUMNS_MAX);
		for (size_t i = 0; i < sets[s]->count; i++) {
			ck_assert_ptr_eq(columns_find(sets[s], at->name), at);
			ck_assert_ptr_eq(columns_step(sets[s], columns_step(sets[s], at, 1), -1),
					 at);
			at = columns_step(sets[s], at, 1);
		}
		ck_assert_ptr_eq(at, first);
	}
}
END_TEST

/* Whatever the width and the sort column: nothing overlaps, nothing sticks out. */
START_TEST(test_layout_fits)
{
	for (size_t s = 0; s < SETS; s++)
		for (unsigned width = 1; width < 300; width++)
			for (size_t sort = 0; sort <= sets[s]->count; sort++) {
				struct columns_layout layout;
				unsigned end = 0;

				columns_lay_out(&layout, sets[s], width,
						sort < sets[s]->count ? &sets[s]->columns[sort]
								      : NULL);
				ck_assert_uint_gt(layout.count, 0);
				for (size_t i = 0; i < layout.count; i++) {
					ck_assert_uint_ge(layout.places[i].x, end);
					end = layout.places[i].x + layout.places[i].width;
				}
				ck_assert_uint_le(end, width);
			}
}
END_TEST

/* A column that is there stays when the line grows; the sort column is the last to leave. */
START_TEST(test_order_of_leaving)
{
	for (size_t sort = 0; sort < columns_functions.count; sort++) {
		const struct column *column = &columns_functions.columns[sort];
		struct columns_layout narrow, wide;

		for (unsigned width = 20; width < 200; width++) {
			columns_lay_out(&narrow, &columns_functions, width, column);
			columns_lay_out(&wide, &columns_functions, width + 1, column);
			ck_assert(shows(&narrow, column));
			for (size_t i = 0; i < narrow.count; i++)
				ck_assert_msg(shows(&wide, narrow.places[i].column),
					      "%s left at %u", narrow.places[i].column->name,
					      width + 1);
		}
	}
}
END_TEST

START_TEST(test_line)
{
	struct pytop_row row = a_row("Cart.price", "/srv/shop/cart.py", 38.2);
	const struct column *sort = columns_find(&columns_functions, "cpu");
	struct columns_layout layout;
	char line[256];

	columns_lay_out(&layout, &columns_functions, 60, sort);
	columns_header(line, sizeof(line), &layout, sort, false, true);
	ck_assert_str_eq(line, " v%CPU   %GIL  %WAIT FUNCTION            FILE:LINE");
	columns_line(line, sizeof(line), &layout, &row, &context);
	ck_assert_str_eq(line, "  38.2    0.0    0.0 Cart.price          shop/cart.py:7");
	columns_header(line, sizeof(line), &layout, sort, true, true);
	ck_assert_str_eq(line, " ^%CPU   %GIL  %WAIT FUNCTION            FILE:LINE");
}
END_TEST

/* Cells are exactly as wide as their place, whatever the row holds; ASCII is kept when asked. */
START_TEST(test_hostile_cells)
{
	static const char *const names[] = {
		"", "\033[31mred\n", "\xff\xfe", "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
		"a name that is longer than any cell of a narrow line"
	};
	const struct columns_context ascii = { .mode = KIND_WAIT, .ascii = true };

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		for (unsigned width = 1; width < 130; width++) {
			struct pytop_row row = a_row(names[n], names[n], 1e300);
			struct columns_layout layout;

			columns_lay_out(&layout, &columns_functions, width, NULL);
			for (size_t i = 0; i < layout.count; i++) {
				char cell[COLUMNS_CELL_MAX];

				columns_cell(cell, sizeof(cell), &layout.places[i], &row, &context);
				ck_assert_uint_eq(text_width(cell), layout.places[i].width);
				columns_cell(cell, sizeof(cell), &layout.places[i], &row, &ascii);
				for (const char *at = cell; *at; at++)
					ck_assert(*at >= ' ' && *at <= '~');
			}
		}
}
END_TEST

/* A line cut by its buffer ends with a zero, and never overruns. */
START_TEST(test_small_buffers)
{
	struct pytop_row row = a_row("Cart.price", "/srv/shop/cart.py", 38.2);
	struct columns_layout layout;

	columns_lay_out(&layout, &columns_functions, 120, NULL);
	for (size_t size = 1; size < 200; size++) {
		char line[200];

		memset(line, 'x', sizeof(line));
		ck_assert_uint_lt(columns_line(line, size, &layout, &row, &context), size);
		for (size_t i = size; i < sizeof(line); i++)
			ck_assert_int_eq(line[i], 'x');
	}
}
END_TEST

START_TEST(test_compare)
{
	struct pytop_row a = a_row("a", "x.py", 10), b = a_row("b", "x.py", 20);
	const struct column *cpu = columns_find(&columns_functions, "cpu");
	const struct column *name = columns_find(&columns_functions, "function");
	const struct column_set *set = &columns_functions;

	a.key = 1;
	b.key = 2;
	ck_assert_int_gt(columns_compare(set, cpu, false, KIND_CPU, &a, &b), 0);
	ck_assert_int_lt(columns_compare(set, cpu, true, KIND_CPU, &a, &b), 0);
	ck_assert_int_lt(columns_compare(set, name, false, KIND_CPU, &a, &b), 0);
	ck_assert_int_gt(columns_compare(set, name, true, KIND_CPU, &a, &b), 0);
	/* What prints alike does not swap: the key decides. */
	b = a_row("b", "x.py", 10.02);
	b.key = 2;
	ck_assert_int_lt(columns_compare(set, cpu, false, KIND_CPU, &a, &b), 0);
	ck_assert_int_lt(columns_compare(set, cpu, true, KIND_CPU, &a, &b), 0);
}
END_TEST

START_TEST(test_match_and_idle)
{
	struct pytop_row row = a_row("Cart.price", "/srv/shop/cart.py", 0.04);

	ck_assert(columns_functions.match(&row, "PRICE"));
	ck_assert(columns_functions.match(&row, "shop/"));
	ck_assert(columns_functions.match(&row, ""));
	ck_assert(!columns_functions.match(&row, "prices"));
	ck_assert(columns_functions.idle(&row));
	row.total[KIND_WAIT] = 0.1;
	ck_assert(!columns_functions.idle(&row));
	/* it is there all the time, and does next to nothing */
	row.total[KIND_WALL] = 100;
	row.total[KIND_WAIT] = 1.9;
	ck_assert(columns_functions.idle(&row));
	row.total[KIND_CPU] = 0.2;
	ck_assert(!columns_functions.idle(&row));
}
END_TEST

UNIT_MAIN("columns", test_find, test_walk, test_layout_fits, test_order_of_leaving, test_line,
	  test_hostile_cells, test_small_buffers, test_compare, test_match_and_idle)
