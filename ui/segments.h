/*
 * segments: a line made of pieces, of which the least important leave when it is too narrow.
 */
#ifndef PYTOP_UI_SEGMENTS_H
#define PYTOP_UI_SEGMENTS_H

#include <stdbool.h>

#include "ui/theme.h"

#define SEGMENTS_MAX 16

struct segments {
	struct segment {
		char text[128];
		enum theme_role role;
		unsigned rank; /* the highest leaves first; 0 never */
		bool right;
	} list[SEGMENTS_MAX];
	unsigned count;
	bool right; /* what is added from now on stands at the right end */
};

/* Append one; safe to print. */
void segments_add(struct segments *s, unsigned rank, enum theme_role role, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Columns that all take, two blanks between them. */
int segments_width(const struct segments *s);
/* Let go of what does not fit into width columns. */
void segments_fit(struct segments *s, int width);
/* From x on, and what stands at the right up to end. */
void segments_draw(const struct segments *s, int y, int x, int end);

#endif
