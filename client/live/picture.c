/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/live/line.h"
#include "client/render/annotation/table.h"
#include "client/render/history-text.h"
#include "client/term/text.h"
#include "client/top/top-order.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define TREE_ROWS 200 /* the hottest ones; nobody scrolls further */

struct live_picture {
	struct top_settings settings;
	struct profile_source *recent; /* of the last five minutes */
	struct live_result given;      /* the rest: of spans, what comes first, a text */
	struct live_request of_given;
	struct trends *trends; /* of rows, which outlast other screens */
	struct live_request of_trends;
	const struct profile_source *source; /* one of both, for rows and calls */
	struct live_filter filter;
	char filtered[LIVE_FILTER_MAX]; /* the text of the filter that @recent has */

	/* made of them */
	struct top *top;
	struct live_calls *calls;
	char *text;
	size_t text_width;
};

int live_picture_new(struct live_picture **ret, const struct symbolizer_settings *symbols,
		     const struct top_settings *settings)
{
	_cleanup_(live_picture_freep) struct live_picture *picture = calloc(1, sizeof(*picture));
	int r;

	if (!picture)
		return -ENOMEM;
	picture->settings = *settings;
	picture->filter.profile = PROFILE_FILTER_INIT;
	r = profile_source_new(&picture->recent, symbols);
	if (r < 0)
		return r;
	picture->source = picture->recent;
	*ret = TAKE_PTR(picture);
	return 0;
}

static void drop_made(struct live_picture *picture)
{
	picture->top = top_free(picture->top);
	picture->calls = live_calls_free(picture->calls);
	free(TAKE_PTR(picture->text));
}

struct live_picture *live_picture_free(struct live_picture *picture)
{
	if (!picture)
		return NULL;
	drop_made(picture);
	live_result_done(&picture->given);
	trends_free(picture->trends);
	profile_source_free(picture->recent);
	free(picture);
	return NULL;
}

/* A pause keeps the profile that is shown. */
static int take_recent(struct live_picture *picture, struct live_result *result, bool paused)
{
	if (paused && picture->recent->profile) {
		result->profile = profile_free(result->profile);
		windows_done(&result->windows);
		return 0;
	}
	return profile_source_replace(picture->recent, TAKE_PTR(result->profile), &result->windows,
				      &picture->filter.profile);
}

int live_picture_take(struct live_picture *picture, const struct live_request *request,
		      struct live_result *result, bool paused)
{
	int r = 0;

	drop_made(picture);
	picture->source = picture->recent;
	if (result->profile)
		r = take_recent(picture, result, paused);
	if (request->kind == LIVE_ROWS) {
		trends_free(picture->trends);
		picture->trends = TAKE_PTR(result->trends);
		picture->of_trends = *request;
	}
	live_result_done(&picture->given);
	picture->given = *result;
	picture->of_given = *request;
	*result = (struct live_result){};
	return r;
}

/* Whether that is what the screen asks for. */
static bool is_asked(const struct live_request *request, const struct live_state *state)
{
	struct live_request wanted;

	live_request_init(&wanted, state);
	return memcmp(&wanted, request, sizeof(wanted)) == 0;
}

static bool is_given(const struct live_picture *picture, const struct live_state *state)
{
	return is_asked(&picture->of_given, state);
}

static int filter_again(struct live_picture *picture, const char *text)
{
	struct fault ignored; /* of what the state refuses */

	if (strcmp(picture->filtered, text) == 0)
		return 0;
	strcpy(picture->filtered, text);
	live_filter_parse(&picture->filter, text, &ignored);
	return picture->recent->profile ?
		       profile_source_filter(picture->recent, &picture->filter.profile) :
		       0;
}

static int make_rows(struct live_picture *picture, const struct live_state *state)
{
	const struct live_screen *screen = &state->screens[state->depth];
	size_t order = state->orders[screen->by];
	struct top_settings *top = &picture->settings;
	const char *words = picture->filter.words;

	if (!picture->source->shown)
		return 0;
	top->by = screen->by;
	top->tree = top->by == VIEW_STACK ? (enum view_tree_first)order : VIEW_TREE_NONE;
	top->n_rows = top->tree && !words[0] ? TREE_ROWS : 0;
	if (top_new(&picture->top, picture->source, top) < 0)
		return -ENOMEM;
	if (picture->top->shares && is_asked(&picture->of_trends, state))
		picture->top->trends = picture->trends;
	if (order > 0)
		top_sort(picture->top, order);
	return words[0] ? top_search(picture->top, words) : 0;
}

/* To where what it follows is now; if that is gone, it stays, and says so. */
static void follow(const struct live_picture *picture, struct live_state *state)
{
	struct live_cursor *cursor = &live_screen_of(state)->cursor;
	size_t line;

	if (cursor->identity == 0 || (!picture->top && !picture->calls))
		return;
	line = picture->top ? live_line_find(picture->top, cursor->identity) :
			      live_calls_find_identity(picture->calls, cursor->identity);
	if (line != SIZE_MAX) {
		cursor->line = line;
		return;
	}
	cursor->identity = 0;
	if (!state->note[0])
		live_state_say(state, "what was at the cursor is gone");
}

