/*
 * status: the table of errors turned into words.
 *
 * Invariant: the sentence, the hint and the name of an error stand in STATUS_TABLE and nowhere
 * else; the three arrays here are made from it. What comes from outside ({what}, {self}) passes
 * text_escape(), so that no path or command line of a target reaches a terminal raw.
 *
 * Called by whoever owns the screen or stderr.
 */
#include "base/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define WORD_SIZE 4200
/* What no shell gives a meaning. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%"

static const char *const names[] = {
#define X(name, sentence, hint) #name,
	STATUS_TABLE(X)
#undef X
};

static const char *const sentences[] = {
#define X(name, sentence, hint) sentence,
	STATUS_TABLE(X)
#undef X
};

static const char *const hints[] = {
#define X(name, sentence, hint) hint,
	STATUS_TABLE(X)
#undef X
};

static size_t index_of(enum status status)
{
	return (unsigned)status < ST_COUNT ? (size_t)status : ST_COUNT;
}

const char *status_name(enum status status)
{
	size_t i = index_of(status);

	return i < ST_COUNT ? names[i] : "UNKNOWN";
}

/* As one word of a shell. False: it does not fit, or needs no quotes. */
static bool quote(char *buf, size_t size, const char *word)
{
	size_t used = 0;

	if (!word[strspn(word, PLAIN)])
		return false;
	for (const char *c = word; *c; c++) {
		const char *part = *c == '\'' ? "'\\''" : (char[2]){ *c, '\0' };
		int n = snprintf(buf + used, size - used, "%s%s%s", c == word ? "'" : "", part,
				 c[1] ? "" : "'");

		if (n < 0 || (size_t)n >= size - used)
			return false;
		used += (size_t)n;
	}
	return true;
}

/* What stands for a place of a sentence; NULL when the braces name none. */
static const char *place(const char *at, const struct status_args *args, char word[WORD_SIZE],
			 size_t *length)
{
	if (strncmp(at, "{pid}", 5) == 0) {
		*length = 5;
		snprintf(word, WORD_SIZE, "%" PRIdMAX, (intmax_t)args->pid);
		return word;
	}
	if (strncmp(at, "{what}", 6) == 0) {
		*length = 6;
		return args->what ? args->what : "?";
	}
	if (strncmp(at, "{self}", 6) == 0) {
		*length = 6;
		if (!args->self)
			return "pytop";
		return quote(word, WORD_SIZE, args->self) ? word : args->self;
	}
	if (strncmp(at, "{errno}", 7) == 0) {
		*length = 7;
		return args->errnum ? strerror(args->errnum) : "unknown error";
	}
	return NULL;
}

/* Append n bytes of s, escaped; false when they were cut. */
static bool append(char *buf, size_t size, size_t *used, const char *s, size_t n)
{
	size_t need = text_escape(buf + *used, size - *used, s, n, false);

	if (need >= size - *used)
		return false;
	*used += need;
	return true;
}

static void fill(char *buf, size_t size, const char *pattern, const struct status_args *args)
{
	static const struct status_args nothing;
	size_t used = 0;

	if (!size)
		return;
	buf[0] = '\0';
	if (!args)
		args = &nothing;
	while (*pattern) {
		char word[WORD_SIZE];
		size_t length = strcspn(pattern, "{");
		const char *text = length ? NULL : place(pattern, args, word, &length);

		if (!length)
			length = 1;
		if (!append(buf, size, &used, text ? text : pattern, text ? strlen(text) : length))
			return;
		pattern += length;
	}
}

void status_sentence(char *buf, size_t size, enum status status, const struct status_args *args)
{
	size_t i = index_of(status);

	fill(buf, size, i < ST_COUNT ? sentences[i] : "an unknown error", args);
}

void status_hint(char *buf, size_t size, enum status status, const struct status_args *args)
{
	size_t i = index_of(status);

	fill(buf, size, i < ST_COUNT ? hints[i] : "", args);
}
