/*
 * What numbers, bars, paths and ends look like, at the edges where the form changes.
 */
#include "unit.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "ui/format.h"

#define SAME(call, text) \
	do { \
		char out[512]; \
		call; \
		ck_assert_str_eq(out, text); \
	} while (0)

START_TEST(test_percent)
{
	SAME(format_percent(out, sizeof(out), 0), "0.0");
	SAME(format_percent(out, sizeof(out), 0.04), "0.0");
	SAME(format_percent(out, sizeof(out), 0.05), "0.1");
	SAME(format_percent(out, sizeof(out), 38.24), "38.2");
	SAME(format_percent(out, sizeof(out), 999.94), "999.9");
	SAME(format_percent(out, sizeof(out), 999.96), "1000");
	SAME(format_percent(out, sizeof(out), 1e30), "999999");
	SAME(format_percent(out, sizeof(out), -3), "0.0");
	SAME(format_percent(out, sizeof(out), NAN), "0.0");
}
END_TEST

START_TEST(test_share)
{
	SAME(format_share(out, sizeof(out), 0), "0%");
	SAME(format_share(out, sizeof(out), 0.02), "0.02%");
	SAME(format_share(out, sizeof(out), 0.999), "1.0%");
	SAME(format_share(out, sizeof(out), 4.12), "4.1%");
	SAME(format_share(out, sizeof(out), 9.96), "10%");
	SAME(format_share(out, sizeof(out), 143.4), "143%");
}
END_TEST

START_TEST(test_rate)
{
	SAME(format_rate(out, sizeof(out), 0), "max");
	SAME(format_rate(out, sizeof(out), 0.5), "0.5 Hz");
	SAME(format_rate(out, sizeof(out), 1000), "1000 Hz");
	SAME(format_rate(out, sizeof(out), 10000), "10 kHz");
	SAME(format_rate(out, sizeof(out), 12500), "12.5 kHz");
	SAME(format_rate_number(out, sizeof(out), 999.2), "999");
	SAME(format_rate_number(out, sizeof(out), 83120), "83.12k");
	SAME(format_rate_number(out, sizeof(out), 0), "0");
}
END_TEST

START_TEST(test_settings_and_times)
{
	SAME(format_setting_seconds(out, sizeof(out), 0), "off");
	SAME(format_setting_seconds(out, sizeof(out), 0.2), "0.2s");
	SAME(format_setting_seconds(out, sizeof(out), 10), "10s");
	SAME(format_setting_seconds(out, sizeof(out), 120), "2m");
	SAME(format_age(out, sizeof(out), 59), "59s");
	SAME(format_age(out, sizeof(out), 60), "1m00s");
	SAME(format_us(out, sizeof(out), 4.61), "4.6 us");
	SAME(format_us(out, sizeof(out), 28), "28 us");
	SAME(format_us(out, sizeof(out), 12345), "12 ms");
}
END_TEST

/* A bar is as wide as it was asked to be, whatever the share. */
START_TEST(test_bar)
{
	unsigned filled;

	SAME(format_bar(out, sizeof(out), 4, 0.5, true, &filled), "##--");
	ck_assert_uint_eq(filled, 2);
	SAME(format_bar(out, sizeof(out), 2, 0.5625, false, &filled), "\xe2\x96\x88\xe2\x96\x8f");
	ck_assert_uint_eq(filled, 2);
	SAME(format_bar(out, sizeof(out), 3, -1, true, NULL), "---");
	SAME(format_bar(out, sizeof(out), 3, NAN, true, NULL), "---");
	SAME(format_bar(out, sizeof(out), 3, 7, true, NULL), "###");
	SAME(format_bar(out, sizeof(out), 10, 0.002, true, NULL), "#---------");
	for (unsigned width = 0; width < 40; width++)
		for (int mille = 0; mille <= 1000; mille += 7) {
			char out[256];

			format_bar(out, sizeof(out), width, mille / 1000.0, false, &filled);
			ck_assert_uint_eq(text_width(out), width);
			ck_assert_uint_le(filled, width);
		}
}
END_TEST

START_TEST(test_path)
{
	SAME(format_path(out, sizeof(out), "/srv/app/shop/cart.py", 88, false), "shop/cart.py:88");
	SAME(format_path(out, sizeof(out), "/usr/lib/python3.13/json/decoder.py", 3, false),
	     "json/decoder.py:3");
	SAME(format_path(out, sizeof(out), "/opt/lib/python3.14t/threading.py", 3, false),
	     "threading.py:3");
	SAME(format_path(out, sizeof(out),
			 "/v/lib/python3.13/site-packages/sqlalchemy/orm/session.py", 0, false),
	     "sqlalchemy/orm/session.py");
	SAME(format_path(out, sizeof(out), "demo.py", 7, false), "demo.py:7");
	SAME(format_path(out, sizeof(out), "/demo.py", 7, false), "demo.py:7");
	SAME(format_path(out, sizeof(out), "/", 7, false), "/:7");
	SAME(format_path(out, sizeof(out), "", 7, false), "");
	SAME(format_path(out, sizeof(out), "<string>", 1, false), "<string>:1");
	SAME(format_path(out, sizeof(out), "/x/site-packages/", 1, false), "site-packages/:1");
	SAME(format_whole_path(out, sizeof(out), "/srv/app/shop/cart.py", 88, false),
	     "/srv/app/shop/cart.py:88");
}
END_TEST

START_TEST(test_hostile_names)
{
	SAME(format_name(out, sizeof(out), "a\033[31m\n\xff", false), "a\\x1b[31m\\n\\xff");
	SAME(format_name(out, sizeof(out), "\xe6\x97\xa5", true), "\\u65e5");
	SAME(format_path(out, sizeof(out), "/a/b\033c.py", 1, true), "a/b\\x1bc.py:1");

	char cut[24];

	format_whole_path(cut, sizeof(cut), "/a/very/long/path/indeed.py", 12345, false);
	ck_assert_ptr_nonnull(strstr(cut, ":12345"));
}
END_TEST

START_TEST(test_end)
{
	SAME(format_end(out, sizeof(out), false, 0), "ended");
	SAME(format_end(out, sizeof(out), true, 3 << 8), "exited with status 3");
	SAME(format_end(out, sizeof(out), true, 9), "killed by signal 9 (Killed)");
}
END_TEST

/* Parts leave from the end; the first is cut in its middle when it must be. */
START_TEST(test_parts)
{
	SAME(format_parts(out, sizeof(out), "one\ttwo\tthree", 40, true), "one  two  three");
	SAME(format_parts(out, sizeof(out), "one\ttwo\tthree", 14, true), "one  two");
	SAME(format_parts(out, sizeof(out), "one\ttwo\tthree", 3, true), "one");
	SAME(format_parts(out, sizeof(out), "0123456789\ttwo", 7, true), "012~789");
	SAME(format_parts(out, sizeof(out), "", 7, true), "");
}
END_TEST

/* A comma as decimal point, where the machine has such a locale, changes nothing. */
START_TEST(test_locale)
{
	setlocale(LC_ALL, "de_DE.UTF-8");
	SAME(format_percent(out, sizeof(out), 38.24), "38.2");
	SAME(format_rate(out, sizeof(out), 0.5), "0.5 Hz");
}
END_TEST

UNIT_MAIN("format", test_percent, test_share, test_rate, test_settings_and_times, test_bar,
	  test_path, test_hostile_names, test_end, test_parts, test_locale)
