/*
 * places: a small sorted set with a memory of a few looks.
 *
 * What was used once is kept for two looks: a coroutine seldom comes back. What was used again is kept
 * longer: before 3.11 each function has a frame that it uses over and over, and entry frames lie where the C stack
 * has them. Neighbours are read in one piece, since a piece costs more than the bytes between them; the gap is less
 * than a page, so nothing is read that shares no page with something known.
 *
 * Invariant: items ascend by address, no two are equal. Called by stack.c.
 */
#include "python/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define GAP_MAX 1024   /* bytes between neighbours read in one piece */
#define SPAN_MAX 16384 /* bytes of one piece */
#define KEEP_NEW 2     /* looks without use until a place is forgotten */
#define KEEP_PROVEN 32
#define KEEP_TWICE 32 /* looks a place is copied twice after that was needed */
#define AGE_EVERY 4   /* looks between two times of forgetting */

void places_free(struct places *places)
{
	free(places->items);
	free(places->spans);
	*places = (struct places){ 0 };
}

/* The first item at or behind address. */
static size_t position(const struct places *places, remote_addr address)
{
	size_t low = 0;
	size_t high = places->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->items[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct place *insert(struct places *places, size_t at)
{
	void *items = places->items;
	struct place *place;

	if (alloc_grow(&items, &places->capacity, places->count + 1, PLACES_MAX,
		       sizeof(*places->items)) != ST_OK)
		return NULL;
	places->items = items;
	place = &places->items[at];
	memmove(place + 1, place, (places->count - at) * sizeof(*place));
	places->count++;
	return place;
}

static void keep_at(struct places *places, size_t at, remote_addr address, uint32_t size,
		    bool twice, uint32_t look)
{
	struct place *place = at < places->count ? &places->items[at] : NULL;

	if (!place || place->address != address) {
		place = insert(places, at);
		if (!place)
			return;
		*place = (struct place){ .address = address, .size = size, .seen = look };
		places->changed = true;
	}
	if (place->seen != look) {
		place->seen = look;
		place->proven = true;
	}
	if (place->size < size) {
		place->size = size;
		places->changed = true;
	}
	if (twice) {
		places->changed |= place->twice_seen == 0;
		place->twice_seen = look;
	}
}

void places_keep(struct places *places, remote_addr address, uint32_t size, bool twice,
		 uint32_t look)
{
	keep_at(places, position(places, address), address, size, twice, look);
}

void places_keep_frames(struct places *places, const remote_addr *addresses, const bool *is_entry,
			size_t count, uint32_t size, uint32_t look)
{
	for (size_t i = 0; i < count; i++)
		places_keep(places, addresses[i], size, !is_entry[i], look);
}

void places_drop(struct places *places, remote_addr start, uint64_t size)
{
	size_t at = position(places, start);
	size_t end = at;

	while (end < places->count && places->items[end].address - start < size)
		end++;
	if (end == at)
		return;
	memmove(places->items + at, places->items + end,
		(places->count - end) * sizeof(*places->items));
	places->count -= end - at;
	places->changed = true;
}

static void forget_old(struct places *places, uint32_t look)
{
	size_t kept = 0;

	places->aged = look;
	for (size_t i = 0; i < places->count; i++) {
		struct place *place = &places->items[i];

		if (look - place->seen > (place->proven ? KEEP_PROVEN : KEEP_NEW)) {
			places->changed = true;
			continue;
		}
		if (place->twice_seen && look - place->twice_seen > KEEP_TWICE) {
			place->twice_seen = 0;
			places->changed = true;
		}
		places->items[kept++] = *place;
	}
	places->count = kept;
}

static bool joins(const struct place_span *span, const struct place *place)
{
	uint64_t end = span->start + span->size;

	return place->address <= end + GAP_MAX &&
	       place->address + place->size - span->start <= SPAN_MAX;
}

static bool next_span(struct places *places, const struct place *place)
{
	void *spans = places->spans;

	if (alloc_grow(&spans, &places->span_capacity, places->span_count + 1, PLACES_MAX,
		       sizeof(*places->spans)) != ST_OK)
		return false;
	places->spans = spans;
	places->spans[places->span_count++] = (struct place_span){
		.start = place->address, .size = place->size, .twice = place->twice_seen != 0
	};
	return true;
}

void places_settle(struct places *places, uint32_t look, bool only_now)
{
	if (look - places->aged >= AGE_EVERY)
		forget_old(places, look);
	if (!places->changed && !only_now)
		return;
	places->changed = only_now;
	places->span_count = 0;
	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->items[i];
		struct place_span *last =
			places->span_count ? &places->spans[places->span_count - 1] : NULL;

		if (only_now && place->seen != look)
			continue;
		if (!last || !joins(last, place)) {
			if (!next_span(places, place))
				return;
			continue;
		}
		if (place->address + place->size > last->start + last->size)
			last->size = place->address + place->size - last->start;
		last->twice |= place->twice_seen != 0;
	}
}
