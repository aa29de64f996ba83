/*
 * loop: the live screen, from the first picture to the last. It alone owns the terminal meanwhile.
 */
#ifndef PYTOP_UI_LOOP_H
#define PYTOP_UI_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pytop.h"

/* What the screen begins with; strings are borrowed until loop_run() returns. */
struct ui_options {
	enum kind mode;
	const char *sort;   /* a name of columns_functions; NULL: the mode's */
	const char *filter; /* NULL: none */
	bool hide_idle;
	bool by_line;        /* rows are lines instead of functions */
	double refresh_s;    /* as pytop_options has it */
	double half_life_s;  /* as pytop_options has it */
	double duration_s;   /* leave after; 0: when the user does */
	bool with_arguments; /* of exports */
	uid_t owner_uid;     /* of files written; (uid_t)-1: leave */
	gid_t owner_gid;
	/* Asked a few times a second once the target has ended: is there another to go on with? NULL: there never is. */
	bool (*goes_on)(void *context);
	void *goes_on_context;
};

enum loop_end {
	LOOP_QUIT,
	LOOP_DURATION, /* duration_s is over */
	LOOP_SIGNAL,   /* SIGINT, SIGTERM, SIGHUP or SIGQUIT: signal says which */
	LOOP_SWITCH,   /* the user wants switch_to instead */
	LOOP_NEXT,     /* the target has ended, and goes_on said yes */
};

#define LOOP_FILES_MAX 64

struct loop_result {
	enum loop_end end;
	int signal;
	pid_t switch_to;
	char *last_rows; /* lines for the scrollback: what was seen; NULL: nothing was */
	char *files[LOOP_FILES_MAX]; /* exports written, in order; NULL after the last */
	size_t file_count;
	char kept_log[4096]; /* where the log went when the terminal was lost; "": nowhere */
};

/*
 * Draw p, which was started, until the user leaves; the terminal is then as it was before.
 * ST_NO_TERMINAL, ST_NO_MEMORY. result is set on ST_OK only: loop_result_free() it.
 */
enum status loop_run(struct pytop *p, const struct ui_options *options,
		     struct loop_result *result) MUST_CHECK;
void loop_result_free(struct loop_result *result);

#endif
