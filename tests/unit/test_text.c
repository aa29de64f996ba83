/* Text from a hostile target: whatever it holds, what comes out is valid, safe, and fits. */
#include "unit.h"

#include <locale.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

#define WIDE "\xe6\xbc\xa2"      /* U+6F22, two columns */
#define COMBINING "\xcc\x81"     /* U+0301, none */
#define EMOJI "\xf0\x9f\x90\x8d" /* U+1F40D, two columns */
#define ELLIPSIS "\xe2\x80\xa6"
#define SURROGATE "\xed\xa0\x80" /* U+D800, which UTF-8 does not have */
#define OVERRIDE "\xe2\x80\xae"  /* U+202E, right to left */
#define ISOLATE "\xe2\x81\xa6"   /* U+2066 */
#define C1_CSI "\xc2\x9b"        /* U+009B, an escape sequence in one character */

static const char *escaped(const char *s, bool ascii_only)
{
	static char out[512];
	size_t need = text_escape(out, sizeof(out), s, strlen(s), ascii_only);

	ck_assert_uint_eq(need, strlen(out));
	return out;
}

START_TEST(round_trip_of_every_code_point)
{
	for (uint32_t c = 0; c < 0x110000; c++) {
		bool surrogate = c >= 0xd800 && c < 0xe000;
		uint32_t back;
		char out[4];
		size_t n = text_encode(c, out);

		if (text_decode(out, n, &back) != n || back != (surrogate ? 0xfffd : c))
			ck_abort_msg("U+%04X became U+%04X", c, back);
		if (n > 1 && (text_decode(out, n - 1, &back) != 1 || back != TEXT_BAD))
			ck_abort_msg("U+%04X cut short was read", c);
	}
}
END_TEST

START_TEST(not_utf8)
{
	static const char *const bad[] = {
		"\x80",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xe0\x80\x80",
		"\xe0\x9f\xbf",
		SURROGATE,
		"\xed\xbf\xbf",
		"\xf0\x80\x80\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xff",
		"\xfe",
		"\xc2",
		"\xe6\xbc",
		"\xc2\x20",
		"\xe6\xbc\x20",
		"\xf0\x9f\x90\x20",
	};
	char out[4];
	uint32_t c;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_uint_eq(text_decode(bad[i], strlen(bad[i]), &c), 1);
		ck_assert_uint_eq(c, TEXT_BAD);
		ck_assert(!text_is_utf8(bad[i], strlen(bad[i])));
	}
	ck_assert(text_is_utf8(WIDE EMOJI "\0a", 9));
	ck_assert(text_is_utf8("", 0));
	ck_assert_uint_eq(text_encode(0x110000, out), 3);
	ck_assert_int_eq(memcmp(out, "\xef\xbf\xbd", 3), 0);
}
END_TEST

START_TEST(escapes)
{
	ck_assert_str_eq(escaped("plain ~", false), "plain ~");
	ck_assert_str_eq(escaped("\x1b[31m\n\t\r\x7f\x01", false), "\\x1b[31m\\n\\t\\r\\x7f\\x01");
	ck_assert_str_eq(escaped(C1_CSI "2J", false), "\\u009b2J");
	ck_assert_str_eq(escaped("\x9b", false), "\\x9b");
	ck_assert_str_eq(escaped(SURROGATE, false), "\\xed\\xa0\\x80");
	ck_assert_str_eq(escaped(OVERRIDE ISOLATE, false), "\\u202e\\u2066");
	ck_assert_str_eq(escaped("\xef\xbb\xbf\xe2\x80\xa8", false), "\\ufeff\\u2028");
	ck_assert_str_eq(escaped("\xf3\xa0\x81\x81", false), "\\U000e0041");
	ck_assert_str_eq(escaped(WIDE "e" COMBINING EMOJI, false), WIDE "e" COMBINING EMOJI);
	ck_assert_str_eq(escaped(WIDE EMOJI "a", true), "\\u6f22\\U0001f40da");
}
END_TEST

START_TEST(escape_keeps_zeros)
{
	char out[32];

	ck_assert_uint_eq(text_escape(out, sizeof(out), "a\0b", 3, false), 6);
	ck_assert_str_eq(out, "a\\x00b");
}
END_TEST

START_TEST(escape_cuts_between)
{
	static const char hostile[] = "a\x1b" WIDE OVERRIDE EMOJI "z";
	const char *whole = escaped(hostile, false);
	const size_t ends[] = { 0, 1, 5, 8, 14, 18, 19 };
	size_t end = 0;

	for (size_t size = 1; size <= strlen(whole) + 1; size++) {
		char *out = malloc(size);
		size_t need = text_escape(out, size, hostile, strlen(hostile), false);

		while (end + 1 < sizeof(ends) / sizeof(*ends) && ends[end + 1] < size)
			end++;
		ck_assert_uint_eq(need, strlen(whole));
		ck_assert_uint_eq(strlen(out), ends[end]);
		ck_assert(!strncmp(out, whole, ends[end]));
		free(out);
	}
	ck_assert_uint_eq(text_escape(NULL, 0, hostile, strlen(hostile), false), strlen(whole));
}
END_TEST

