/*
 * Whatever bytes a target names its functions with: the input's first three bytes choose a buffer
 * size, a width and the switches, the rest is the text. What comes out must be UTF-8, safe,
 * terminated within its size and as wide as promised; as a JSON string it must be one line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void expect_safe(const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t c;

		i += text_decode(s + i, n - i, &c);
		expect(text_is_safe(c));
	}
}

static void escape_and_fit(const char *text, size_t n, const uint8_t choice[3])
{
	size_t need = text_escape(NULL, 0, text, n, choice[2] & 1), size = choice[0] + 1u, columns;
	char *whole = malloc(need + 1), *part = malloc(size);

	expect(whole && part);
	expect(text_escape(whole, need + 1, text, n, choice[2] & 1) == need);
	expect(strlen(whole) == need);
	expect_safe(whole, need);
	expect(text_escape(part, size, text, n, choice[2] & 1) == need);
	expect(strlen(part) < size && !strncmp(part, whole, strlen(part)));
	columns = text_fit(part, size, whole, choice[1], (enum text_cut)(choice[2] >> 2 & 3) % 3,
			   choice[2] & 2, choice[2] & 1);
	expect(strlen(part) < size && columns <= choice[1] && text_width(part) == columns);
	expect_safe(part, strlen(part));
	free(whole);
	free(part);
}

/* text_fit() takes what nobody made safe, too. */
static void fit_raw(const char *text, size_t n, const uint8_t choice[3])
{
	char *raw = malloc(n + 1), part[64];

	expect(raw);
	memcpy(raw, text, n);
	raw[n] = '\0';
	text_fit(part, sizeof(part), raw, choice[1], TEXT_CUT_MIDDLE, choice[2] & 2, false);
	expect_safe(part, strlen(part));
	free(raw);
}

static enum status sink(void *context, const char *text, size_t size)
{
	(void)context;
	for (size_t i = 0; i < size; i++)
		expect((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
	return ST_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct json j;

	if (size < 3)
		return 0;
	escape_and_fit((const char *)data + 3, size - 3, data);
	fit_raw((const char *)data + 3, size - 3, data);
	json_open(&j, sink, NULL);
	json_string_n(&j, (const char *)data + 3, size - 3);
	expect(json_close(&j) == ST_OK);
	return 0;
}