void live_picture_hold(const struct live_picture *picture, struct live_state *state)
{
	struct live_cursor *cursor = &live_screen_of(state)->cursor;

	if (cursor->identity != 0 || cursor->line == 0)
		return;
	if (picture->top)
		cursor->identity = live_line_identity(picture->top, cursor->line);
	else if (picture->calls)
		cursor->identity = live_calls_identity(picture->calls, cursor->line);
}

int live_picture_make(struct live_picture *picture, struct live_state *state, bool *ret_served)
{
	const struct live_screen *screen = live_screen_of(state);
	bool given = is_given(picture, state), by_given;
	int r = filter_again(picture, screen->filter);

	drop_made(picture);
	*ret_served = given;
	if (r < 0 || (screen->kind != LIVE_ROWS && screen->kind != LIVE_CALLS))
		return r;
	by_given = state->span[0] || !picture->recent->shown;
	*ret_served = !by_given || (given && picture->given.source);
	picture->source = by_given && *ret_served ? picture->given.source : picture->recent;
	if (!*ret_served)
		return 0;
	if (screen->kind == LIVE_ROWS)
		r = make_rows(picture, state);
	else
		r = live_calls_new(&picture->calls, picture->source, &screen->subject);
	if (r >= 0)
		follow(picture, state);
	return r;
}

struct top *live_picture_top(struct live_picture *picture)
{
	return picture->top;
}

const struct profile_source *live_picture_source(const struct live_picture *picture)
{
	return picture->given.annotation ? picture->given.source : picture->source;
}

/* What the text is made of. */
struct writing {
	const struct live_picture *picture;
	const struct live_state *state;
	size_t width;
	bool colors;
};

static int write_text(FILE *f, const void *what)
{
	const struct writing *writing = what;
	const struct live_picture *picture = writing->picture;
	const struct live_screen *screen = &writing->state->screens[writing->state->depth];
	struct output output = { .f = f, .width = writing->width, .colors = writing->colors };
	const char *symbol = screen->subject.symbol;

	if (screen->kind == LIVE_CALLS)
		return live_calls_write(picture->calls, &output);
	if (screen->kind == LIVE_CODE)
		return annotation_write_table(picture->given.annotation, &output, false);
	return history_write_table(picture->given.history,
				   symbol[0] ? symbol : screen->subject.object,
				   clock_us(CLOCK_REALTIME), &output);
}

static bool has_text(const struct live_picture *picture, const struct live_state *state)
{
	switch (state->screens[state->depth].kind) {
	case LIVE_CALLS:
		return picture->calls;
	case LIVE_CODE:
		return picture->given.annotation && is_given(picture, state);
	case LIVE_HISTORY:
		return picture->given.history && is_given(picture, state);
	default:
		return false;
	}
}

const char *live_picture_text(struct live_picture *picture, const struct live_state *state,
			      size_t width, bool colors)
{
	const struct writing writing = { picture, state, width, colors };

	if (picture->text && picture->text_width == width)
		return picture->text;
	free(TAKE_PTR(picture->text));
	picture->text_width = width;
	if (has_text(picture, state))
		picture->text = text_of(write_text, &writing);
	return picture->text;
}

/* Below the text's head is one line for each instruction. */
int live_picture_hottest(const struct live_picture *picture, const struct live_state *state,
			 size_t *ret)
{
	const struct annotation *annotation = picture->given.annotation;
	size_t n_lines = 0, hottest = 0;

	if (state->screens[state->depth].kind != LIVE_CODE || !picture->text || !annotation)
		return -ENOENT;
	for (const char *text = picture->text; *text; text++)
		n_lines += *text == '\n';
	for (size_t i = 0; i < annotation->n_lines; i++)
		if (annotation->lines[i].samples > annotation->lines[hottest].samples)
			hottest = i;
	if (annotation->n_lines == 0 || annotation->lines[hottest].samples == 0 ||
	    n_lines < annotation->n_lines)
		return -ENOENT;
	*ret = n_lines - annotation->n_lines + hottest;
	return 0;
}

static void open_call(const struct live_picture *picture, struct live_state *state)
{
	struct live_screen *screen = live_screen_of(state);
	struct live_subject subject;

	if (!picture->calls || !live_calls_lead(picture->calls, screen->cursor.line, &subject))
		live_state_say(state, "there is no function in this line");
	else if (memcmp(&subject, &screen->subject, sizeof(subject)) == 0)
		live_state_say(state, "this is the function itself; go to a caller or a callee");
	else
		live_state_open(state, LIVE_CALLS, &subject);
}

void live_picture_open(const struct live_picture *picture, struct live_state *state)
{
	const struct live_screen *screen = live_screen_of(state);
	char filter[LIVE_FILTER_MAX];
	struct live_subject subject;

	if (screen->kind != LIVE_ROWS) {
		open_call(picture, state);
		return;
	}
	switch (live_line_lead(picture->top, screen->cursor.line, &subject, filter)) {
	case LIVE_LEAD_FUNCTION:
		live_state_open(state,
				screen->by == VIEW_LINE && state->opens == LIVE_CALLS ?
					LIVE_CODE :
					state->opens,
				&subject);
		return;
	case LIVE_LEAD_FILTER:
		if (state->opens == LIVE_CALLS)
			live_state_narrow(state, filter);
		else
			live_state_say(state,
				       "that is of functions: Enter shows those of this row");
		return;
	case LIVE_LEAD_NONE:
		live_state_say(state, screen->by == VIEW_LINE ?
					      "the function of this line is not known" :
					      "there is no function in this row to go to");
	}
}
