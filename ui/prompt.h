/*
 * prompt: one line the user types: what to search, what to filter by.
 */
#ifndef PYTOP_UI_PROMPT_H
#define PYTOP_UI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#define PROMPT_TEXT_MAX 256

enum prompt_purpose { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER };

struct prompt {
	enum prompt_purpose purpose;  /* PROMPT_NONE: nothing is asked */
	char text[PROMPT_TEXT_MAX];   /* UTF-8 */
	char before[PROMPT_TEXT_MAX]; /* what a cancel returns to */
	bool missed;                  /* what is searched is not there: shown */
};

enum prompt_result { PROMPT_UNCHANGED, PROMPT_CHANGED, PROMPT_DONE, PROMPT_CANCELLED };

/* Ask, beginning with text; a cancel goes back to before. */
void prompt_begin(struct prompt *p, enum prompt_purpose purpose, const char *text);
/* A key was pressed. After DONE and CANCELLED nothing is asked any more; text is what to go by. */
enum prompt_result prompt_key(struct prompt *p, int key);
void prompt_draw(const struct prompt *p, int y);

#endif
