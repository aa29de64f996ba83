/*
 * Interning: equal things have one number, numbers lead back, tables end where they say, and a new
 * generation keeps what it promises.
 */
#include "unit.h"

#include <string.h>

#include "record/names.h"

static struct names *opened(void)
{
	struct names *n;

	ck_assert_int_eq(names_open(&n), ST_OK);
	return n;
}

static string_id string(struct names *n, const char *text)
{
	string_id id;

	ck_assert_int_eq(names_string(n, text, strlen(text), &id), ST_OK);
	return id;
}

START_TEST(test_strings)
{
	struct names *n = opened();
	string_id a = string(n, "alpha"), b = string(n, "beta");
	size_t size;

	ck_assert_uint_eq(a, 1);
	ck_assert_uint_ne(a, b);
	ck_assert_uint_eq(string(n, "alpha"), a);
	ck_assert_uint_eq(string(n, ""), 0);
	ck_assert_str_eq(names_text(n, b, &size), "beta");
	ck_assert_uint_eq(size, 4);
	ck_assert_str_eq(names_text(n, 0, NULL), "");
	ck_assert_str_eq(names_text(n, 3, &size), "");
	ck_assert_uint_eq(size, 0);
	/* Zero bytes are content. */
	ck_assert_int_eq(names_string(n, "al\0ha", 5, &b), ST_OK);
	ck_assert_uint_ne(a, b);
	ck_assert_uint_eq(names_string_count(n), 3);
	names_close(n);
}
END_TEST

START_TEST(test_many_strings_lead_back)
{
	struct names *n = opened();
	char text[32];
	string_id id;

	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "string %d", i);
		ck_assert_uint_eq(string(n, text), i + 1);
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "string %d", i);
		id = string(n, text);
		ck_assert_uint_eq(id, i + 1);
		ck_assert_str_eq(names_text(n, id, NULL), text);
	}
	names_close(n);
}
END_TEST

/* A string that is too long ends between characters. */
START_TEST(test_long_string)
{
	struct names *n = opened();
	char *text = malloc(NAMES_STRING_MAX + 10);
	string_id id;
	size_t size;

	memset(text, 'x', NAMES_STRING_MAX + 10);
	memcpy(text + NAMES_STRING_MAX - 1, "\xe2\x82\xac", 3);
	ck_assert_int_eq(names_string(n, text, NAMES_STRING_MAX + 10, &id), ST_OK);
	names_text(n, id, &size);
	ck_assert_uint_eq(size, NAMES_STRING_MAX - 1);
	free(text);
	names_close(n);
}
END_TEST

START_TEST(test_functions_frames_stacks)
{
	struct names *n = opened();
	struct name_function f = { string(n, "f"), string(n, "f.py"), 3, 0 };
	func_id one, other, again;
	frame_id frame, frame_again;
	stack_id root, leaf, leaf_again;

	ck_assert_int_eq(names_function(n, &f, &one), ST_OK);
	f.interpreter = 1;
	ck_assert_int_eq(names_function(n, &f, &other), ST_OK);
	f.interpreter = 0;
	ck_assert_int_eq(names_function(n, &f, &again), ST_OK);
	ck_assert_uint_eq(one, again);
	ck_assert_uint_ne(one, other);
	ck_assert_int_eq(names_function_at(n, other)->interpreter, 1);
	ck_assert_int_eq(names_function_at(n, 99)->line, 0);

	ck_assert_int_eq(names_frame(n, one, -1, &frame), ST_OK);
	ck_assert_int_eq(names_frame(n, one, -1, &frame_again), ST_OK);
	ck_assert_uint_eq(frame, frame_again);
	ck_assert_int_eq(names_frame_at(n, frame)->line, -1);

	ck_assert_int_eq(names_stack(n, 0, frame, &root), ST_OK);
	ck_assert_int_eq(names_stack(n, root, frame, &leaf), ST_OK);
	ck_assert_int_eq(names_stack(n, root, frame, &leaf_again), ST_OK);
	ck_assert_uint_eq(leaf, leaf_again);
	ck_assert_uint_ne(leaf, root);
	ck_assert_uint_eq(names_stack_at(n, leaf)->parent, root);
	ck_assert_uint_eq(names_stack_at(n, root)->parent, 0);
	ck_assert_uint_eq(names_stack_count(n), 2);
	names_close(n);
}
END_TEST

