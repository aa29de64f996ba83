/*
 * batch_json: one snapshot as one line of JSON. Its fields are a contract with scripts: they are added to, never renamed.
 */
#ifndef PYTOP_UI_BATCH_JSON_H
#define PYTOP_UI_BATCH_JSON_H

#include <stddef.h>

#include "pytop.h"

/* rows: those to be printed, in order; mode: the kind of self_s and total_s. On stdout. */
enum status batch_json_print(const struct pytop_snapshot *s, enum kind mode,
			     const struct pytop_row *const *rows, size_t row_count) MUST_CHECK;

#endif
