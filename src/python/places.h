/*
 * places: where words of one thread lay outside its data stack: frames of generators and entry frames, before 3.11
 * every frame, the cframe of 3.11 and 3.12, exception items. Only hints where to read: what is found there is
 * verified by the walk.
 */
#ifndef PYTOP_PYTHON_PLACES_H
#define PYTOP_PYTHON_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "target/memory.h"

#define PLACES_MAX 2048 /* of one thread */

struct place {
	remote_addr address;
	uint32_t size;
	uint32_t seen;       /* the look that used it last */
	uint32_t twice_seen; /* the look that last needed two copies; 0: none */
	bool proven;         /* more than one look used it */
};

struct place_span {
	remote_addr start;
	uint64_t size;
	bool twice;
};

struct places {
	struct place *items; /* ascending */
	size_t count, capacity;
	struct place_span *spans; /* what is read: neighbours in one piece; ascending, apart */
	size_t span_count, span_capacity;
	bool changed;  /* the spans are not those of the items any more */
	uint32_t aged; /* the look that last forgot the old ones */
};

void places_free(struct places *places);

/* Something lies there, or was used again. Forgotten when there is no room for it. */
void places_keep(struct places *places, remote_addr address, uint32_t size, bool twice,
		 uint32_t look);

/* The same for many frames, in the order of a walk. */
void places_keep_frames(struct places *places, const remote_addr *addresses, const bool *is_entry,
			size_t count, uint32_t size, uint32_t look);

/* It could not be read: forget what lies there. */
void places_drop(struct places *places, remote_addr start, uint64_t size);

/*
 * Forget what was not used lately, and merge neighbours: to be called before the spans are used. only_now: the spans
 * are only of what this look used already.
 */
void places_settle(struct places *places, uint32_t look, bool only_now);

#endif
