/*
 * notice: one line that tells what has just happened.
 *
 * Invariant: a passing notice outlives neither its time nor the next key, a lasting one goes only
 * when another comes or the user sends it away: where a file was written must be readable after a
 * look elsewhere.
 *
 * Called by commands, exports and picker; drawn by whoever owns the last lines.
 */
#include "ui/notice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ui/format.h"
#include "ui/screen.h"

#define PASSING_MS 4000

void notice_say(struct notice *n, int64_t now_ms, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(n->text, sizeof(n->text), format, arguments);
	va_end(arguments);
	n->alert = false;
	n->until_ms = now_ms + PASSING_MS;
}

void notice_keep(struct notice *n, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(n->text, sizeof(n->text), format, arguments);
	va_end(arguments);
	n->alert = false;
	n->until_ms = INT64_MAX;
}

void notice_status(struct notice *n, enum status status, const struct status_args *args)
{
	char sentence[4608], hint[256];

	status_sentence(sentence, sizeof(sentence), status, args);
	status_hint(hint, sizeof(hint), status, args);
	notice_keep(n, "%s%s%s", sentence, hint[0] ? "\t" : "", hint);
	n->alert = true;
}

void notice_clear(struct notice *n)
{
	n->text[0] = '\0';
}

void notice_pass(struct notice *n)
{
	if (n->until_ms != INT64_MAX)
		notice_clear(n);
}

bool notice_expire(struct notice *n, int64_t now_ms)
{
	if (!n->text[0] || now_ms < n->until_ms)
		return false;
	notice_clear(n);
	return true;
}

void notice_draw(const struct notice *n, int y)
{
	char line[5120];
	int width = screen_width() - 2;

	if (!n->text[0] || width <= 0)
		return;
	format_parts(line, sizeof(line), n->text, (size_t)width, screen_ascii());
	screen_text(y, 1, width, n->alert ? THEME_ALERT : THEME_STRONG, line);
}

void notice_draw_pair(const struct notice *n, int y)
{
	const char *cure = strchr(n->text, '\t');
	struct notice part = *n;

	if (!cure) {
		notice_draw(n, y);
		return;
	}
	snprintf(part.text, sizeof(part.text), "%.*s", (int)(cure - n->text), n->text);
	screen_fill(y - 1, 0, screen_width(), THEME_PLAIN);
	notice_draw(&part, y - 1);
	snprintf(part.text, sizeof(part.text), "%s", cure + 1);
	part.alert = false;
	notice_draw(&part, y);
}
