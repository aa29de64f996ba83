/*
 * json: a streaming writer. It keeps commas, nesting and escaping right; what is written is always
 * valid JSON in strict UTF-8 (bad bytes and lone surrogates become U+FFFD), safe to print and to
 * place in a <script>. Values at the top stand each on a line of its own.
 */
#ifndef PYTOP_BASE_JSON_H
#define PYTOP_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define JSON_DEPTH 32

/* Where the text goes; a failure is kept in the writer and ends further output. */
typedef enum status (*json_sink)(void *context, const char *text, size_t size);

struct json {
	json_sink sink;
	void *context;
	enum status status;
	unsigned depth;
	uint32_t has_item;  /* bit d: the container at depth d already has an item */
	uint32_t is_object; /* bit d: the container at depth d is an object */
	bool after_key;
	size_t used;
	char pending[4096];
};

void json_open(struct json *j, json_sink sink, void *context);
/*
 * Flush what is pending; gives the first failure of the whole: the sink's, ST_BAD_DATA when the
 * calls did not make a document (an end or a value missing or out of place), ST_TOO_BIG when they
 * nest JSON_DEPTH deep.
 */
enum status json_close(struct json *j) MUST_CHECK;

void json_object(struct json *j);
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);
void json_key(struct json *j, const char *key);
void json_string(struct json *j, const char *s); /* NULL: null */
void json_string_n(struct json *j, const char *s, size_t n);
void json_int(struct json *j, int64_t v);
void json_uint(struct json *j, uint64_t v);
/*
 * decimals: digits after the point at most, up to 15, and 16 digits in all; zeros at the end are
 * left out. Not finite: null.
 */
void json_double(struct json *j, double v, int decimals);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
void json_newline(struct json *j); /* layout only */

#endif