/* The last stack that fits fits, what is there is still found, and the next one says so. */
START_TEST(test_full_table)
{
	struct names *n = opened();
	stack_id id = 7;
	bool kept = false;
	string_id text = string(n, "kept");

	for (uint32_t i = 1; i <= NAMES_STACKS_MAX; i++) {
		ck_assert_int_eq(names_stack(n, 0, i, &id), ST_OK);
		ck_assert_uint_eq(id, i);
	}
	id = 7;
	ck_assert_int_eq(names_stack(n, 0, NAMES_STACKS_MAX + 1, &id), ST_TOO_BIG);
	ck_assert_uint_eq(id, 7);
	ck_assert_int_eq(names_stack(n, 0, 5, &id), ST_OK);
	ck_assert_uint_eq(id, 5);
	names_renew(n, &kept);
	ck_assert(kept);
	ck_assert_uint_eq(names_generation(n), 1);
	ck_assert_uint_eq(names_stack_count(n), 0);
	ck_assert_str_eq(names_text(n, text, NULL), "kept");
	ck_assert_int_eq(names_stack(n, 0, 5, &id), ST_OK);
	ck_assert_uint_eq(id, 1);
	names_close(n);
}
END_TEST

/* When strings are full too, all is forgotten but the living threads and what they are called. */
START_TEST(test_renew_strings)
{
	struct names *n = opened();
	struct name_thread t = { .tid = 12, .born = 1 };
	thread_id living, dead;
	string_id id;
	char text[32];
	bool kept = true;
	enum status st = ST_OK;

	t.name = string(n, "unused");
	t.name = string(n, "worker");
	ck_assert_int_eq(names_thread(n, &t, &dead), ST_OK);
	ck_assert_int_eq(names_thread(n, &t, &living), ST_OK);
	names_thread_died(n, dead, 5);
	for (int i = 0; st == ST_OK; i++) {
		snprintf(text, sizeof(text), "%d", i);
		st = names_string(n, text, strlen(text), &id);
	}
	ck_assert_int_eq(st, ST_TOO_BIG);
	names_renew(n, &kept);
	ck_assert(!kept);
	ck_assert_uint_eq(names_string_count(n), 1);
	ck_assert_int_eq(names_thread_at(n, living)->tid, 12);
	ck_assert_str_eq(names_text(n, names_thread_at(n, living)->name, NULL), "worker");
	ck_assert_int_eq(names_thread_at(n, dead)->tid, 0);
	names_close(n);
}
END_TEST

/* Threads come and go without end: ids go on, and only the living are kept over a generation. */
START_TEST(test_threads)
{
	struct names *n = opened();
	struct name_thread t = { .tid = 1, .born = 1, .main = true };
	thread_id first, id;

	ck_assert_int_eq(names_thread(n, &t, &first), ST_OK);
	names_thread_renamed(n, first, string(n, "MainThread"));
	for (int generation = 0; generation < 3; generation++) {
		enum status st;

		while ((st = names_thread(n, &t, &id)) == ST_OK)
			names_thread_died(n, id, 9);
		ck_assert_int_eq(st, ST_TOO_BIG);
		names_renew(n, NULL);
		ck_assert_int_eq(names_thread_at(n, id)->born, 0);
	}
	ck_assert_uint_gt(names_thread_count(n), 3 * (NAMES_THREADS_MAX - 2));
	ck_assert(names_thread_at(n, first)->main);
	ck_assert_str_eq(names_text(n, names_thread_at(n, first)->name, NULL), "MainThread");
	names_thread_died(n, 0, 3);
	ck_assert_int_eq(names_thread_at(n, 0)->died, 0);
	names_close(n);
}
END_TEST

UNIT_MAIN("names", test_strings, test_many_strings_lead_back, test_long_string,
	  test_functions_frames_stacks, test_full_table, test_renew_strings, test_threads)
