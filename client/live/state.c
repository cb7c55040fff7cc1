/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/live/input.h"
#include "client/term/screen.h"
#include "client/top/top-order.h"

#define TAB             '\t'
#define LIVE_FIRST_CALL 2 /* below the title and the headings; see calls.h */

static const char letters[N_VIEWS] = {
	[VIEW_FUNCTION] = 'f',    [VIEW_STACK] = 's', [VIEW_STREAM] = 't',
	[VIEW_BRANCH] = 'b',      [VIEW_BLOCK] = 'k', [VIEW_PROCESS] = 'p',
	[VIEW_OBJECT] = 'o',      [VIEW_LINE] = 'l',  [VIEW_UNIT] = 'u',
	[VIEW_BRANCH_SITE] = 'i', [VIEW_COMM] = 'c',  [VIEW_CONTAINER] = 'C',
	[VIEW_USER] = 'U',
};

/* Those that + and - choose, from the last five minutes on. */
static const char *const spans[] = { "", "-15min", "-1h", "-6h", "-1d" };

void live_state_say(struct live_state *state, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(state->note, sizeof(state->note), format, ap);
	va_end(ap);
}

/* A screen on top, which is like the shown one. */
static struct live_screen *push(struct live_state *state)
{
	if (state->depth + 1 == LIVE_MAX_DEPTH) /* forgets the oldest but the first */
		memmove(&state->screens[1], &state->screens[2],
			(LIVE_MAX_DEPTH - 2) * sizeof(*state->screens));
	else
		state->depth++;
	state->screens[state->depth] = state->screens[state->depth - 1];
	live_screen_of(state)->cursor = (struct live_cursor){};
	return live_screen_of(state);
}

void live_state_open(struct live_state *state, enum live_kind kind,
		     const struct live_subject *subject)
{
	struct live_screen *screen = push(state);

	screen->kind = kind;
	screen->subject = *subject;
	screen->cursor.line = kind == LIVE_CALLS ? LIVE_FIRST_CALL : 0;
}

void live_state_narrow(struct live_state *state, const char *filter)
{
	const char *before = live_screen_of(state)->filter;
	struct live_screen *screen;

	if (strlen(before) + 1 + strlen(filter) >= LIVE_FILTER_MAX) {
		live_state_say(state, "the filter would be too long");
		return;
	}
	screen = push(state);
	screen->by = VIEW_FUNCTION;
	if (screen->filter[0])
		strcat(screen->filter, " ");
	strcat(screen->filter, filter);
}

/* What is no filter leaves the one before. */
static enum live_step set_filter(struct live_state *state)
{
	struct live_filter parsed;
	struct fault fault;

	if (live_filter_parse(&parsed, state->input, &fault) < 0) {
		live_state_say(state, "%s", fault.text);
		return LIVE_DRAW;
	}
	memcpy(live_screen_of(state)->filter, state->input, LIVE_FILTER_MAX);
	return LIVE_FILTER;
}

static enum live_step end_prompt(struct live_state *state)
{
	enum live_prompt prompt = state->prompt;

	state->prompt = LIVE_PROMPT_NONE;
	live_screen_of(state)->cursor = (struct live_cursor){};
	if (prompt == LIVE_PROMPT_FILTER)
		return set_filter(state);
	if (strlen(state->input) >= sizeof(state->span)) {
		live_state_say(state, "the span is too long");
		return LIVE_DRAW;
	}
	strcpy(state->span, state->input);
	return LIVE_CHANGE;
}

static enum live_step press_typing(struct live_state *state, int key)
{
	if (key == SCREEN_ENTER)
		return end_prompt(state);
	if (key == SCREEN_ESCAPE)
		state->prompt = LIVE_PROMPT_NONE;
	else
		live_input_press(state->input, sizeof(state->input), key);
	return LIVE_DRAW;
}

static enum live_step press_help(struct live_state *state, int key, size_t n_page, size_t n_lines)
{
	struct live_cursor *cursor = &state->help_cursor;
	size_t most = n_lines > n_page ? n_lines - n_page : 0;

	if (key == 'q')
		return LIVE_END;
	if (live_cursor_press(cursor, key, n_page, n_lines)) /* no line is marked: it scrolls */
		cursor->scroll = cursor->line = MIN(cursor->line, most);
	else
		state->help = false;
	return LIVE_DRAW;
}

static enum live_step begin_prompt(struct live_state *state, enum live_prompt prompt,
				   const char *text)
{
	state->prompt = prompt;
	snprintf(state->input, sizeof(state->input), "%s", text);
	return LIVE_DRAW;
}

/* Its place among them, or their number. */
static size_t find_span(const char *span)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(spans) && strcmp(spans[i], span) != 0)
		i++;
	return i;
}

bool live_span_is_offered(const char *span)
{
	return find_span(span) < ARRAY_SIZE(spans);
}

static enum live_step choose_span(struct live_state *state, bool longer)
{
	size_t i = find_span(state->span);

