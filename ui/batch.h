/*
 * batch: the table without a screen: as text, like top -b, or as a JSON object a refresh.
 */
#ifndef PYTOP_UI_BATCH_H
#define PYTOP_UI_BATCH_H

#include <stdbool.h>

#include "pytop.h"

struct batch_options {
	enum kind mode;
	const char *sort, *filter;
	bool json, hide_idle, ascii;
	bool quiet;                    /* print nothing: only sample (-d with -o) */
	double interval_s, duration_s; /* duration 0: none */
	unsigned long iterations;      /* 0: endless */
	unsigned long limit;           /* rows; 0: the default */
	unsigned long *printed;        /* counts the refreshes; NULL: nobody asks */
};

/*
 * Print refreshes until iterations, duration, the target's end, or *stop (set by a signal handler). ST_CANNOT_WRITE (errno
 * kept): stdout failed.
 */
enum status batch_run(struct pytop *p, const struct batch_options *options,
		      const volatile int *stop) MUST_CHECK;

#endif
