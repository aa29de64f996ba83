/*
 * child: the command after "--": started with its output out of the way, and ended with pytop.
 */
#ifndef PYTOP_UI_CHILD_H
#define PYTOP_UI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "pytop.h"

struct child {
	pid_t pid; /* 0: none */
	struct pytop_watch watch;
	pid_t next; /* the Python in it to go on with, as child_goes_on() found it */
	int output_fd; /* what it prints while there is a screen: an unnamed file; -1: it goes to stderr */
};

/* ST_NO_COMMAND, ST_SYSTEM; args as of pytop_spawn(). */
enum status child_start(struct child *child, char *const argv[], bool has_screen,
			struct status_args *args) MUST_CHECK;
bool child_has_ended(const struct child *child);
/* context is a child. After the end of the Python in it: is there another? */
bool child_goes_on(void *context);
/* Ask it to end if it still runs, and show the last lines of what it printed behind the screen. */
void child_end(struct child *child);

#endif
