/*
 * text: UTF-8 that may come from a hostile target.
 *
 * Invariant: nothing leaves text_escape() or text_fit() that could move the cursor, change the
 * order of what is shown or break an encoding, and nothing is cut inside a character. The locale
 * has no say: decoding, widths and numbers are all our own.
 *
 * Called by status and json, by everything that shows a name, and by the readers of such names.
 */
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/width.h"

#define REPLACEMENT 0xfffdu
#define ELLIPSIS "\xe2\x80\xa6"

static bool continues(const unsigned char *s, size_t count)
{
	for (size_t i = 1; i <= count; i++)
		if ((s[i] & 0xc0) != 0x80)
			return false;
	return true;
}

size_t text_decode(const char *text, size_t n, uint32_t *codepoint)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;

	*codepoint = TEXT_BAD;
	if (s[0] < 0x80) {
		*codepoint = s[0];
		return 1;
	}
	if (s[0] >= 0xc2 && s[0] < 0xe0 && n >= 2 && continues(s, 1)) {
		*codepoint = (uint32_t)(s[0] & 0x1f) << 6 | (s[1] & 0x3f);
		return 2;
	}
	if (s[0] >= 0xe0 && s[0] < 0xf0 && n >= 3 && continues(s, 2)) {
		c = (uint32_t)(s[0] & 0xf) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3f);
		if (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))
			return 1;
		*codepoint = c;
		return 3;
	}
	if (s[0] >= 0xf0 && s[0] < 0xf5 && n >= 4 && continues(s, 3)) {
		c = (uint32_t)(s[0] & 7) << 18 | (uint32_t)(s[1] & 0x3f) << 12 |
		    (uint32_t)(s[2] & 0x3f) << 6 | (s[3] & 0x3f);
		if (c < 0x10000 || c > 0x10ffff)
			return 1;
		*codepoint = c;
		return 4;
	}
	return 1;
}

size_t text_encode(uint32_t c, char out[4])
{
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = REPLACEMENT;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

bool text_is_utf8(const char *s, size_t n)
{
	uint32_t c;

	for (size_t i = 0; i < n;) {
		i += text_decode(s + i, n - i, &c);
		if (c == TEXT_BAD)
			return false;
	}
	return true;
}

/* Characters one cannot see, or that change the order or the lines of what one sees. */
static const struct {
	uint32_t first;
	uint32_t last;
} hidden[] = {
	{ 0x00ad, 0x00ad },   /* soft hyphen */
	{ 0x061c, 0x061c },   /* Arabic letter mark */
	{ 0x180e, 0x180e },   /* Mongolian vowel separator */
	{ 0x200b, 0x200b },   /* zero width space; 200C and 200D, the joiners, are not hidden */
	{ 0x200e, 0x200f },   /* left-to-right and right-to-left marks */
	{ 0x2028, 0x202e },   /* line separators, embeddings, overrides */
	{ 0x2060, 0x206f },   /* invisible operators, isolates */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xfff9, 0xfffb },   /* annotations */
	{ 0xe0000, 0xe007f }, /* tags */
};

bool text_is_safe(uint32_t codepoint)
{
	if (codepoint < 0x7f)
		return codepoint >= 0x20;
	if (codepoint < 0xa0 || codepoint > 0x10ffff)
		return false;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (codepoint >= hidden[i].first && codepoint <= hidden[i].last)
			return false;
	return true;
}

