/* Every error has a name, a sentence and a hint that are filled in, escaped, cut and terminated. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/status.h"

static const struct status_args args = {
	.pid = 4711,
	.what = "/tmp/a",
	.self = "/usr/bin/pytop",
	.errnum = ENOENT,
};

START_TEST(every_row_is_filled_in)
{
	for (int i = 0; i < ST_COUNT; i++) {
		char sentence[256], hint[256];

		status_sentence(sentence, sizeof(sentence), (enum status)i, &args);
		status_hint(hint, sizeof(hint), (enum status)i, &args);
		ck_assert_msg(sentence[0], "%s has no sentence", status_name((enum status)i));
		ck_assert_msg(!strpbrk(sentence, "{}"), "a place is left: %s", sentence);
		ck_assert_msg(!strpbrk(hint, "{}"), "a place is left: %s", hint);
	}
}
END_TEST

START_TEST(places)
{
	char text[256];

	status_sentence(text, sizeof(text), ST_NO_PROCESS, &args);
	ck_assert_str_eq(text, "no process 4711");
	status_hint(text, sizeof(text), ST_DENIED_OWNER, &args);
	ck_assert_str_eq(text, "run: sudo /usr/bin/pytop 4711");
	status_sentence(text, sizeof(text), ST_SYSTEM, &args);
	ck_assert_str_eq(text, "/tmp/a: No such file or directory");
	status_hint(text, sizeof(text), ST_TORN, &args);
	ck_assert_str_eq(text, "");
}
END_TEST

/* A cure can be copied into a shell, wherever pytop lies. */
START_TEST(quoted_self)
{
	const struct status_args odd = { .pid = 7, .self = "/my tools/it's/pytop" };
	char text[256];

	status_hint(text, sizeof(text), ST_DENIED_OWNER, &odd);
	ck_assert_str_eq(text, "run: sudo '/my tools/it'\\''s/pytop' 7");
}
END_TEST

START_TEST(nothing_given)
{
	static const struct status_args none;
	char text[64];

	status_sentence(text, sizeof(text), ST_SYSTEM, &none);
	ck_assert_str_eq(text, "?: unknown error");
	status_sentence(text, sizeof(text), ST_SYSTEM, NULL);
	ck_assert_str_eq(text, "?: unknown error");
	status_hint(text, sizeof(text), ST_DENIED_OWNER, &none);
	ck_assert_str_eq(text, "run: sudo pytop 0");
}
END_TEST

START_TEST(unknown_numbers)
{
	char text[64];

	ck_assert_str_eq(status_name(ST_OK), "OK");
	ck_assert_str_eq(status_name(ST_BUSY), "BUSY");
	ck_assert_str_eq(status_name(ST_COUNT), "UNKNOWN");
	ck_assert_str_eq(status_name((enum status) - 1), "UNKNOWN");
	status_sentence(text, sizeof(text), (enum status)12345, &args);
	ck_assert_str_eq(text, "an unknown error");
	status_hint(text, sizeof(text), ST_COUNT, &args);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(hostile_names)
{
	const struct status_args hostile = { .what = "\x1b[2J{pid}\n\xff" };
	char text[128];

	status_sentence(text, sizeof(text), ST_USAGE, &hostile);
	ck_assert_str_eq(text, "\\x1b[2J{pid}\\n\\xff");
}
END_TEST

START_TEST(every_size)
{
	char whole[128];
	const struct status_args wide = { .what = "\xe6\xbc\xa2\x1b\xe6\xbc\xa2", .errnum = EIO };

	status_sentence(whole, sizeof(whole), ST_SYSTEM, &wide);
	for (size_t size = 1; size <= strlen(whole) + 1; size++) {
		char *text = malloc(size); /* so that the sanitizer sees an overrun */

		memset(text, '#', size);
		status_sentence(text, size, ST_SYSTEM, &wide);
		ck_assert_uint_lt(strnlen(text, size), size);
		ck_assert(!strncmp(text, whole, strlen(text)));
		free(text);
	}
	status_sentence(NULL, 0, ST_SYSTEM, &wide);
}
END_TEST

UNIT_MAIN("status", every_row_is_filled_in, places, quoted_self, nothing_given, unknown_numbers,
	  hostile_names, every_size)
