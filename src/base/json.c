/*
 * json: a streaming writer that cannot write anything but JSON.
 *
 * Invariant: the text that has gone out is a beginning of valid JSON in strict UTF-8. A call that
 * would break that (a value where a key belongs, an end that does not match, too deep a nest) is
 * not written: it sets status, as a failure of the sink does, and from then on nothing is written.
 * In strings what could drive a terminal is escaped, and so is what could end or open a comment in
 * a <script>, so that the same text may be printed and may stand in an HTML page.
 *
 * A profile of ten million samples goes through json_int() and json_double(): numbers are written
 * digit by digit, without printf and so without the locale's decimal point.
 *
 * Called by the exporters and by --json.
 */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define INT_MAX_TEXT 20                /* characters of the longest 64-bit integer */
#define EXACT_LIMIT 9007199254740992.0 /* 2^53: from here on a double has no fraction */

static void flush(struct json *j)
{
	if (j->status == ST_OK && j->used)
		j->status = j->sink(j->context, j->pending, j->used);
	j->used = 0;
}

/* Where n <= sizeof(pending) more characters go; the caller adds what it wrote to used. */
static inline char *room(struct json *j, size_t n)
{
	if (n > sizeof(j->pending) - j->used)
		flush(j);
	return j->pending + j->used;
}

static void put(struct json *j, const char *s, size_t n)
{
	while (n) {
		size_t part = n < sizeof(j->pending) ? n : sizeof(j->pending);

		memcpy(room(j, part), s, part);
		j->used += part;
		s += part;
		n -= part;
	}
}

static inline void put_char(struct json *j, char c)
{
	*room(j, 1) = c;
	j->used++;
}

static inline uint32_t bit(const struct json *j)
{
	return UINT32_C(1) << j->depth;
}

static bool refuse(struct json *j, enum status status)
{
	if (j->status == ST_OK)
		j->status = status;
	return false;
}

/* Whatever separates the next item from the one before it. */
static void separate(struct json *j)
{
	if (j->has_item & bit(j))
		put_char(j, j->depth ? ',' : '\n');
	j->has_item |= bit(j);
}

/* True when a value may be written here; what must stand before it is written. */
static inline bool begin_value(struct json *j)
{
	if (j->status != ST_OK)
		return false;
	if (j->after_key) {
		j->after_key = false;
		return true;
	}
	if (j->is_object & bit(j))
		return refuse(j, ST_BAD_DATA);
	separate(j);
	return true;
}

void json_open(struct json *j, json_sink sink, void *context)
{
	j->sink = sink;
	j->context = context;
	j->status = ST_OK;
	j->depth = 0;
	j->has_item = 0;
	j->is_object = 0;
	j->after_key = false;
	j->used = 0;
}

enum status json_close(struct json *j)
{
	if (j->depth || j->after_key)
		refuse(j, ST_BAD_DATA);
	flush(j);
	return j->status;
}

static void open_container(struct json *j, bool object)
{
	if (!begin_value(j))
		return;
	if (j->depth + 1 >= JSON_DEPTH) {
		refuse(j, ST_TOO_BIG);
		return;
	}
	put_char(j, object ? '{' : '[');
	j->depth++;
	j->has_item &= ~bit(j);
	j->is_object = object ? j->is_object | bit(j) : j->is_object & ~bit(j);
}

static void close_container(struct json *j, bool object)
{
	if (j->status != ST_OK)
		return;
	if (!j->depth || j->after_key || !(j->is_object & bit(j)) == object) {
		refuse(j, ST_BAD_DATA);
		return;
	}
	put_char(j, object ? '}' : ']');
	j->depth--;
}

void json_object(struct json *j)
{
	open_container(j, true);
}

void json_object_end(struct json *j)
{
	close_container(j, true);
}

void json_array(struct json *j)
{
	open_container(j, false);
}

void json_array_end(struct json *j)
{
	close_container(j, false);
}

/* The character c may stand in a string as it is; more is what follows it. */
static bool plain(uint32_t c, const char *more, size_t left)
{
	if (c == '"' || c == '\\')
		return false;
	if (c == '<')
		return !left || (*more != '/' && *more != '!');
	return text_is_safe(c);
}

static void put_unit(struct json *j, uint32_t unit)
{
	static const char hex[] = "0123456789abcdef";
	char escape[6] = {
		'\\',          'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15],
		hex[unit & 15]
	};

	put(j, escape, sizeof(escape));
}

