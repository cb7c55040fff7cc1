/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A signal only sets a flag. Signals are blocked except in ppoll(), which therefore notices each of
 * them, and the caller restores the terminal.
 */
#include "client/term/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include "common/util/cleanup.h"

enum pair {
	PAIR_NONE,
	PAIR_RED,
	PAIR_GREEN,
};

struct screen {
	SCREEN *terminal;
	bool colors;
	sigset_t waiting; /* the signal mask in ppoll() */
};

static volatile sig_atomic_t ended, resized;

static void on_end(int number)
{
	ended = 1;
}

static void on_resize(int number)
{
	resized = 1;
}

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void catch_signals(struct screen *screen)
{
	struct sigaction end = { .sa_handler = on_end }, resize = { .sa_handler = on_resize };
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGWINCH);
	sigaction(SIGWINCH, &resize, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++) {
		sigaddset(&blocked, end_signals[i]);
		sigaction(end_signals[i], &end, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, &screen->waiting);
}

int screen_open(struct screen **ret, bool colors, struct fault *fault)
{
	struct screen *screen;
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fault_set(fault, -ENOTTY,
				 "the live view needs a terminal; --once writes a table");
	screen = calloc(1, sizeof(*screen));
	if (!screen)
		return fault_set(fault, -ENOMEM, "out of memory");
	screen->terminal = newterm(NULL, stdout, stdin);
	if (!screen->terminal) {
		free(screen);
		return fault_set(
			fault, -ENOTTY,
			"the live view does not work on a terminal of type '%s' (TERM); --once "
			"writes a table",
			term ?: "");
	}
	catch_signals(screen);
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	screen->colors = colors && has_colors();
	if (screen->colors) {
		start_color();
		use_default_colors();
		init_pair(PAIR_RED, COLOR_RED, -1);
		init_pair(PAIR_GREEN, COLOR_GREEN, -1);
	}
	*ret = screen;
	return 0;
}

struct screen *screen_close(struct screen *screen)
{
	if (!screen)
		return NULL;
	endwin();
	delscreen(screen->terminal);
	sigprocmask(SIG_SETMASK, &screen->waiting, NULL);
	free(screen);
	return NULL;
}

size_t screen_rows(const struct screen *screen)
{
	return (size_t)getmaxy(stdscr);
}

size_t screen_columns(const struct screen *screen)
{
	return (size_t)getmaxx(stdscr);
}

static int translate(wint_t key)
{
	switch (key) {
	case KEY_UP:
		return SCREEN_UP;
	case KEY_DOWN:
		return SCREEN_DOWN;
	case KEY_LEFT:
		return SCREEN_LEFT;
	case KEY_RIGHT:
		return SCREEN_RIGHT;
	case KEY_PPAGE:
		return SCREEN_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_HOME;
	case KEY_END:
		return SCREEN_END;
	case KEY_ENTER:
		return SCREEN_ENTER;
	case KEY_BACKSPACE:
		return SCREEN_BACKSPACE;
	}
	return SCREEN_NONE;
}

static int translate_character(wint_t key)
{
	switch (key) {
	case '\r':
	case '\n':
		return SCREEN_ENTER;
	case 0x1b:
		return SCREEN_ESCAPE;
	case 0x08:
	case 0x7f:
		return SCREEN_BACKSPACE;
	case 0x03: /* if the terminal does not turn it into a signal */
		return SCREEN_CLOSED;
	case 0x0c: /* control-L: redraw */
		clearok(stdscr, TRUE);
		return SCREEN_RESIZED;
	}
	return (int)key;
}

/* A key that was pressed already. */
static int take_key(void)
{
	wint_t key;
	int r = get_wch(&key);

	if (r == ERR)
		return SCREEN_NONE;
	return r == KEY_CODE_YES ? translate(key) : translate_character(key);
}

static void follow_size(void)
{
	struct winsize size;

	resized = 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
		resizeterm(size.ws_row, size.ws_col);
	clearok(stdscr, TRUE);
}

int screen_read_key(struct screen *screen, int fd, int timeout_ms)
{
	struct pollfd pollfds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	int key = take_key(), r;

	if (key != SCREEN_NONE)
		return key;
	r = ppoll(pollfds, ARRAY_SIZE(pollfds), &timeout, &screen->waiting);
	if (ended || (r > 0 && pollfds[0].revents & (POLLHUP | POLLERR | POLLNVAL)))
		return SCREEN_CLOSED;
	if (resized) {
		follow_size();
		return SCREEN_RESIZED;
	}
	return r > 0 && pollfds[0].revents ? take_key() : SCREEN_NONE;
}

/* Applies "ESC [ n m" at @text; its length, or 0 if there is none. */
static size_t apply_sequence(const struct screen *screen, const char *text)
{
	char *end;
	unsigned long n;

	if (text[0] != '\033' || text[1] != '[')
		return 0;
	n = strtoul(text + 2, &end, 10);
	if (*end != 'm')
		return 0;
	if (n == 0)
		attrset(A_NORMAL);
	else if (n == 1)
		attron(A_BOLD);
	else if (n == 2)
		attron(A_DIM);
	else if (n == 7)
		attron(A_REVERSE);
	else if (screen->colors && n == 31)
		attron(COLOR_PAIR(PAIR_RED));
	else if (screen->colors && n == 32)
		attron(COLOR_PAIR(PAIR_GREEN));
	return (size_t)(end + 1 - text);
}

/* Shows the first line of @text; the end of that line. */
static const char *show_line(const struct screen *screen, const char *text)
{
	int room = getmaxx(stdscr);
	mbstate_t state = {};
	wchar_t c;

	while (*text && *text != '\n') {
		size_t n = apply_sequence(screen, text);
		int width;

		if (n > 0) {
			text += n;
			continue;
		}
		n = mbrtowc(&c, text, MB_CUR_MAX, &state);
		if (n == 0 || n > MB_CUR_MAX) {
			memset(&state, 0, sizeof(state));
			c = L'?';
			n = 1;
		}
		width = wcwidth(c);
		if (width < 0) {
			c = L'?';
			width = 1;
		}
		text += n;
		if (width <= room)
			addnwstr(&c, 1);
		room -= width;
	}
	return text;
}

void screen_show(struct screen *screen, const char *text, bool cursor)
{
	int rows = getmaxy(stdscr);

	erase();
	for (int y = 0; y < rows && *text; y++) {
		move(y, 0);
		attrset(A_NORMAL);
		text = show_line(screen, text);
		text += *text == '\n';
	}
	curs_set(cursor ? 1 : 0);
	refresh();
}