/* How one character is printed; byte is its first. Returns the length in out (at most 10). */
static size_t escape_one(char out[12], uint32_t c, unsigned char byte, bool ascii_only)
{
	if (text_is_safe(c) && (c < 0x7f || !ascii_only))
		return text_encode(c, out);
	if (c == '\n' || c == '\t' || c == '\r')
		return (size_t)snprintf(out, 12, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	if (c < 0x80 || c == TEXT_BAD)
		return (size_t)snprintf(out, 12, "\\x%02x", byte);
	return (size_t)snprintf(out, 12, c < 0x10000 ? "\\u%04" PRIx32 : "\\U%08" PRIx32, c);
}

size_t text_escape(char *out, size_t size, const char *s, size_t n, bool ascii_only)
{
	size_t need = 0, used = 0;

	for (size_t i = 0; i < n;) {
		unsigned char byte = (unsigned char)s[i];
		char one[12];
		uint32_t c;
		size_t length;

		i += text_decode(s + i, n - i, &c);
		if (c >= 0x20 && c < 0x7f) {
			one[0] = (char)c;
			length = 1;
		} else {
			length = escape_one(one, c, byte, ascii_only);
		}
		if (used == need && need + length < size) {
			memcpy(out + used, one, length);
			used += length;
		}
		need += length;
	}
	if (size)
		out[used] = '\0';
	return need;
}

/* One character of a string that ends with a zero, and its columns; what is not safe counts 1. */
static size_t next(const char *s, uint32_t *c, size_t *columns)
{
	size_t n;

	if ((unsigned char)*s < 0x80) {
		*c = (unsigned char)*s;
		*columns = 1;
		return 1;
	}
	n = text_decode(s, strnlen(s, 4), c);
	*columns = text_is_safe(*c) ? width_of(*c) : 1;
	return n;
}

size_t text_width(const char *s)
{
	size_t width = 0, columns;
	uint32_t c;

	while (*s) {
		s += next(s, &c, &columns);
		width += columns;
	}
	return width;
}

/* What text_fit() builds, and the bytes it must not use up. */
struct line {
	char *out;
	size_t size;
	size_t used;
	size_t columns;
	size_t pad_to; /* columns that will be there in the end, a byte each at least */
	size_t mark;   /* bytes of the mark of a cut that are still to come */
};

/* Append n bytes of columns; false when they, the padding and the mark do not fit. */
static bool line_add(struct line *l, const char *s, size_t n, size_t columns)
{
	size_t after = l->columns + columns;
	size_t padding = l->pad_to > after ? l->pad_to - after : 0;

	if (l->used + n + padding + l->mark >= l->size)
		return false;
	memcpy(l->out + l->used, s, n);
	l->used += n;
	l->columns = after;
	return true;
}

/* Append as many characters of s as take at most columns. */
static void line_head(struct line *l, const char *s, size_t columns)
{
	size_t end = l->columns + columns;

	while (*s) {
		uint32_t c;
		size_t width, n = next(s, &c, &width);
		bool safe = text_is_safe(c);

		if (l->columns + width > end || !line_add(l, safe ? s : "?", safe ? n : 1, width))
			return;
		s += n;
	}
}

/* The longest end of s that takes at most columns and does not begin with a combining character. */
static const char *tail(const char *s, size_t columns)
{
	size_t width = text_width(s);

	while (*s) {
		uint32_t c;
		size_t one, n = next(s, &c, &one);

		if (width <= columns && one)
			return s;
		width -= one;
		s += n;
	}
	return s;
}

/* s does not fit: what stays before and after the mark. */
static void line_cut(struct line *l, const char *s, size_t width, enum text_cut cut,
		     const char *mark)
{
	size_t left = cut == TEXT_CUT_END ? width - 1 : cut == TEXT_CUT_START ? 0 : width / 2;

	l->mark = strlen(mark) - (l->pad_to ? 1 : 0);
	line_head(l, s, left);
	l->mark = 0;
	line_add(l, mark, strlen(mark), 1);
	if (cut != TEXT_CUT_END)
		line_head(l, tail(s, width - l->columns), width - l->columns);
}

size_t text_fit(char *out, size_t size, const char *s, size_t width, enum text_cut cut, bool pad,
		bool ascii_only)
{
	struct line l = { .out = out, .size = size };

	if (!size)
		return 0;
	if (width > size - 1)
		width = size - 1;
	if (pad)
		l.pad_to = width;
	if (text_width(s) <= width)
		line_head(&l, s, width);
	else if (width)
		line_cut(&l, s, width, cut, ascii_only || size < 4 ? "~" : ELLIPSIS);
	while (l.columns < l.pad_to && line_add(&l, " ", 1, 1))
		;
	out[l.used] = '\0';
	return l.columns;
}

/* At most four digits (or two with a point) and the letter of the power of step. */
static void scaled(char *out, size_t size, uint64_t n, unsigned step)
{
	static const char letters[] = "kMGTPE";
	uint64_t unit = step, tenths;
	size_t i = 0;

	if (n < step) {
		snprintf(out, size, "%" PRIu64, n);
		return;
	}
	while (n / unit + (n % unit >= unit / 2) >= step) {
		unit *= step;
		i++;
	}
	tenths = n / unit * 10 + (n % unit * 10 + unit / 2) / unit;
	if (tenths < 100)
		snprintf(out, size, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10,
			 letters[i]);
	else
		snprintf(out, size, "%" PRIu64 "%c", n / unit + (n % unit >= unit / 2), letters[i]);
}

void text_bytes(char *out, size_t size, uint64_t n)
{
	scaled(out, size, n, 1024);
}

void text_count(char *out, size_t size, uint64_t n)
{
	scaled(out, size, n, 1000);
}

void text_grouped(char *out, size_t size, uint64_t n)
{
	char digits[24], grouped[32];
	size_t count = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n), used = 0;

	for (size_t i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			grouped[used++] = ',';
		grouped[used++] = digits[i];
	}
	grouped[used] = '\0';
	snprintf(out, size, "%s", grouped);
}

void text_seconds(char *out, size_t size, double seconds)
{
	uint64_t tenths, s;

	if (!(seconds > 0))
		seconds = 0;
	if (seconds > 99999 * 86400.0)
		seconds = 99999 * 86400.0;
	tenths = (uint64_t)(seconds * 10 + 0.5);
	s = tenths / 10;
	if (s < 60)
		snprintf(out, size, "%" PRIu64 ".%" PRIu64 "s", s, tenths % 10);
	else if (s < 3600)
		snprintf(out, size, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, size, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
	else if (s < 100 * 86400)
		snprintf(out, size, "%" PRIu64 "d%02" PRIu64 "h", s / 86400, s / 3600 % 24);
	else
		snprintf(out, size, "%" PRIu64 "d", s / 86400);
}
