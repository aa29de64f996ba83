/*
 * flamegraph: the page stands alone, holds the numbers, and no name can break out of it. How it
 * looks and moves is seen by the live tests, in a browser.
 */
#include "export/flamegraph.h"

#include "exported.h"

#define EVIL "</script><script>alert(1)</script><!--"

static unsigned count_of(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static char *page_with(struct recording *r, bool with_arguments)
{
	struct export_options options = exported_options;
	struct export_result result;
	char folder[64], *text;

	options.with_arguments = with_arguments;
	exported_folder(folder);
	text = exported_text(r, "page.html", &options, &result);
	exported_remove(folder);
	return text;
}

static char *page_of(struct recording *r)
{
	return page_with(r, false);
}

static void record_evil(struct recording *r)
{
	recording_open(r, NULL);

	thread_id one = recording_thread(r, 4242, EVIL, true);
	stack_id top = recording_call(r, 0, "main", "/srv/shop.py", 1, 2);
	stack_id evil = recording_call(r, top, EVIL, "/srv/" EVIL ".py", 7, 8);
	stack_id bad = recording_call(r, top, "\xff\xfe\xed\xa0\x80", "/srv/shop.py", 9, 9);

	for (int i = 0; i < 8; i++) {
		struct sample s = { one, i < 5 ? evil : bad, STATE_GIL, SAMPLE_GIL, 1000, -1 };

		if (i == 7)
			s = (struct sample){ one, bad, STATE_LOCK, 0, 0, 202 };
		recording_tick(r, &s, 1);
	}
}

START_TEST(stands_alone)
{
	struct recording r;
	char *text;

	record_evil(&r);
	text = page_of(&r);
	ck_assert_int_eq(strncmp(text, "<!DOCTYPE html>", 15), 0);
	ck_assert_uint_eq(count_of(text, "http://"), 0);
	ck_assert_uint_eq(count_of(text, "https://"), 0);
	ck_assert_uint_eq(count_of(text, "<link"), 0);
	ck_assert_uint_eq(count_of(text, " src="), 0);
	ck_assert_ptr_nonnull(strstr(text, "default-src 'none'"));
	ck_assert_uint_eq(
		count_of(text, "@data@") + count_of(text, "@js@") + count_of(text, "@css@"), 0);
	ck_assert_str_eq(text + strlen(text) - 8, "</html>\n");
	free(text);
	recording_close(&r);
}
END_TEST

START_TEST(hostile_names)
{
	struct recording r;
	char *text;

	record_evil(&r);
	text = page_of(&r);
	ck_assert_uint_eq(count_of(text, "</script>"), 2); /* the data's and the program's own */
	ck_assert_uint_eq(count_of(text, "<!--"), 0);
	ck_assert_ptr_nonnull(strstr(text, "alert(1)")); /* the name is there, as a name */
	ck_assert_ptr_nonnull(strstr(text, "\xef\xbf\xbd"));
	free(text);
	recording_close(&r);
}
END_TEST

START_TEST(numbers)
{
	struct recording r;
	char *text;

	record_evil(&r);
	text = page_of(&r);
	/* root, thread, main, evil, bad, (lock) */
	ck_assert_ptr_nonnull(strstr(text, "\"nodes\":{\"parent\":[0,1,1,1,2,1],"));
	ck_assert_ptr_nonnull(strstr(text, "\"wall\":[0,0,0,5000,2000,1000]"));
	ck_assert_ptr_nonnull(strstr(text, "\"cpu\":[0,0,0,5000,2000,0]"));
	ck_assert_ptr_nonnull(strstr(text, "\"wait\":[0,0,0,0,0,0]"));
	ck_assert_ptr_nonnull(strstr(text, "\"product\":\"shop.py\""));
	ck_assert_ptr_null(strstr(text, "secret")); /* of the command line */
	free(text);
	recording_close(&r);
}
END_TEST

START_TEST(arguments)
{
	struct recording r;
	char *text;

	record_evil(&r);
	text = page_with(&r, true);
	ck_assert_ptr_nonnull(strstr(text, "\"command\":\"python3 shop.py --password secret\""));
	free(text);
	recording_close(&r);
}
END_TEST

UNIT_MAIN("flamegraph", stands_alone, hostile_names, numbers, arguments)
