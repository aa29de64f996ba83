/*
 * theme: what things look like: roles, and what a terminal can do for each. Colour helps and is
 * never needed: without it, bold, dim and reverse tell the same.
 */
#ifndef PYTOP_UI_THEME_H
#define PYTOP_UI_THEME_H

#include <stdbool.h>

enum theme_role {
	THEME_PLAIN,
	THEME_STRONG, /* names of things */
	THEME_QUIET,  /* labels, zeros, what is not Python's */
	THEME_CPU,    /* burns */
	THEME_GIL,    /* holds */
	THEME_WAIT,   /* waits, and what is wrong */
	THEME_PLACE,  /* files */
	THEME_HEAD,   /* titles of columns */
	THEME_SORT,   /* the title of the sort column */
	THEME_SELECTED,
	THEME_KEY, /* keys in the footer */
	THEME_ALERT,
	THEME_COUNT,
	THEME_BOLD = 0x100, /* with any of them */
};

/* After curses was started: colours unless NO_COLOR is set or the terminal has none. */
void theme_init(void);
/* For attr_set() and the like, colour included. */
unsigned theme_attributes(enum theme_role role);

#endif
