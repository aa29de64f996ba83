/*
 * table: the rows shown, their order, and the selected one among them.
 *
 * Invariant: selected < count and top <= selected unless the table is empty, which keeps its place
 * for the next picture; with follows set, key is that of the row the user chose, even while a
 * picture lacks it.
 *
 * Called by the views for what they draw, by the picker, and by batch for order and filter.
 */
#include "ui/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define ROWS_LIMIT (1u << 22) /* more functions than pytop keeps */

void table_init(struct table *t, const struct column_set *set, enum kind mode)
{
	memset(t, 0, sizeof(*t));
	t->set = set;
	t->sort = columns_of_kind(set, mode);
}

void table_free(struct table *t)
{
	free(t->rows);
	t->rows = NULL;
	t->capacity = 0;
	table_empty(t);
}

void table_empty(struct table *t)
{
	t->count = t->all = 0;
}

static bool shown(const struct table *t, const void *row)
{
	if (t->hide_idle && t->set->idle && t->set->idle(row))
		return false;
	return !t->filter[0] || t->set->match(row, t->filter);
}

/* What the order of qsort_r() depends on. */
struct order {
	const struct table *table;
	enum kind mode;
};

static int compare(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	const void *const *one = a, *const *other = b;
	int result = columns_compare(order->table->set, order->table->sort, order->table->reversed,
				     order->mode, *one, *other);

	/* The same row twice, or a set without an order: as they came. */
	return result ? result : (*one > *other) - (*one < *other);
}

/* Find the followed row again; one that is gone leaves the selection at its place. */
static void follow(struct table *t)
{
	if (!t->count)
		return;
	if (!t->follows)
		t->selected = t->top = 0;
	for (size_t i = 0; t->follows && i < t->count; i++)
		if (t->set->key(t->rows[i]) == t->key) {
			t->selected = i;
			return;
		}
	if (t->selected >= t->count)
		t->selected = t->count - 1;
	if (t->top > t->selected)
		t->top = t->selected;
}

enum status table_fill(struct table *t, const void *rows, size_t count, enum kind mode)
{
	struct order order = { .table = t, .mode = mode };
	void *grown = t->rows;
	enum status status =
		alloc_grow(&grown, &t->capacity, count ? count : 1, ROWS_LIMIT, sizeof(*t->rows));

	t->rows = grown;
	if (status) {
		table_empty(t);
		return status;
	}
	t->all = count;
	t->count = 0;
	for (size_t i = 0; i < count; i++) {
		const void *row = (const char *)rows + i * t->set->stride;

		if (shown(t, row))
			t->rows[t->count++] = row;
	}
	if (t->sort)
		qsort_r(t->rows, t->count, sizeof(*t->rows), compare, &order);
	follow(t);
	return ST_OK;
}

const void *table_row(const struct table *t)
{
	return t->count ? t->rows[t->selected] : NULL;
}

static void select_row(struct table *t, size_t row)
{
	t->selected = row;
	if (t->top > row)
		t->top = row;
	t->follows = true;
	t->key = t->set->key(t->rows[row]);
}

void table_move(struct table *t, ptrdiff_t by)
{
	ptrdiff_t row = (ptrdiff_t)t->selected + by, last = (ptrdiff_t)t->count - 1;

	if (!t->count)
		return;
	row = row < 0 ? 0 : row > last ? last : row;
	select_row(t, (size_t)row);
}

void table_home(struct table *t)
{
	t->selected = t->top = 0;
	t->follows = false;
}

void table_end(struct table *t)
{
	if (t->count)
		select_row(t, t->count - 1);
}

void table_scroll(struct table *t, size_t height)
{
	if (!height || !t->count)
		return;
	if (t->top > t->selected)
		t->top = t->selected;
	if (t->selected - t->top >= height)
		t->top = t->selected - height + 1;
	if (t->top && t->count - t->top < height)
		t->top = t->count > height ? t->count - height : 0;
}

struct table_place table_place(const struct table *t)
{
	return (struct table_place){ t->selected, t->top, t->follows, t->key };
}

void table_return(struct table *t, const struct table_place *place)
{
	t->selected = place->selected;
	t->top = place->top;
	t->follows = place->follows;
	t->key = place->key;
	follow(t);
}

bool table_search(struct table *t, const char *text, int step, bool here)
{
	for (size_t i = here ? 0 : 1; i < t->count + !here; i++) {
		size_t row = (t->selected + (step > 0 ? i : t->count - i % t->count)) % t->count;

		if (t->set->match(t->rows[row], text)) {
			select_row(t, row);
			return true;
		}
	}
	return false;
}