static void put_escaped(struct json *j, uint32_t c)
{
	static const char from[] = "\"\\\n\r\t", to[] = "\"\\nrt";
	const char *simple = c && c < 0x80 ? strchr(from, (int)c) : NULL;

	if (c == TEXT_BAD) {
		put(j, "\xef\xbf\xbd", 3);
	} else if (simple) {
		put_char(j, '\\');
		put_char(j, to[simple - from]);
	} else if (c < 0x10000) {
		put_unit(j, c);
	} else {
		put_unit(j, 0xd7c0 + (c >> 10));
		put_unit(j, 0xdc00 + (c & 0x3ff));
	}
}

static void put_string(struct json *j, const char *s, size_t n)
{
	size_t start = 0, i = 0;

	put_char(j, '"');
	while (i < n) {
		uint32_t c;
		size_t length = text_decode(s + i, n - i, &c);

		if (!plain(c, s + i + 1, n - i - 1)) {
			put(j, s + start, i - start);
			put_escaped(j, c);
			start = i + length;
		}
		i += length;
	}
	put(j, s + start, n - start);
	put_char(j, '"');
}

void json_key(struct json *j, const char *key)
{
	if (j->status != ST_OK)
		return;
	if (!(j->is_object & bit(j)) || j->after_key) {
		refuse(j, ST_BAD_DATA);
		return;
	}
	separate(j);
	put_string(j, key, strlen(key));
	put_char(j, ':');
	j->after_key = true;
}

void json_string_n(struct json *j, const char *s, size_t n)
{
	if (begin_value(j))
		put_string(j, s, n);
}

void json_string(struct json *j, const char *s)
{
	if (s)
		json_string_n(j, s, strlen(s));
	else
		json_null(j);
}

/* Write the digits of v before end, two at a time; returns their start. */
static char *digits_before(char *end, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + v * 2, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

static void put_integer(struct json *j, bool negative, uint64_t v)
{
	char text[INT_MAX_TEXT + 1], *end = text + sizeof(text), *at = digits_before(end, v);

	if (negative)
		*--at = '-';
	put(j, at, (size_t)(end - at));
}

void json_uint(struct json *j, uint64_t v)
{
	if (begin_value(j))
		put_integer(j, false, v);
}

void json_int(struct json *j, int64_t v)
{
	if (begin_value(j))
		put_integer(j, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* v in units of 10^-decimals, decimals <= 15, without zeros at its end. */
static void put_decimal(struct json *j, bool negative, uint64_t v, unsigned decimals)
{
	char text[INT_MAX_TEXT + 1], *end = text + sizeof(text), *at = digits_before(end, v);
	char *point = end - decimals, *out = room(j, INT_MAX_TEXT + 3), *start = out;

	while (at >= point)
		*--at = '0';
	while (end > point && end[-1] == '0')
		end--;
	if (negative && v)
		*out++ = '-';
	while (at < point)
		*out++ = *at++;
	if (at < end)
		*out++ = '.';
	while (at < end)
		*out++ = *at++;
	j->used += (size_t)(out - start);
}

void json_double(struct json *j, double v, int decimals)
{
	static const double powers[] = { 1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	unsigned d = decimals < 0 ? 0 : decimals > 15 ? 15 : (unsigned)decimals;
	double size = fabs(v);

	if (!begin_value(j))
		return;
	if (!isfinite(v)) {
		put(j, "null", 4);
		return;
	}
	while (d && size * powers[d] >= EXACT_LIMIT)
		d--; /* digits a double does not have */
	if (size >= EXACT_LIMIT) {
		char text[320];

		put(j, text, (size_t)snprintf(text, sizeof(text), "%.0f", v));
		return;
	}
	put_decimal(j, v < 0, (uint64_t)(size * powers[d] + 0.5), d);
}

void json_bool(struct json *j, bool v)
{
	if (begin_value(j))
		put(j, v ? "true" : "false", v ? 4 : 5);
}

void json_null(struct json *j)
{
	if (begin_value(j))
		put(j, "null", 4);
}

void json_newline(struct json *j)
{
	if (j->status != ST_OK)
		return;
	put_char(j, '\n');
	if (!j->depth)
		j->has_item = 0;
}
