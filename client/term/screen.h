/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The terminal as a screen: pages of text go onto it, keys come from it. ncurses stays behind this
 * header.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct screen;

/* Keys that are no character. */
enum screen_key {
	SCREEN_NONE = -1, /* the time was over */
	SCREEN_UP = 0x110000,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_ENTER,
	SCREEN_ESCAPE,
	SCREEN_BACKSPACE,
	SCREEN_RESIZED,
	SCREEN_CLOSED, /* the terminal has gone, or a signal asks to end */
};

/* Takes the terminal over. -ENOTTY and @fault where stdin and stdout cannot be one. */
int screen_open(struct screen **ret, bool colors, struct fault *fault);
/* Gives it back as it was. */
struct screen *screen_close(struct screen *screen);
DEFINE_CLEANUP(struct screen *, screen_close);

size_t screen_rows(const struct screen *screen);
size_t screen_columns(const struct screen *screen);

/*
 * Waits for a key, one of the above or a Unicode character, at most @timeout_ms and only until @fd
 * is readable.
 */
int screen_read_key(struct screen *screen, int fd, int timeout_ms);

/*
 * Shows the lines of @text (UTF-8) and nothing else; what is too long or too much is cut off. Of
 * ECMA-48 the sequences "ESC [ n m" are understood for the colours and attributes of color.h. With
 * @cursor there is one behind the last line.
 */
void screen_show(struct screen *screen, const char *text, bool cursor);