START_TEST(widths)
{
	setlocale(LC_ALL, "C");
	ck_assert_uint_eq(text_width(""), 0);
	ck_assert_uint_eq(text_width("abc"), 3);
	ck_assert_uint_eq(text_width("\xc3\xa9\xd1\x84\xce\xbb"), 3);
	ck_assert_uint_eq(text_width("e" COMBINING), 1);
	ck_assert_uint_eq(text_width(WIDE WIDE), 4);
	ck_assert_uint_eq(text_width(EMOJI), 2);
	ck_assert_uint_eq(text_width("\xef\xbd\xb1"), 1);             /* halfwidth katakana */
	ck_assert_uint_eq(text_width("\xef\xbc\xa1"), 2);             /* fullwidth A */
	ck_assert_uint_eq(text_width("\xe1\x84\x92\xe1\x85\xa1"), 2); /* jamo that join */
	ck_assert_uint_eq(text_width("\xea\xb0\x80"), 2);             /* a Hangul syllable */
	ck_assert_uint_eq(text_width("\xe2\x80\x8d\xef\xb8\x8f"), 0); /* joiner, selector */
	ck_assert_uint_eq(text_width("\xf0\xa0\x80\x80"), 2);         /* plane 2 */
	ck_assert_uint_eq(text_width("\xe2\x94\x80" ELLIPSIS), 2);    /* a line, an ellipsis */
	ck_assert_uint_eq(text_width("\xe6\xbc"), 2);                 /* bad bytes, one each */
}
END_TEST

static const char *fitted(const char *s, size_t width, enum text_cut cut, bool pad, bool ascii_only)
{
	static char out[256];

	text_fit(out, sizeof(out), s, width, cut, pad, ascii_only);
	return out;
}

START_TEST(fits)
{
	ck_assert_str_eq(fitted("abc", 3, TEXT_CUT_END, false, false), "abc");
	ck_assert_str_eq(fitted("abc", 5, TEXT_CUT_END, false, false), "abc");
	ck_assert_str_eq(fitted("abc", 5, TEXT_CUT_END, true, false), "abc  ");
	ck_assert_str_eq(fitted("", 2, TEXT_CUT_END, true, false), "  ");
	ck_assert_str_eq(fitted("abcdef", 0, TEXT_CUT_END, true, false), "");
	ck_assert_str_eq(fitted("abcdef", 1, TEXT_CUT_END, true, false), ELLIPSIS);
	ck_assert_str_eq(fitted("abcdef", 1, TEXT_CUT_MIDDLE, true, true), "~");
	ck_assert_str_eq(fitted("abcdef", 4, TEXT_CUT_END, true, false), "abc" ELLIPSIS);
	ck_assert_str_eq(fitted("abcdef", 4, TEXT_CUT_START, true, true), "~def");
	ck_assert_str_eq(fitted("abcdef", 4, TEXT_CUT_MIDDLE, true, true), "ab~f");
	ck_assert_str_eq(fitted("abcdef", 5, TEXT_CUT_MIDDLE, true, true), "ab~ef");
}
END_TEST

START_TEST(fits_wide)
{
	ck_assert_str_eq(fitted(WIDE WIDE WIDE, 4, TEXT_CUT_END, false, true), WIDE "~");
	ck_assert_str_eq(fitted(WIDE WIDE WIDE, 4, TEXT_CUT_END, true, true), WIDE "~ ");
	ck_assert_str_eq(fitted(WIDE WIDE WIDE, 4, TEXT_CUT_START, true, true), "~" WIDE " ");
	ck_assert_str_eq(fitted(WIDE WIDE WIDE, 2, TEXT_CUT_MIDDLE, true, true), "~ ");
	ck_assert_str_eq(fitted("ae" COMBINING "xyz", 3, TEXT_CUT_END, true, true),
			 "ae" COMBINING "~");
	ck_assert_str_eq(fitted("xyze" COMBINING "a", 2, TEXT_CUT_START, true, true), "~a");
	ck_assert_str_eq(fitted("xyze" COMBINING "a", 3, TEXT_CUT_START, true, true),
			 "~e" COMBINING "a");
	ck_assert_str_eq(fitted("a\x1b" OVERRIDE "\xff", 9, TEXT_CUT_END, false, false), "a???");
}
END_TEST

