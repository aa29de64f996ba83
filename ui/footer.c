/*
 * footer: the keys of a place, in the last line; which stay when it is narrow, the table of keys
 * says.
 *
 * Called by loop and picker.
 */
#include "ui/footer.h"

#include "ui/screen.h"

#define FOOTER_MAX 32

void footer_draw(enum place place, int y)
{
	const struct keymap_binding *chosen[FOOTER_MAX];
	int width = screen_width() - 2, x = 1;
	size_t count = keymap_footer(chosen, FOOTER_MAX, place, width > 0 ? (size_t)width : 0);

	for (size_t i = 0; i < count; i++) {
		x += screen_text(y, x, screen_width() - x, THEME_KEY, chosen[i]->caption);
		x += screen_text(y, x, screen_width() - x, THEME_QUIET, chosen[i]->footer);
		x += 2;
	}
}
