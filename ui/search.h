/*
 * search: find a row of a table by a text, while it is typed and again later.
 */
#ifndef PYTOP_UI_SEARCH_H
#define PYTOP_UI_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/notice.h"
#include "ui/prompt.h"
#include "ui/table.h"

struct search {
	char text[PROMPT_TEXT_MAX]; /* what was searched last; "": nothing yet */
	struct table_place from;    /* where one stood when the typing began */
};

void search_begin(struct search *s, const struct table *table);
/*
 * The prompt's text changed, was confirmed or given up. The selection is on the first match from where
 * the typing began; without a match, or when given up, where it was. False: it was confirmed and is
 * not there.
 */
bool search_typed(struct search *s, struct table *table, struct prompt *prompt,
		  enum prompt_result result);
/* The next (1) or the one before (-1); false, and nothing moved: there is none. */
bool search_on(const struct search *s, struct table *table, int step);
void search_say_missed(const struct search *s, struct notice *notice, int64_t now_ms);

#endif
