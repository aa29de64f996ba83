/*
 * notice: one line that tells what has just happened.
 */
#ifndef PYTOP_UI_NOTICE_H
#define PYTOP_UI_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct notice {
	char text[5120];  /* parts, as format_parts() has them; safe to print; "": none */
	bool alert;       /* something is wrong */
	int64_t until_ms; /* INT64_MAX: until another comes, or Esc */
};

/* A few seconds. */
void notice_say(struct notice *n, int64_t now_ms, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Until another comes, or Esc. */
void notice_keep(struct notice *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What went wrong, and how to mend it. */
void notice_status(struct notice *n, enum status status, const struct status_args *args);
void notice_clear(struct notice *n);
/* Something else is done: what only passes is over. */
void notice_pass(struct notice *n);
/* Its time is over: cleared, true. */
bool notice_expire(struct notice *n, int64_t now_ms);
void notice_draw(const struct notice *n, int y);
/* What went wrong in the line above y, and how to mend it in y. */
void notice_draw_pair(const struct notice *n, int y);

#endif
