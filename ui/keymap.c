/*
 * keymap: the table of keys.
 *
 * Invariant: within one place a key has one meaning; help and footer are made from this table and
 * from nothing else.
 *
 * Called by loop, picker and prompt for what a key means, by view_help and loop for what to tell.
 */
#include "ui/keymap.h"

#include <curses.h>
#include <string.h>

#define CODE(key) (KEYMAP_SPECIAL | (key))
#define CONTROL(letter) ((letter)&0x1f)
#define ESCAPE 27
#define GAP 2 /* blanks between two of the footer */

#define PICTURES (PLACE_FUNCTIONS | PLACE_THREADS | PLACE_STACK)
#define TABLES (PLACE_FUNCTIONS | PLACE_THREADS)
#define LISTS (PICTURES | PLACE_HELP | PLACE_SORT | PLACE_PICKER)
#define NAMED (PICTURES | PLACE_PICKER)
#define SORTED (TABLES | PLACE_PICKER)

/* clang-format off */
const struct keymap_binding keymap[] = {
	{ ACTION_HELP, PICTURES | PLACE_HELP | PLACE_SORT, { '?', 'h', CODE(KEY_F(1)) }, "? h F1",
	  "this help, and back", "?", "Help", 1 },
	{ ACTION_UP, LISTS, { CODE(KEY_UP), 'k', CONTROL('P') }, "Up k", "a row up",
	  NULL, NULL, 0 },
	{ ACTION_DOWN, LISTS, { CODE(KEY_DOWN), 'j', CONTROL('N') }, "Down j", "a row down",
	  NULL, NULL, 0 },
	{ ACTION_PAGE_UP, LISTS, { CODE(KEY_PPAGE), CONTROL('B') }, "PgUp ^B", "a page up",
	  NULL, NULL, 0 },
	{ ACTION_PAGE_DOWN, LISTS, { CODE(KEY_NPAGE), CONTROL('F') }, "PgDn ^F", "a page down",
	  NULL, NULL, 0 },
	{ ACTION_HALF_UP, LISTS, { CONTROL('U') }, "^U", "half a page up", NULL, NULL, 0 },
	{ ACTION_HALF_DOWN, LISTS, { CONTROL('D') }, "^D", "half a page down", NULL, NULL, 0 },
	{ ACTION_HOME, LISTS, { CODE(KEY_HOME), CONTROL('A') }, "Home ^A",
	  "to the first row, whichever that becomes", NULL, NULL, 0 },
	{ ACTION_END, LISTS, { CODE(KEY_END), CONTROL('E') }, "End ^E", "to the last row",
	  NULL, NULL, 0 },
	{ ACTION_ENTER, PLACE_THREADS, { '\r', '\n', CODE(KEY_ENTER) }, "Enter",
	  "the thread's stack now, with lines", "Enter ", "Stack", 2 },
	{ ACTION_ENTER, PLACE_SORT, { '\r', '\n', CODE(KEY_ENTER) }, "Enter", "sort by it",
	  "Enter ", "Sort", 2 },
	{ ACTION_ENTER, PLACE_PICKER, { '\r', '\n', CODE(KEY_ENTER) }, "Enter", "profile it",
	  "Enter ", "Profile", 2 },
	{ ACTION_BACK, PLACE_STACK | PLACE_HELP | PLACE_SORT,
	  { ESCAPE, CODE(KEY_BACKSPACE), 0x7f, CONTROL('H') }, "Esc", "back", "Esc ", "Back", 3 },
	{ ACTION_BACK, TABLES, { ESCAPE }, "Esc", "cancel an export, end a filter, go back",
	  NULL, NULL, 0 },
	{ ACTION_SEARCH, NAMED, { '/', CODE(KEY_F(3)) }, "/ F3", "search in names and paths",
	  "/", "Search", 5 },
	{ ACTION_NEXT, NAMED, { 'n' }, "n", "the next that matches", NULL, NULL, 0 },
	{ ACTION_PREVIOUS, NAMED, { 'N' }, "N", "the one before", NULL, NULL, 0 },
	{ ACTION_FILTER, SORTED, { '\\', CODE(KEY_F(4)) }, "\\ F4", "show only rows that match",
	  "\\", "Filter", 6 },
	{ ACTION_SORT_LEFT, SORTED, { '<' }, "<", "sort by the column to the left",
	  "<>", "Sort", 7 },
	{ ACTION_SORT_RIGHT, SORTED, { '>' }, ">", "sort by the column to the right",
	  NULL, NULL, 0 },
	{ ACTION_SORT_MENU, TABLES, { CODE(KEY_F(6)), 's' }, "F6 s", "choose the sort column",
	  NULL, NULL, 0 },
	{ ACTION_REVERSE, SORTED, { 'I' }, "I", "reverse the order", NULL, NULL, 0 },
	{ ACTION_WALL, TABLES, { '1' }, "1", "mode wall: all time", NULL, NULL, 0 },
	{ ACTION_CPU, TABLES, { '2' }, "2", "mode cpu: time on a CPU", "1-4 ", "Mode", 8 },
	{ ACTION_GIL, TABLES, { '3' }, "3", "mode gil: time holding the GIL", NULL, NULL, 0 },
	{ ACTION_WAIT, TABLES, { '4' }, "4", "mode wait: time waiting for the GIL", NULL, NULL, 0 },
	{ ACTION_SHORTER, PICTURES, { '(' }, "(", "a shorter half-life: what is now counts more",
	  NULL, NULL, 0 },
	{ ACTION_LONGER, PICTURES, { ')' }, ")", "a longer half-life", NULL, NULL, 0 },
	{ ACTION_FASTER, PICTURES, { ',' }, ",", "refresh more often", NULL, NULL, 0 },
	{ ACTION_SLOWER, PICTURES, { '.' }, ".", "refresh less often", NULL, NULL, 0 },
	{ ACTION_THREADS, PLACE_FUNCTIONS, { 't' }, "t", "threads", "t", "Threads", 4 },
	{ ACTION_THREADS, PLACE_THREADS | PLACE_STACK, { 't' }, "t", "functions again",
	  "t", "Functions", 4 },
	{ ACTION_LINES, TABLES, { 'l' }, "l", "lines, or functions again", "l", "Lines", 9 },
	{ ACTION_IDLE, TABLES, { 'H' }, "H", "hide what is idle, or show it", "H", "Idle", 14 },
	{ ACTION_PAUSE, PICTURES, { 'p', ' ' }, "p Space",
	  "stop the picture, or go on; sampling and the log never stop", "p", "Pause", 10 },
	{ ACTION_RESET, PICTURES, { 'r' }, "r", "all sums back to zero", "r", "Reset", 13 },
	{ ACTION_GECKO, PICTURES, { 'g' }, "g", "write a profile for profiler.firefox.com",
	  "g", "Gecko", 4 },
	{ ACTION_FLAMEGRAPH, PICTURES, { 'f' }, "f", "write a flame graph (HTML)",
	  "f", "Flame", 11 },
	{ ACTION_COLLAPSED, PICTURES, { 'c' }, "c", "write collapsed stacks",
	  "c", "Collapsed", 12 },
	{ ACTION_WHOLE, PICTURES, { 'W' }, "W", "write the last format again, of the whole log",
	  NULL, NULL, 0 },
	{ ACTION_CHILD, PICTURES, { 'b' }, "b", "switch to the busy child the header names",
	  NULL, NULL, 0 },
	{ ACTION_REDRAW, LISTS, { CONTROL('L') }, "^L", "draw the screen anew", NULL, NULL, 0 },
	{ ACTION_QUIT, LISTS, { 'q', CODE(KEY_F(10)) }, "q F10", "quit", "q", "Quit", 0 },
	{ ACTION_BACK, PLACE_PICKER, { ESCAPE }, "Esc", "end a filter, or quit", NULL, NULL, 0 },
};
/* clang-format on */

