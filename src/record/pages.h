/*
 * pages: an array by id in pages, made where something is put: it grows without moving, a hole
 * costs nothing, and a page in which nothing lives any more can be let go. For what is numbered
 * without end: threads.
 */
#ifndef PYTOP_RECORD_PAGES_H
#define PYTOP_RECORD_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define PAGE_ITEMS 64u

struct pages {
	void **page;
	size_t count; /* of page pointers */
	size_t item;  /* bytes of one item; set by the owner */
};

/* The item, or NULL where there is none yet. */
static inline void *pages_at(const struct pages *p, uint32_t id)
{
	size_t at = id / PAGE_ITEMS;

	if (at >= p->count || !p->page[at])
		return NULL;
	return (char *)p->page[at] + id % PAGE_ITEMS * p->item;
}

/* The item, zeroed when its page is new; NULL: no memory. */
void *pages_make(struct pages *p, uint32_t id);

/* Let go of one page, or of all. */
void pages_drop(struct pages *p, size_t page);
void pages_free(struct pages *p);

#endif
