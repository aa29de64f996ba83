/*
 * search: a text, and where one stood before it was typed.
 *
 * Invariant: a text that is nowhere moves nothing, however much of it was somewhere.
 *
 * Called by commands and picker.
 */
#include "ui/search.h"

#include <stdio.h>
#include <string.h>

#include "ui/format.h"
#include "ui/screen.h"

void search_begin(struct search *s, const struct table *table)
{
	s->from = table_place(table);
}

bool search_typed(struct search *s, struct table *table, struct prompt *prompt,
		  enum prompt_result result)
{
	bool empty = !prompt->text[0];

	table_return(table, &s->from);
	prompt->missed = false;
	if (result == PROMPT_CANCELLED || empty)
		return true;
	if (result == PROMPT_DONE)
		snprintf(s->text, sizeof(s->text), "%s", prompt->text);
	prompt->missed = !table_search(table, prompt->text, 1, true);
	return !prompt->missed || result != PROMPT_DONE;
}

bool search_on(const struct search *s, struct table *table, int step)
{
	return s->text[0] && table_search(table, s->text, step, false);
}

void search_say_missed(const struct search *s, struct notice *notice, int64_t now_ms)
{
	char text[PROMPT_TEXT_MAX * 10];

	format_name(text, sizeof(text), s->text, screen_ascii());
	notice_say(notice, now_ms, "not found: %s", text);
}
