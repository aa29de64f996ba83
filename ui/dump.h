/*
 * dump: every thread's stack once, as text or JSON on stdout.
 */
#ifndef PYTOP_UI_DUMP_H
#define PYTOP_UI_DUMP_H

#include "pytop.h"

enum status dump_run(struct pytop *p, bool json, bool ascii) MUST_CHECK;

#endif
