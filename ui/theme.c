/*
 * theme: roles and their looks, for 256 colours, for 8 and for none.
 *
 * Invariant: the background of text is the terminal's own, but for bars of colour that bring their
 * own foreground; so it reads on dark and on light.
 *
 * Called by screen, once a start and once a text.
 */
#include "ui/theme.h"

#include <curses.h>
#include <stdlib.h>

#define OWN (-1) /* the terminal's own colour */

struct look {
	short foreground, background;
	unsigned attributes;
};

static const struct look many[THEME_COUNT] = {
	[THEME_PLAIN] = { OWN, OWN, A_NORMAL }, [THEME_STRONG] = { OWN, OWN, A_BOLD },
	[THEME_QUIET] = { 244, OWN, A_NORMAL }, [THEME_CPU] = { 71, OWN, A_NORMAL },
	[THEME_GIL] = { 172, OWN, A_NORMAL },   [THEME_WAIT] = { 167, OWN, A_NORMAL },
	[THEME_PLACE] = { 67, OWN, A_NORMAL },  [THEME_HEAD] = { 252, 238, A_NORMAL },
	[THEME_SORT] = { 231, 238, A_BOLD },    [THEME_SELECTED] = { 231, 24, A_NORMAL },
	[THEME_KEY] = { 67, OWN, A_BOLD },      [THEME_ALERT] = { 231, 124, A_BOLD },
};

static const struct look few[THEME_COUNT] = {
	[THEME_PLAIN] = { OWN, OWN, A_NORMAL },
	[THEME_STRONG] = { OWN, OWN, A_BOLD },
	[THEME_QUIET] = { OWN, OWN, A_DIM },
	[THEME_CPU] = { COLOR_GREEN, OWN, A_NORMAL },
	[THEME_GIL] = { COLOR_YELLOW, OWN, A_NORMAL },
	[THEME_WAIT] = { COLOR_RED, OWN, A_NORMAL },
	[THEME_PLACE] = { COLOR_CYAN, OWN, A_NORMAL },
	[THEME_HEAD] = { OWN, OWN, A_REVERSE },
	[THEME_SORT] = { OWN, OWN, A_REVERSE | A_BOLD },
	[THEME_SELECTED] = { COLOR_WHITE, COLOR_BLUE, A_BOLD },
	[THEME_KEY] = { COLOR_CYAN, OWN, A_BOLD },
	[THEME_ALERT] = { COLOR_WHITE, COLOR_RED, A_BOLD },
};

static const struct look none[THEME_COUNT] = {
	[THEME_STRONG] = { OWN, OWN, A_BOLD },
	[THEME_QUIET] = { OWN, OWN, A_DIM },
	[THEME_WAIT] = { OWN, OWN, A_BOLD },
	[THEME_HEAD] = { OWN, OWN, A_REVERSE },
	[THEME_SORT] = { OWN, OWN, A_REVERSE | A_BOLD },
	[THEME_SELECTED] = { OWN, OWN, A_REVERSE | A_BOLD },
	[THEME_KEY] = { OWN, OWN, A_BOLD },
	[THEME_ALERT] = { OWN, OWN, A_REVERSE | A_BOLD },
};

static unsigned attributes[THEME_COUNT];

static bool wants_colours(void)
{
	const char *refused = getenv("NO_COLOR");

	return !(refused && *refused) && has_colors();
}

void theme_init(void)
{
	const struct look *looks = none;
	bool own = false;

	if (wants_colours() && start_color() == OK && COLORS >= 8) {
		looks = COLORS >= 256 && COLOR_PAIRS > THEME_COUNT ? many : few;
		own = use_default_colors() == OK;
	}
	for (short role = 0; role < THEME_COUNT; role++) {
		const struct look *look = &looks[role];

		attributes[role] = look->attributes;
		if (looks == none || (look->foreground == OWN && look->background == OWN))
			continue;
		init_pair((short)(role + 1),
			  look->foreground == OWN && !own ? COLOR_WHITE : look->foreground,
			  look->background == OWN && !own ? COLOR_BLACK : look->background);
		attributes[role] |= (unsigned)COLOR_PAIR(role + 1);
	}
}

unsigned theme_attributes(enum theme_role role)
{
	unsigned bold = role & THEME_BOLD ? A_BOLD : 0;

	return attributes[role & ~THEME_BOLD] | bold;
}
