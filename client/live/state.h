/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the live view, and how keys change it, without terminal or daemon. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/live/filter.h"
#include "client/view/view.h"

struct live_state {
	enum view_by by;
	size_t orders[N_VIEWS]; /* the order of each view */
	size_t scroll;          /* lines or rows above the screen */
	bool paused, help, typing;
	char filter[LIVE_FILTER_MAX]; /* the applied text */
	char input[LIVE_FILTER_MAX];  /* the text being typed */
};

/* What to do after a key. */
enum live_step {
	LIVE_NOTHING,
	LIVE_DRAW,
	LIVE_VIEW,   /* make the rows again, draw */
	LIVE_FILTER, /* filter, make the rows again, draw */
	LIVE_PAUSE,  /* pause or continue, draw */
	LIVE_TAKE,   /* take a new profile from the feed, draw */
	LIVE_END,
};

/* @key is one of screen.h; the screen has room for @n_page of @n_lines. */
enum live_step live_state_press(struct live_state *state, int key, size_t n_page, size_t n_lines);

/* Keeps the scroll position within the lines. */
void live_state_clamp(struct live_state *state, size_t n_page, size_t n_lines);
