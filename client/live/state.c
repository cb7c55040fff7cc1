/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/state.h"

#include <string.h>

#include "client/term/screen.h"
#include "client/top/top-order.h"

static const char letters[N_VIEWS] = {
	[VIEW_FUNCTION] = 'f',    [VIEW_STACK] = 's', [VIEW_STREAM] = 't',
	[VIEW_BRANCH] = 'b',      [VIEW_BLOCK] = 'k', [VIEW_PROCESS] = 'p',
	[VIEW_OBJECT] = 'o',      [VIEW_LINE] = 'l',  [VIEW_UNIT] = 'u',
	[VIEW_BRANCH_SITE] = 'i', [VIEW_COMM] = 'c',  [VIEW_CONTAINER] = 'C',
};

void live_state_clamp(struct live_state *state, size_t n_page, size_t n_lines)
{
	state->scroll = MIN(state->scroll, n_lines > n_page ? n_lines - n_page : 0);
}

/* Writes @c in UTF-8; the number of bytes, at most 4. */
static size_t encode_utf8(char *to, unsigned int c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static void type_character(char *input, unsigned int c)
{
	size_t n = strlen(input);

	if (n + 4 < LIVE_FILTER_MAX)
		input[n + encode_utf8(input + n, c)] = '\0';
}

static void delete_last(char *input)
{
	size_t n = strlen(input);

	while (n > 0 && ((unsigned char)input[--n] & 0xc0) == 0x80)
		;
	input[n] = '\0';
}

#define CONTROL_U 0x15

static enum live_step press_typing(struct live_state *state, int key)
{
	if (key == SCREEN_ENTER) {
		state->typing = false;
		state->scroll = 0;
		memcpy(state->filter, state->input, sizeof(state->filter));
		return LIVE_FILTER;
	}
	if (key == SCREEN_ESCAPE)
		state->typing = false;
	else if (key == SCREEN_BACKSPACE)
		delete_last(state->input);
	else if (key == CONTROL_U)
		state->input[0] = '\0';
	else if (key >= ' ' && key < SCREEN_UP)
		type_character(state->input, (unsigned int)key);
	return LIVE_DRAW;
}

static bool scroll(struct live_state *state, int key, size_t n_page, size_t n_lines)
{
	switch (key) {
	case SCREEN_UP:
		state->scroll -= state->scroll > 0;
		break;
	case SCREEN_DOWN:
		state->scroll++;
		break;
	case SCREEN_PAGE_UP:
		state->scroll -= MIN(state->scroll, n_page);
		break;
	case SCREEN_PAGE_DOWN:
		state->scroll += n_page;
		break;
	case SCREEN_HOME:
		state->scroll = 0;
		break;
	case SCREEN_END:
		state->scroll = n_lines;
		break;
	default:
		return false;
	}
	live_state_clamp(state, n_page, n_lines);
	return true;
}

static enum live_step choose_order(struct live_state *state, bool forward)
{
	size_t n = top_n_orders(state->by);

	state->orders[state->by] = (state->orders[state->by] + (forward ? 1 : n - 1)) % n;
	state->scroll = 0;
	return LIVE_VIEW;
}

static enum live_step choose_view(struct live_state *state, int key)
{
	for (int by = 0; by < N_VIEWS; by++)
		if (key == letters[by]) {
			state->by = (enum view_by)by;
			state->scroll = 0;
			return LIVE_VIEW;
		}
	return LIVE_NOTHING;
}

enum live_step live_state_press(struct live_state *state, int key, size_t n_page, size_t n_lines)
{
	if (key == SCREEN_CLOSED)
		return LIVE_END;
	if (key == SCREEN_NONE)
		return LIVE_TAKE;
	if (key == SCREEN_RESIZED)
		return LIVE_DRAW;
	if (state->typing)
		return press_typing(state, key);
	if (state->help && key != 'q') {
		state->help = false;
		return LIVE_DRAW;
	}
	if (scroll(state, key, n_page, n_lines))
		return LIVE_DRAW;
	switch (key) {
	case 'q':
		return LIVE_END;
	case 'h':
	case '?':
		state->help = true;
		return LIVE_DRAW;
	case '/':
		state->typing = true;
		memcpy(state->input, state->filter, sizeof(state->input));
		return LIVE_DRAW;
	case '<':
	case '>':
		return choose_order(state, key == '>');
	case ' ':
		state->paused = !state->paused;
		return LIVE_PAUSE;
	}
	return choose_view(state, key);
}