START_TEST(fits_whatever_the_size)
{
	static const char *const texts[] = {
		"a plain name of a function",
		WIDE WIDE EMOJI WIDE EMOJI EMOJI WIDE,
		"e" COMBINING COMBINING COMBINING COMBINING "e" COMBINING COMBINING COMBINING
		"xyzzy",
		COMBINING COMBINING,
		"\x1b" SURROGATE OVERRIDE "\xf0\x9f",
	};

	for (size_t i = 0; i < 5 * 3 * 2 * 2 * 12; i++) {
		const char *s = texts[i % 5];
		enum text_cut cut = (enum text_cut)(i / 5 % 3);
		bool pad = i / 15 % 2, ascii_only = i / 30 % 2;
		size_t width = i / 60;

		for (size_t size = 1; size < 80; size++) {
			char *out = malloc(size);
			size_t columns = text_fit(out, size, s, width, cut, pad, ascii_only);

			ck_assert_uint_lt(strlen(out), size);
			ck_assert(text_is_utf8(out, strlen(out)));
			ck_assert_uint_eq(columns, text_width(out));
			ck_assert_uint_le(columns, width);
			if (pad && size > width)
				ck_assert_uint_eq(columns, width);
			if (!pad && size == 79 && text_width(s) <= width)
				ck_assert_uint_eq(columns, text_width(s));
			free(out);
		}
	}
	ck_assert_uint_eq(text_fit(NULL, 0, "a", 5, TEXT_CUT_END, true, false), 0);
}
END_TEST

static const char *number(void (*format)(char *, size_t, uint64_t), uint64_t n)
{
	static char out[32];

	format(out, sizeof(out), n);
	return out;
}

START_TEST(counts)
{
	ck_assert_str_eq(number(text_count, 0), "0");
	ck_assert_str_eq(number(text_count, 999), "999");
	ck_assert_str_eq(number(text_count, 1000), "1.0k");
	ck_assert_str_eq(number(text_count, 9949), "9.9k");
	ck_assert_str_eq(number(text_count, 9950), "10k");
	ck_assert_str_eq(number(text_count, 411600), "412k");
	ck_assert_str_eq(number(text_count, 999499), "999k");
	ck_assert_str_eq(number(text_count, 999500), "1.0M");
	ck_assert_str_eq(number(text_count, 1234567), "1.2M");
	ck_assert_str_eq(number(text_count, UINT64_MAX), "18E");
	ck_assert_str_eq(number(text_grouped, 7), "7");
	ck_assert_str_eq(number(text_grouped, 180211), "180,211");
	ck_assert_str_eq(number(text_grouped, UINT64_MAX), "18,446,744,073,709,551,615");
}
END_TEST

START_TEST(bytes_in_steps_of_1024)
{
	ck_assert_str_eq(number(text_bytes, 1023), "1023");
	ck_assert_str_eq(number(text_bytes, 1024), "1.0k");
	ck_assert_str_eq(number(text_bytes, 1024 * 1023), "1023k");
	ck_assert_str_eq(number(text_bytes, 1024 * 1024 - 1), "1.0M");
	ck_assert_str_eq(number(text_bytes, UINT64_C(812) << 20), "812M");
	ck_assert_str_eq(number(text_bytes, UINT64_MAX), "16E");
	for (unsigned bit = 0; bit < 64; bit++)
		for (int less = 0; less < 2; less++)
			ck_assert_uint_le(strlen(number(text_bytes, (UINT64_C(1) << bit) - less)),
					  5);
}
END_TEST

static const char *duration(double seconds)
{
	static char out[32];

	text_seconds(out, sizeof(out), seconds);
	ck_assert_uint_le(strlen(out), 6);
	return out;
}

START_TEST(durations)
{
	ck_assert_str_eq(duration(0), "0.0s");
	ck_assert_str_eq(duration(-1), "0.0s");
	ck_assert_str_eq(duration(__builtin_nan("")), "0.0s");
	ck_assert_str_eq(duration(0.06), "0.1s");
	ck_assert_str_eq(duration(12.4), "12.4s");
	ck_assert_str_eq(duration(59.94), "59.9s");
	ck_assert_str_eq(duration(59.96), "1m00s");
	ck_assert_str_eq(duration(249.9), "4m09s");
	ck_assert_str_eq(duration(3599.96), "1h00m");
	ck_assert_str_eq(duration(7620), "2h07m");
	ck_assert_str_eq(duration(86399), "23h59m");
	ck_assert_str_eq(duration(3 * 86400 + 4 * 3600), "3d04h");
	ck_assert_str_eq(duration(99 * 86400 + 23 * 3600), "99d23h");
	ck_assert_str_eq(duration(1e9), "11574d");
	ck_assert_str_eq(duration(1e300), "99999d");
}
END_TEST

UNIT_MAIN("text", round_trip_of_every_code_point, not_utf8, escapes, escape_keeps_zeros,
	  escape_cuts_between, widths, fits, fits_wide, fits_whatever_the_size, counts,
	  bytes_in_steps_of_1024, durations)
