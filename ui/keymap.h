/*
 * keymap: which key does what where: one table, from which help and footer are made.
 */
#ifndef PYTOP_UI_KEYMAP_H
#define PYTOP_UI_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>

/* Where a key works; bits. */
enum place {
	PLACE_FUNCTIONS = 1,
	PLACE_THREADS = 2,
	PLACE_STACK = 4,
	PLACE_HELP = 8,
	PLACE_SORT = 16,
	PLACE_PICKER = 32,
};

enum action {
	ACTION_NONE,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_HALF_UP,
	ACTION_HALF_DOWN,
	ACTION_HOME,
	ACTION_END,
	ACTION_ENTER,
	ACTION_BACK,
	ACTION_SEARCH,
	ACTION_NEXT,
	ACTION_PREVIOUS,
	ACTION_FILTER,
	ACTION_SORT_LEFT,
	ACTION_SORT_RIGHT,
	ACTION_SORT_MENU,
	ACTION_REVERSE,
	ACTION_WALL,
	ACTION_CPU,
	ACTION_GIL,
	ACTION_WAIT,
	ACTION_SHORTER,
	ACTION_LONGER,
	ACTION_FASTER,
	ACTION_SLOWER,
	ACTION_THREADS,
	ACTION_LINES,
	ACTION_IDLE,
	ACTION_PAUSE,
	ACTION_RESET,
	ACTION_GECKO,
	ACTION_FLAMEGRAPH,
	ACTION_COLLAPSED,
	ACTION_WHOLE,
	ACTION_CHILD,
	ACTION_REDRAW,
	ACTION_HELP,
	ACTION_QUIT,
	ACTION_COUNT
};

/* What a terminal sends for a key that is not a character: a KEY_ of <curses.h> with this bit. */
#define KEYMAP_SPECIAL 0x1000000

struct keymap_binding {
	enum action action;
	unsigned places;
	int keys[4];       /* characters, or KEY_ | KEYMAP_SPECIAL; 0: none */
	const char *label; /* the keys, for help */
	const char *help;
	const char *caption; /* the keys in the footer, NULL: not there */
	const char *footer;  /* one word */
	unsigned rank;       /* the lowest stays longest in a narrow footer */
};

extern const struct keymap_binding keymap[];
extern const size_t keymap_count;

/* ACTION_NONE: the key does nothing there. */
enum action keymap_find(int key, enum place place);

/*
 * The bindings of the footer of a place that fit into width columns, each taking caption, word and
 * two blanks. Returns how many, in the order of the table; chosen has room for max.
 */
size_t keymap_footer(const struct keymap_binding *chosen[], size_t max, enum place place,
		     size_t width);

#endif
