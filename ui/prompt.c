/*
 * prompt: one line the user types.
 *
 * Invariant: text is valid UTF-8, ends with a zero and holds only characters that are safe to
 * print.
 *
 * Called by loop and picker while something is asked.
 */
#include "ui/prompt.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/format.h"
#include "ui/keymap.h"
#include "ui/screen.h"

#define CODE(key) (KEYMAP_SPECIAL | (key))
#define CONTROL(letter) ((letter)&0x1f)
#define ESCAPE 27

void prompt_begin(struct prompt *p, enum prompt_purpose purpose, const char *text)
{
	p->purpose = purpose;
	p->missed = false;
	snprintf(p->before, sizeof(p->before), "%s", text);
	snprintf(p->text, sizeof(p->text), "%s", text);
}

/* Take the last character away. */
static enum prompt_result rub_out(struct prompt *p)
{
	size_t length = strlen(p->text);

	if (!length)
		return PROMPT_UNCHANGED;
	do
		length--;
	while (length && ((unsigned char)p->text[length] & 0xc0) == 0x80);
	p->text[length] = '\0';
	return PROMPT_CHANGED;
}

static enum prompt_result rub_out_word(struct prompt *p)
{
	size_t length = strlen(p->text);

	while (length && p->text[length - 1] == ' ')
		length--;
	while (length && p->text[length - 1] != ' ')
		length--;
	p->text[length] = '\0';
	return PROMPT_CHANGED;
}

static enum prompt_result add(struct prompt *p, int key)
{
	size_t length = strlen(p->text);
	char bytes[4];
	size_t n;

	if (key < 0 || (key & KEYMAP_SPECIAL) || !text_is_safe((uint32_t)key))
		return PROMPT_UNCHANGED;
	n = text_encode((uint32_t)key, bytes);
	if (length + n >= sizeof(p->text))
		return PROMPT_UNCHANGED;
	memcpy(p->text + length, bytes, n);
	p->text[length + n] = '\0';
	return PROMPT_CHANGED;
}

enum prompt_result prompt_key(struct prompt *p, int key)
{
	switch (key) {
	case '\r':
	case '\n':
	case CODE(KEY_ENTER):
		p->purpose = PROMPT_NONE;
		return PROMPT_DONE;
	case ESCAPE:
	case CONTROL('G'):
		p->purpose = PROMPT_NONE;
		snprintf(p->text, sizeof(p->text), "%s", p->before);
		return PROMPT_CANCELLED;
	case CODE(KEY_BACKSPACE):
	case 0x7f:
	case CONTROL('H'):
		return rub_out(p);
	case CONTROL('W'):
		return rub_out_word(p);
	case CONTROL('U'):
		p->text[0] = '\0';
		return PROMPT_CHANGED;
	default:
		return add(p, key);
	}
}

void prompt_draw(const struct prompt *p, int y)
{
	const char *label = p->purpose == PROMPT_SEARCH ? "Search: " : "Filter: ";
	char shown[PROMPT_TEXT_MAX * 10], end[PROMPT_TEXT_MAX * 10];
	int width = screen_width() - 2, x = 1;

	if (width < 12)
		label = p->purpose == PROMPT_SEARCH ? "/" : "\\";
	screen_fill(y, 0, screen_width(), THEME_PLAIN);
	x += screen_text(y, x, width, THEME_KEY, label);
	width -= x;
	if (width <= 0)
		return;
	format_name(shown, sizeof(shown), p->text, screen_ascii());
	text_fit(end, sizeof(end), shown, (size_t)width, TEXT_CUT_START, false, screen_ascii());
	x += screen_text(y, x, width, THEME_STRONG, end);
	screen_cursor(y, x);
	if (p->missed)
		screen_text(y, x + 2, screen_width() - x - 2, THEME_WAIT, "not found");
	else if (screen_width() - x > 40)
		screen_text(y, x + 2, screen_width() - x - 2, THEME_QUIET,
			    "  Enter: keep it   Esc: as before");
}
