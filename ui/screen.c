/*
 * screen: the terminal, by curses.
 *
 * Invariant: between screen_open() and screen_close() the terminal is curses', and no way out
 * leaves it so: signals do nothing but write their number into a pipe, and what they ask for
 * (leave, stop, go on, another size) is done in screen_wait(), in the one thread that draws.
 *
 * Called by loop and picker for events, by everything that draws.
 */
#include "ui/screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/text.h"
#include "ui/keymap.h"

#define ESCAPE_DELAY_MS 25
#define LINE_BYTES_MAX 8192

static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH };
#define CAUGHT_COUNT (sizeof(caught) / sizeof(caught[0]))

static struct {
	SCREEN *terminal;
	bool ascii;
	bool ascii_bars;
	bool cursor_shown;
	int cursor_y, cursor_x;
	int signal;
	int pipe[2];
	struct sigaction before[CAUGHT_COUNT];
} screen = { .pipe = { -1, -1 } };

/* ---- signals -------------------------------------------------------------------------------- */

static void on_signal(int number)
{
	unsigned char byte = (unsigned char)number;
	int saved = errno;

	if (write(screen.pipe[1], &byte, 1) < 0)
		byte = 0; /* full: as many wait already */
	errno = saved;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < CAUGHT_COUNT; i++)
		sigaction(caught[i], &action, &screen.before[i]);
}

static void release_signals(void)
{
	for (size_t i = 0; i < CAUGHT_COUNT; i++)
		sigaction(caught[i], &screen.before[i], NULL);
}

/* Give the terminal back, stop, and take it again when continued. */
static void stop(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL }, ours;

	endwin();
	sigemptyset(&action.sa_mask);
	sigaction(SIGTSTP, &action, &ours);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &ours, NULL);
}

static void take_size(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

static unsigned handle_signals(void)
{
	unsigned char numbers[64];
	unsigned events = 0;
	ssize_t n = read(screen.pipe[0], numbers, sizeof(numbers));

	for (ssize_t i = 0; i < n; i++) {
		switch (numbers[i]) {
		case SIGWINCH:
			events |= SCREEN_RESIZED;
			break;
		case SIGTSTP:
		case SIGCONT:
			if (numbers[i] == SIGTSTP)
				stop();
			reset_prog_mode();
			events |= SCREEN_RESIZED;
			break;
		default:
			screen.signal = numbers[i];
			events |= SCREEN_SIGNAL;
		}
	}
	if (events & SCREEN_RESIZED)
		take_size();
	return events;
}

unsigned screen_wait(int event_fd, int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = screen.pipe[0], .events = POLLIN },
		{ .fd = event_fd, .events = POLLIN },
	};
	unsigned events = 0;
	uint64_t count;

	if (poll(fds, 3, timeout_ms) <= 0)
		return 0;
	if (fds[1].revents)
		events |= handle_signals();
	if (fds[2].revents && read(event_fd, &count, sizeof(count)) != 0)
		events |= SCREEN_PICTURE;
	if (fds[0].revents & POLLIN)
		events |= SCREEN_KEYS;
	if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) {
		if (!screen.signal)
			screen.signal = SIGHUP;
		events |= SCREEN_SIGNAL;
	}
	return events;
}

int screen_signal(void)
{
	return screen.signal;
}

int screen_key(void)
{
	wint_t key;
	int kind = get_wch(&key);

	if (kind == ERR)
		return -1;
	if (kind == KEY_CODE_YES)
		return key == KEY_RESIZE ? 0 : (int)(KEYMAP_SPECIAL | key);
	return (int)key;
}

/* ---- taking and giving back ----------------------------------------------------------------- */

static bool moves_its_cursor(void)
{
	const char *code = tigetstr("cup");

	return code && code != (const char *)-1 && *code;
}

/* A terminal that this machine does not know is most likely an xterm. */
static SCREEN *start(void)
{
	static const char *const guesses[] = { NULL, "xterm-256color", "xterm", "vt100" };
	const char *type = getenv("TERM");

	if (!type || !*type)
		return NULL;
	for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++) {
		SCREEN *terminal = newterm(guesses[i], stdout, stdin);

		if (terminal && moves_its_cursor())
			return terminal;
		if (terminal) {
			endwin();
			delscreen(terminal);
			return NULL;
		}
	}
	return NULL;
}

static void judge_characters(void)
{
	const char *type = getenv("TERM");

	setlocale(LC_CTYPE, "");
	screen.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	screen.ascii_bars =
		screen.ascii || !type || strcmp(type, "linux") == 0 || strncmp(type, "vt", 2) == 0;
}

enum status screen_open(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ST_NO_TERMINAL;
	judge_characters();
	if (pipe2(screen.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
		return ST_SYSTEM;
	screen.signal = 0;
	/* Before curses is started: what is caught already it leaves alone. */
	catch_signals();
	screen.terminal = start();
	if (!screen.terminal) {
		screen_close();
		return ST_NO_TERMINAL;
	}
	set_escdelay(ESCAPE_DELAY_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	theme_init();
	return ST_OK;
}

void screen_close(void)
{
	if (screen.terminal) {
		curs_set(1);
		endwin();
		delscreen(screen.terminal);
		screen.terminal = NULL;
	}
	release_signals();
	close(screen.pipe[0]);
	close(screen.pipe[1]);
	screen.pipe[0] = screen.pipe[1] = -1;
}

/* ---- drawing -------------------------------------------------------------------------------- */

int screen_width(void)
{
	return COLS;
}

int screen_height(void)
{
	return LINES;
}

bool screen_ascii(void)
{
	return screen.ascii;
}

bool screen_ascii_bars(void)
{
	return screen.ascii_bars;
}

void screen_begin(void)
{
	erase();
	screen.cursor_shown = false;
}

void screen_end(void)
{
	curs_set(screen.cursor_shown ? 1 : 0);
	if (screen.cursor_shown)
		move(screen.cursor_y, screen.cursor_x);
	refresh();
}

void screen_redraw(void)
{
	clearok(curscr, TRUE);
}

void screen_renew(void)
{
	if (!has_colors())
		screen_redraw();
}

int screen_text(int y, int x, int width, enum theme_role role, const char *text)
{
	char fit[LINE_BYTES_MAX];
	size_t columns;

	if (width > COLS - x)
		width = COLS - x;
	if (y < 0 || y >= LINES || x < 0 || width <= 0)
		return 0;
	columns =
		text_fit(fit, sizeof(fit), text, (size_t)width, TEXT_CUT_END, false, screen.ascii);
	for (char *at = fit; screen.ascii && *at; at++)
		if ((unsigned char)*at > '~')
			*at = '?';
	attrset((attr_t)theme_attributes(role));
	mvaddstr(y, x, fit);
	attrset(A_NORMAL);
	return (int)columns;
}

void screen_fill(int y, int x, int width, enum theme_role role)
{
	if (width > COLS - x)
		width = COLS - x;
	if (y < 0 || y >= LINES || x < 0 || width <= 0)
		return;
	attrset((attr_t)theme_attributes(role));
	mvhline(y, x, ' ' | (chtype)theme_attributes(role), width);
	attrset(A_NORMAL);
}

void screen_cursor(int y, int x)
{
	if (y < 0 || y >= LINES || x < 0 || x >= COLS)
		return;
	screen.cursor_shown = true;
	screen.cursor_y = y;
	screen.cursor_x = x;
}
