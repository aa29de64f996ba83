/*
 * The table of keys holds together: no key means two things in one place, every key is told in the
 * help, every action can be reached, and the footer fits.
 */
#include "unit.h"

#include <string.h>

#include "ui/keymap.h"

static const enum place places[] = { PLACE_FUNCTIONS, PLACE_THREADS, PLACE_STACK,
				     PLACE_HELP,      PLACE_SORT,    PLACE_PICKER };
#define PLACES (sizeof(places) / sizeof(places[0]))
#define KEYS 4

START_TEST(test_one_meaning)
{
	for (size_t place = 0; place < PLACES; place++)
		for (size_t i = 0; i < keymap_count; i++)
			for (size_t k = 0; k < KEYS && keymap[i].keys[k]; k++) {
				if (!(keymap[i].places & places[place]))
					continue;
				ck_assert_msg(keymap_find(keymap[i].keys[k], places[place]) ==
						      keymap[i].action,
					      "%s has another meaning before it", keymap[i].label);
			}
}
END_TEST

START_TEST(test_all_told)
{
	for (size_t i = 0; i < keymap_count; i++) {
		ck_assert_int_ne(keymap[i].keys[0], 0);
		ck_assert_uint_gt(strlen(keymap[i].label), 0);
		ck_assert_uint_gt(strlen(keymap[i].help), 0);
		ck_assert(!keymap[i].caption == !keymap[i].footer);
	}
}
END_TEST

START_TEST(test_all_reached)
{
	for (int action = ACTION_NONE + 1; action < ACTION_COUNT; action++) {
		size_t found = 0;

		for (size_t i = 0; i < keymap_count; i++)
			found += keymap[i].action == (enum action)action;
		ck_assert_msg(found > 0, "action %d has no key", action);
	}
}
END_TEST

/* One can leave every place, and call for help wherever there is something to explain. */
START_TEST(test_ways_out)
{
	for (size_t place = 0; place < PLACES; place++) {
		ck_assert_int_eq(keymap_find('q', places[place]), ACTION_QUIT);
		ck_assert_int_eq(keymap_find(27, places[place]), ACTION_BACK);
	}
	ck_assert_int_eq(keymap_find('?', PLACE_FUNCTIONS), ACTION_HELP);
	ck_assert_int_eq(keymap_find('g', PLACE_HELP), ACTION_NONE);
	ck_assert_int_eq(keymap_find('Z', PLACE_FUNCTIONS), ACTION_NONE);
	ck_assert_int_eq(keymap_find(0, PLACE_FUNCTIONS), ACTION_NONE);
}
END_TEST

/* A footer never takes more than its width; a narrower one holds nothing that a wider one lacks. */
START_TEST(test_footer)
{
	const struct keymap_binding *chosen[64], *wider[64];

	for (size_t place = 0; place < PLACES; place++) {
		size_t more = 64;

		memset(wider, 0, sizeof(wider));
		for (size_t width = 300; width > 0; width--) {
			size_t count = keymap_footer(chosen, 64, places[place], width), used = 0;

			for (size_t i = 0; i < count; i++)
				used += strlen(chosen[i]->caption) + strlen(chosen[i]->footer) +
					(i ? 2 : 0);
			ck_assert_uint_le(used, width);
			ck_assert_uint_le(count, more);
			for (size_t i = 0; width < 300 && i < count; i++) {
				size_t j = 0;

				while (j < more && wider[j] != chosen[i])
					j++;
				ck_assert_uint_lt(j, more);
			}
			more = count;
			memcpy(wider, chosen, sizeof(wider));
		}
		ck_assert_uint_eq(keymap_footer(chosen, 64, places[place], 5), 1);
		ck_assert_int_eq(chosen[0]->action, ACTION_QUIT);
	}
}
END_TEST

UNIT_MAIN("keymap", test_one_meaning, test_all_told, test_all_reached, test_ways_out, test_footer)
