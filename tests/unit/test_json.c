/* The writer writes JSON and nothing else, whatever it is told to write and in which order. */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/json.h"

static struct {
	char text[200000];
	size_t size;
	size_t limit; /* the sink fails beyond it */
} out;

static struct json j;

static enum status collect(void *context, const char *text, size_t size)
{
	ck_assert_ptr_eq(context, &out);
	if (size > out.limit - out.size)
		return ST_CANNOT_WRITE;
	memcpy(out.text + out.size, text, size);
	out.size += size;
	return ST_OK;
}

static void start(void)
{
	out.size = 0;
	out.limit = sizeof(out.text) - 1;
	json_open(&j, collect, &out);
}

/* What was written since start(), which must have gone well. */
static const char *written(void)
{
	ck_assert_int_eq(json_close(&j), ST_OK);
	out.text[out.size] = '\0';
	return out.text;
}

START_TEST(nesting)
{
	start();
	json_object(&j);
	json_key(&j, "a");
	json_array(&j);
	json_int(&j, 1);
	json_object(&j);
	json_object_end(&j);
	json_array(&j);
	json_array_end(&j);
	json_null(&j);
	json_array_end(&j);
	json_key(&j, "b");
	json_bool(&j, true);
	json_key(&j, "c");
	json_bool(&j, false);
	json_object_end(&j);
	ck_assert_str_eq(written(), "{\"a\":[1,{},[],null],\"b\":true,\"c\":false}");
}
END_TEST

START_TEST(lines_at_the_top)
{
	start();
	json_int(&j, 1);
	json_int(&j, 2);
	json_newline(&j);
	json_array(&j);
	json_newline(&j);
	json_array_end(&j);
	json_newline(&j);
	ck_assert_str_eq(written(), "1\n2\n[\n]\n");
}
END_TEST

static const char *string_of(const char *s, size_t n)
{
	start();
	json_string_n(&j, s, n);
	return written();
}

START_TEST(strings)
{
	ck_assert_str_eq(string_of("", 0), "\"\"");
	ck_assert_str_eq(string_of("<module> a/b", 12), "\"<module> a/b\"");
	ck_assert_str_eq(string_of("\"\\\n\r\t\0\x1f", 7), "\"\\\"\\\\\\n\\r\\t\\u0000\\u001f\"");
	ck_assert_str_eq(string_of("\xe6\xbc\xa2\xf0\x9f\x90\x8d", 7),
			 "\"\xe6\xbc\xa2\xf0\x9f\x90\x8d\"");
	start();
	json_string(&j, NULL);
	ck_assert_str_eq(written(), "null");
}
END_TEST