const size_t keymap_count = sizeof(keymap) / sizeof(keymap[0]);

static bool bound_to(const struct keymap_binding *binding, int key)
{
	for (size_t i = 0; i < sizeof(binding->keys) / sizeof(binding->keys[0]); i++)
		if (key && binding->keys[i] == key)
			return true;
	return false;
}

enum action keymap_find(int key, enum place place)
{
	for (size_t i = 0; i < keymap_count; i++)
		if ((keymap[i].places & place) && bound_to(&keymap[i], key))
			return keymap[i].action;
	return ACTION_NONE;
}

static size_t footer_width(const struct keymap_binding *binding)
{
	return strlen(binding->caption) + strlen(binding->footer) + GAP;
}

size_t keymap_footer(const struct keymap_binding *chosen[], size_t max, enum place place,
		     size_t width)
{
	size_t count = 0, used = 0;

	for (size_t i = 0; i < keymap_count && count < max; i++)
		if ((keymap[i].places & place) && keymap[i].caption) {
			chosen[count++] = &keymap[i];
			used += footer_width(&keymap[i]);
		}
	while (count && used > width + GAP) {
		size_t last = 0;

		for (size_t i = 1; i < count; i++)
			if (chosen[i]->rank > chosen[last]->rank)
				last = i;
		used -= footer_width(chosen[last]);
		memmove(&chosen[last], &chosen[last + 1], (--count - last) * sizeof(chosen[0]));
	}
	return count;
}
