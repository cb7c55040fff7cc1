/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The terminal as a screen: shows pages of text and reads keys. It hides ncurses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct screen;

/* Keys that are not characters. */
enum screen_key {
	SCREEN_NONE = -1, /* timed out, or @fd is readable */
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
	SCREEN_CLOSED, /* the terminal was closed, or a signal asks to end */
};

/* Takes over the terminal. -ENOTTY and @fault if stdin and stdout are not a usable one. */
int screen_open(struct screen **ret, bool colors, struct fault *fault);
/* Restores the terminal. */
struct screen *screen_close(struct screen *screen);
DEFINE_CLEANUP(struct screen *, screen_close);

size_t screen_rows(const struct screen *screen);
size_t screen_columns(const struct screen *screen);

/*
 * One of enum screen_key or a Unicode character. It waits at most @timeout_ms, and only until @fd
 * is readable.
 */
int screen_read_key(struct screen *screen, int fd, int timeout_ms);

/*
 * Replaces the screen with @text (UTF-8), truncated to its size. It understands the sequences
 * "ESC [ n m" of ECMA-48 for the colours and attributes of color.h. @cursor shows a cursor behind
 * the last line.
 */
void screen_show(struct screen *screen, const char *text, bool cursor);