START_TEST(strings_that_mean_harm)
{
	ck_assert_str_eq(string_of("\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8", 9),
			 "\"\\u007f\\u009b\\u202e\\u2028\"");
	ck_assert_str_eq(string_of("\xf3\xa0\x81\x81", 4), "\"\\udb40\\udc41\"");
	ck_assert_str_eq(string_of("\xed\xa0\x80", 3), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	ck_assert_str_eq(string_of("a\xff\xe6\xbc", 4),
			 "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	ck_assert_str_eq(string_of("</script><!--<", 14), "\"\\u003c/script>\\u003c!--<\"");
}
END_TEST

START_TEST(integers)
{
	start();
	json_array(&j);
	json_int(&j, 0);
	json_int(&j, -1);
	json_int(&j, 10);
	json_int(&j, 99);
	json_int(&j, 100);
	json_int(&j, 12345);
	json_int(&j, INT64_MIN);
	json_int(&j, INT64_MAX);
	json_uint(&j, UINT64_MAX);
	json_array_end(&j);
	ck_assert_str_eq(written(), "[0,-1,10,99,100,12345,-9223372036854775808,"
				    "9223372036854775807,18446744073709551615]");
}
END_TEST

static const char *double_of(double v, int decimals)
{
	start();
	json_double(&j, v, decimals);
	return written();
}

START_TEST(doubles)
{
	ck_assert_str_eq(double_of(0, 3), "0");
	ck_assert_str_eq(double_of(-0.0, 3), "0");
	ck_assert_str_eq(double_of(-0.0004, 3), "0");
	ck_assert_str_eq(double_of(0.0005, 3), "0.001");
	ck_assert_str_eq(double_of(1.5, 3), "1.5");
	ck_assert_str_eq(double_of(-1.25, 1), "-1.3");
	ck_assert_str_eq(double_of(1.0625, 4), "1.0625");
	ck_assert_str_eq(double_of(10, 0), "10");
	ck_assert_str_eq(double_of(0.999, 2), "1");
	ck_assert_str_eq(double_of(0.1, 17), "0.1");
	ck_assert_str_eq(double_of(2.5, -1), "3");
	ck_assert_str_eq(double_of(1790000000123.25, 6), "1790000000123.25");
	ck_assert_str_eq(double_of(1e15, 3), "1000000000000000");
	ck_assert_str_eq(double_of(9007199254740993.0, 3), "9007199254740992");
	ck_assert_str_eq(double_of(-1e22, 3), "-10000000000000000000000");
	ck_assert_str_eq(double_of(NAN, 3), "null");
	ck_assert_str_eq(double_of(-INFINITY, 3), "null");
	ck_assert_uint_eq(strlen(double_of(DBL_MAX, 3)), 309);
}
END_TEST

START_TEST(doubles_agree_with_strtod)
{
	uint64_t random = 1;

	for (int i = 0; i < 100000; i++) {
		double v;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		v = (double)(int64_t)random / (double)(UINT64_C(1) << (20 + i % 43));
		ck_assert_double_le(fabs(strtod(double_of(v, 6), NULL) - v),
				    0.5000001e-6 + 4 * fabs(v) * DBL_EPSILON);
	}
}
END_TEST

START_TEST(more_than_the_pending_space)
{
	static char big[100000];
	size_t expected = 2;

	memset(big, 'x', sizeof(big));
	start();
	json_array(&j);
	json_string_n(&j, big, sizeof(big));
	expected += sizeof(big) + 2;
	for (int i = 0; i < 10000; i++) {
		json_int(&j, i);
		expected += 1 + (i >= 1000 ? 4 : i >= 100 ? 3 : i >= 10 ? 2 : 1);
	}
	json_array_end(&j);
	ck_assert_uint_eq(strlen(written()), expected);
	ck_assert_str_eq(out.text + expected - 6, ",9999]");
}
END_TEST

START_TEST(failing_sink)
{
	size_t after;

	start();
	out.limit = 10000;
	json_array(&j);
	for (int i = 0; i < 10000; i++)
		json_int(&j, i);
	ck_assert_int_eq(j.status, ST_CANNOT_WRITE);
	after = out.size;
	out.limit = sizeof(out.text) - 1;
	json_array_end(&j);
	ck_assert_int_eq(json_close(&j), ST_CANNOT_WRITE);
	ck_assert_uint_eq(out.size, after);
}
END_TEST

static void value_without_key(void)
{
	json_object(&j);
	json_int(&j, 1);
}

static void key_in_an_array(void)
{
	json_array(&j);
	json_key(&j, "a");
}

static void key_at_the_top(void)
{
	json_key(&j, "a");
}

static void two_keys(void)
{
	json_object(&j);
	json_key(&j, "a");
	json_key(&j, "b");
}

static void key_without_value(void)
{
	json_object(&j);
	json_key(&j, "a");
	json_object_end(&j);
}

static void end_of_another(void)
{
	json_object(&j);
	json_array_end(&j);
}

static void end_of_nothing(void)
{
	json_array_end(&j);
}

static void no_end(void)
{
	json_array(&j);
}

START_TEST(calls_out_of_place)
{
	void (*const wrong[])(
		void) = { value_without_key, key_in_an_array, key_at_the_top, two_keys,
			  key_without_value, end_of_another,  end_of_nothing, no_end };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		start();
		wrong[i]();
		if (json_close(&j) != ST_BAD_DATA)
			ck_abort_msg("case %zu was accepted", i);
	}
}
END_TEST

START_TEST(depth)
{
	start();
	for (int i = 0; i < JSON_DEPTH - 1; i++)
		json_array(&j);
	for (int i = 0; i < JSON_DEPTH - 1; i++)
		json_array_end(&j);
	ck_assert_uint_eq(strlen(written()), 2 * (JSON_DEPTH - 1));
	start();
	for (int i = 0; i < 2 * JSON_DEPTH; i++)
		json_array(&j);
	ck_assert_int_eq(json_close(&j), ST_TOO_BIG);
}
END_TEST

UNIT_MAIN("json", nesting, lines_at_the_top, strings, strings_that_mean_harm, integers, doubles,
	  doubles_agree_with_strtod, more_than_the_pending_space, failing_sink, calls_out_of_place,
	  depth)