	if (i == ARRAY_SIZE(spans))
		i = longer ? 0 : 1;
	if (longer ? i + 1 == ARRAY_SIZE(spans) : i == 0) {
		live_state_say(state, "there is no %s span here; T types one",
			       longer ? "longer" : "shorter");
		return LIVE_DRAW;
	}
	strcpy(state->span, spans[longer ? i + 1 : i - 1]);
	return LIVE_CHANGE;
}

static enum live_step go_back(struct live_state *state)
{
	if (state->depth == 0) {
		live_state_say(state, "nothing to go back to; q quits");
		return LIVE_DRAW;
	}
	state->depth--;
	return LIVE_CHANGE;
}

static enum live_step say_nothing(struct live_state *state, int key)
{
	const char *here = live_screen_of(state)->kind == LIVE_ROWS ?
				   "; h shows the keys" :
				   " here; Escape goes back, h shows the keys";

	if (key > ' ' && key < 0x7f)
		live_state_say(state, "%c does nothing%s", key, here);
	else
		live_state_say(state, "that key does nothing%s", here);
	return LIVE_DRAW;
}

static enum live_step choose_order(struct live_state *state, bool forward)
{
	struct live_screen *screen = live_screen_of(state);
	size_t n = top_n_orders(screen->by);

	if (n < 2) {
		live_state_say(state, "%ss have one order only", view_name(screen->by));
		return LIVE_DRAW;
	}
	state->orders[screen->by] = (state->orders[screen->by] + (forward ? 1 : n - 1)) % n;
	screen->cursor = (struct live_cursor){};
	return LIVE_VIEW;
}

static enum live_step choose_view(struct live_state *state, int key)
{
	struct live_screen *screen = live_screen_of(state);

	for (int by = 0; by < N_VIEWS; by++)
		if (letters[by] && key == letters[by]) {
			if (screen->by != (enum view_by)by)
				screen->cursor = (struct live_cursor){};
			screen->by = (enum view_by)by;
			return LIVE_VIEW;
		}
	return say_nothing(state, key);
}

static enum live_step open(struct live_state *state, enum live_kind kind)
{
	state->opens = kind;
	return LIVE_OPEN;
}

static enum live_step press_rows(struct live_state *state, int key)
{
	switch (key) {
	case '/':
		return begin_prompt(state, LIVE_PROMPT_FILTER, live_screen_of(state)->filter);
	case '<':
	case '>':
		return choose_order(state, key == '>');
	case SCREEN_ENTER:
		return open(state, LIVE_CALLS);
	case 'a':
		return open(state, LIVE_CODE);
	case 'H':
		return open(state, LIVE_HISTORY);
	}
	return choose_view(state, key);
}

/* Another screen of the same subject. */
static enum live_step turn_to(struct live_state *state, enum live_kind kind)
{
	struct live_screen *screen = live_screen_of(state);

	if (screen->kind != kind)
		screen->cursor = (struct live_cursor){};
	screen->kind = kind;
	return LIVE_CHANGE;
}

static enum live_step press_subject(struct live_state *state, int key)
{
	enum live_kind kind = live_screen_of(state)->kind;

	switch (key) {
	case TAB:
	case SCREEN_RIGHT:
		return turn_to(state, kind + 1 == N_LIVE_KINDS ? LIVE_CALLS : kind + 1);
	case SCREEN_LEFT:
		return turn_to(state, kind == LIVE_CALLS ? N_LIVE_KINDS - 1 : kind - 1);
	case 'e':
		return turn_to(state, LIVE_CALLS);
	case 'a':
		return turn_to(state, LIVE_CODE);
	case 'H':
		return turn_to(state, LIVE_HISTORY);
	case SCREEN_ENTER:
		if (kind == LIVE_CALLS)
			return open(state, LIVE_CALLS);
	}
	return say_nothing(state, key);
}

enum live_step live_state_press(struct live_state *state, int key, size_t n_page, size_t n_lines)
{
	if (key == SCREEN_CLOSED)
		return LIVE_END;
	if (key == SCREEN_NONE)
		return LIVE_TAKE;
	if (key == SCREEN_RESIZED)
		return LIVE_DRAW;
	state->note[0] = '\0';
	if (state->prompt)
		return press_typing(state, key);
	if (state->help)
		return press_help(state, key, n_page, n_lines);
	if (live_cursor_press(&live_screen_of(state)->cursor, key, n_page, n_lines))
		return LIVE_DRAW;
	switch (key) {
	case 'q':
		return LIVE_END;
	case 'h':
	case '?':
		state->help = true;
		state->help_cursor = (struct live_cursor){};
		return LIVE_DRAW;
	case ' ':
		state->paused = !state->paused;
		return LIVE_PAUSE;
	case 'T':
		return begin_prompt(state, LIVE_PROMPT_SPAN, state->span);
	case '+':
	case '-':
		return choose_span(state, key == '+');
	case SCREEN_ESCAPE:
		return go_back(state);
	}
	return live_screen_of(state)->kind == LIVE_ROWS ? press_rows(state, key) :
							  press_subject(state, key);
}
