/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the live view is showing, and what keys make of it. It knows neither terminal nor daemon.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/live/filter.h"
#include "client/view/view.h"

struct live_state {
	enum view_by by;
	size_t orders[N_VIEWS]; /* of each view the one last chosen */
	size_t scroll;          /* lines or rows above the first that is seen */
	bool paused, help, typing;
	char filter[LIVE_FILTER_MAX]; /* as it was typed */
	char input[LIVE_FILTER_MAX];  /* as it is being typed */
};

/* What is to be done after a key, each with what those before it need. */
enum live_step {
	LIVE_NOTHING,
	LIVE_DRAW,
	LIVE_VIEW,   /* make the rows anew */
	LIVE_FILTER, /* filter anew */
	LIVE_PAUSE,  /* or its end */
	LIVE_TAKE,   /* see whether there is something new */
	LIVE_END,
};

/* @key is one of screen.h; a page has @n_page of the @n_lines that there are. */
enum live_step live_state_press(struct live_state *state, int key, size_t n_page, size_t n_lines);

/* Keeps the place where there are fewer lines now. */
void live_state_clamp(struct live_state *state, size_t n_page, size_t n_lines);

/* The letter that leads to a view. */
char live_state_letter(enum view_by by);
