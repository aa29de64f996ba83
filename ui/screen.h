/*
 * screen: the terminal: taking it, giving it back whatever happens, drawing text safely, and
 * waiting for keys, signals and pictures at one place. Used by one thread; open once at a time.
 */
#ifndef PYTOP_UI_SCREEN_H
#define PYTOP_UI_SCREEN_H

#include <stdbool.h>

#include "base/status.h"
#include "ui/theme.h"

/* ST_NO_TERMINAL: stdin or stdout is none, or it cannot move its cursor. */
enum status screen_open(void) MUST_CHECK;
void screen_close(void);

int screen_width(void);
int screen_height(void);
bool screen_ascii(void);      /* the locale is not UTF-8: nothing beyond 7E can be shown */
bool screen_ascii_bars(void); /* nor, on some terminals, block characters */

/* What screen_wait() came back for; bits. */
enum screen_event {
	SCREEN_KEYS = 1,
	SCREEN_PICTURE = 2, /* the descriptor was readable, and has been emptied */
	SCREEN_RESIZED = 4, /* also after a stop: everything is to be drawn anew */
	SCREEN_SIGNAL = 8,  /* SIGINT, SIGTERM, SIGHUP, SIGQUIT, or the terminal is gone: leave */
};

/*
 * Wait until something happens, timeout_ms at most (-1: without end). event_fd is non-blocking,
 * -1: none. ^Z stops pytop in here, and fg continues it.
 */
unsigned screen_wait(int event_fd, int timeout_ms);
/* The signal of SCREEN_SIGNAL; SIGHUP when the terminal is gone. */
int screen_signal(void);

/* The next key that was pressed, as keymap.h has it; -1: none is waiting. */
int screen_key(void);

/* A picture is drawn between these two; only what changed is sent. */
void screen_begin(void);
void screen_end(void);
/* Send everything anew. */
void screen_redraw(void);
/* Something else is looked at: the same, on terminals so simple that changes alone may leave old lines. */
void screen_renew(void);

/*
 * text, cut to width columns and to the screen; outside the screen nothing. What is not safe to
 * print becomes "?". Returns the columns taken.
 */
int screen_text(int y, int x, int width, enum theme_role role, const char *text);
/* Blanks. */
void screen_fill(int y, int x, int width, enum theme_role role);
/* Where the cursor is to be seen; hidden unless said so since screen_begin(). */
void screen_cursor(int y, int x);

#endif
