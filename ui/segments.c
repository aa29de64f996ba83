/*
 * segments: a line made of pieces, of which the least important leave when it is too narrow.
 *
 * Invariant: pieces keep their order; which of them stay depends only on the width and on how wide
 * they are.
 *
 * Called by summary.
 */
#include "ui/segments.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/screen.h"

#define GAP 2

void segments_add(struct segments *s, unsigned rank, enum theme_role role, const char *format, ...)
{
	struct segment *segment = &s->list[s->count];
	va_list arguments;

	if (s->count == SEGMENTS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(segment->text, sizeof(segment->text), format, arguments);
	va_end(arguments);
	segment->role = role;
	segment->rank = rank;
	segment->right = s->right;
	s->count++;
}

int segments_width(const struct segments *s)
{
	size_t width = 0;

	for (unsigned i = 0; i < s->count; i++)
		width += text_width(s->list[i].text) + (i ? GAP : 0);
	return (int)width;
}

void segments_fit(struct segments *s, int width)
{
	while (s->count && segments_width(s) > width) {
		unsigned last = 0;

		for (unsigned i = 1; i < s->count; i++)
			if (s->list[i].rank >= s->list[last].rank)
				last = i;
		if (!s->list[last].rank)
			return;
		memmove(&s->list[last], &s->list[last + 1],
			(--s->count - last) * sizeof(s->list[0]));
	}
}

void segments_draw(const struct segments *s, int y, int x, int end)
{
	struct segments right = { .count = 0 };

	for (unsigned i = 0; i < s->count; i++) {
		const struct segment *segment = &s->list[i];

		if (segment->right) {
			right.list[right.count++] = *segment;
			continue;
		}
		x += screen_text(y, x, end - x, segment->role, segment->text) + GAP;
	}
	x = end - segments_width(&right);
	for (unsigned i = 0; i < right.count; i++)
		x += screen_text(y, x, end - x, right.list[i].role, right.list[i].text) + GAP;
}
