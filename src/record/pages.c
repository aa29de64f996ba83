/*
 * pages: an array by id in pages of PAGE_ITEMS items.
 *
 * Invariant: an item's address never changes while its page lives.
 */
#include "record/pages.h"

#include <stdlib.h>

#include "base/alloc.h"

#define PAGES_MAX (UINT32_MAX / PAGE_ITEMS + 1)

void *pages_make(struct pages *p, uint32_t id)
{
	size_t at = id / PAGE_ITEMS;

	if (at >= p->count) {
		void *items = p->page;

		if (alloc_grow(&items, &p->count, at + 1, PAGES_MAX, sizeof(*p->page)) != ST_OK)
			return NULL;
		p->page = items;
	}
	if (!p->page[at])
		p->page[at] = alloc_zero(PAGE_ITEMS, p->item);
	return pages_at(p, id);
}

void pages_drop(struct pages *p, size_t page)
{
	if (page >= p->count)
		return;
	free(p->page[page]);
	p->page[page] = NULL;
}

void pages_free(struct pages *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->page[i]);
	free(p->page);
	*p = (struct pages){ .item = p->item };
}
