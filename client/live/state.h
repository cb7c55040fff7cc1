/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of the live view, and how keys change it, without terminal or daemon. Screens are a
 * stack: Enter puts one on top, Escape takes it away.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/live/cursor.h"
#include "client/live/filter.h"
#include "client/live/subject.h"
#include "client/view/view.h"

#define LIVE_MAX_DEPTH 16
#define LIVE_SPAN_MAX  128
#define LIVE_NOTE_MAX  512

enum live_kind {
	LIVE_ROWS,    /* those of a view */
	LIVE_CALLS,   /* the callers and callees of the subject */
	LIVE_CODE,    /* its instructions */
	LIVE_HISTORY, /* its share over time */
	N_LIVE_KINDS,
};

struct live_screen {
	enum live_kind kind;
	enum view_by by;              /* of rows */
	char filter[LIVE_FILTER_MAX]; /* the applied text */
	struct live_subject subject;  /* unless of rows */
	struct live_cursor cursor;
};

enum live_prompt { LIVE_PROMPT_NONE, LIVE_PROMPT_FILTER, LIVE_PROMPT_SPAN };

struct live_state {
	struct live_screen screens[LIVE_MAX_DEPTH];
	size_t depth;             /* of the shown one; 0: the rows at the start */
	size_t orders[N_VIEWS];   /* the order of each view */
	char span[LIVE_SPAN_MAX]; /* a window reference; "": the last five minutes */
	bool paused, help;
	struct live_cursor help_cursor;
	enum live_prompt prompt;
	char input[LIVE_FILTER_MAX]; /* the text being typed */
	char note[LIVE_NOTE_MAX];    /* to the user, until the next key; "": none */
	enum live_kind opens;        /* by LIVE_OPEN */
};

/* What to do after a key. */
enum live_step {
	LIVE_DRAW,
	LIVE_VIEW,   /* make the rows again, draw */
	LIVE_FILTER, /* filter, make the rows again, draw */
	LIVE_PAUSE,  /* pause or continue, draw */
	LIVE_TAKE,   /* take a new result from the feed, draw */
	LIVE_OPEN,   /* what the line at the cursor leads to */
	LIVE_CHANGE, /* another screen or span is shown: ask for it, draw */
	LIVE_END,
};

static inline struct live_screen *live_screen_of(struct live_state *state)
{
	return &state->screens[state->depth];
}

/* @key is one of screen.h; the screen has room for @n_page of @n_lines. */
enum live_step live_state_press(struct live_state *state, int key, size_t n_page, size_t n_lines);

/* Puts the screen of @subject on top; or rows by function under one more @filter. */
void live_state_open(struct live_state *state, enum live_kind kind,
		     const struct live_subject *subject);
void live_state_narrow(struct live_state *state, const char *filter);

/* Whether + and - choose it; else it was typed. */
bool live_span_is_offered(const char *span);

void live_state_say(struct live_state *state, const char *format, ...) _printf_(2, 3);
