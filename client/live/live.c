/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/live/feed.h"
#include "client/live/page.h"
#include "client/live/picture.h"
#include "client/live/state.h"
#include "client/term/color.h"
#include "client/term/screen.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define WAIT_MS    60000
#define NOTE_TAKES 5 /* results, so seconds, that a note stays without a key */

struct live {
	const struct live_settings *settings;
	struct live_state state;
	struct live_request asked;
	uint64_t n_asked;         /* the number of that request */
	char span[LIVE_SPAN_MAX]; /* the last one that was not refused */
	struct live_feed *feed;
	struct live_picture *picture;
	struct screen *screen;
	struct fault fault;   /* of the daemon */
	bool served;          /* else the daemon has yet to send what the screen shows */
	bool is_lost;         /* the connection */
	unsigned int n_takes; /* since the note was new */
};

/* Makes what the screen shows now, and asks the daemon for it if that is something else. */
static int refresh(struct live *live)
{
	struct live_request request;

	live_request_init(&request, &live->state);
	if (memcmp(&request, &live->asked, sizeof(request)) != 0) {
		live->asked = request;
		live->n_asked = live_feed_ask(live->feed, &request);
		live->fault.text[0] = '\0';
	}
	return live_picture_make(live->picture, &live->state, &live->served);
}

static void age_note(struct live *live)
{
	if (live->state.note[0] && ++live->n_takes >= NOTE_TAKES)
		live->state.note[0] = '\0';
}

/* A span that was typed, and is none or has no windows, is refused: the one before stays. */
static bool is_refused(const struct live *live, const struct live_result *result)
{
	return result->is_no_span && !live_span_is_offered(live->asked.span) &&
	       strcmp(live->asked.span, live->span) != 0;
}

static int refuse_span(struct live *live, const struct live_result *result)
{
	live_state_say(&live->state, "%s", result->fault.text);
	strcpy(live->state.span, live->span);
	return refresh(live);
}

/* The last picture stays, with the fault below it. */
static int take_failure(struct live *live, const struct live_result *result)
{
	if (is_refused(live, result))
		return refuse_span(live, result);
	live->fault = result->fault;
	if (!result->is_lost)
		strcpy(live->span, live->asked.span);
	return 0;
}

static int take_success(struct live *live, struct live_result *result)
{
	int r;

	live->fault.text[0] = '\0';
	strcpy(live->span, live->asked.span);
	if (live->is_lost && !live->state.note[0])
		live_state_say(&live->state, "connected again");
	live->is_lost = false;
	r = live_picture_take(live->picture, &live->asked, result, live->state.paused);
	return r < 0 ? r : refresh(live);
}

static int take(struct live *live)
{
	struct live_result result;
	int r = 0;

	live_feed_take(live->feed, &result);
	age_note(live);
	live->is_lost |= result.is_lost;
	if (result.request == live->n_asked && result.r != 0)
		r = result.r < 0 ? take_failure(live, &result) : take_success(live, &result);
	live_result_done(&result);
	return r;
}

static struct live_page page_of(struct live *live)
{
	size_t n_columns = screen_columns(live->screen);
	bool colors = color_wanted(live->settings->color, true);

	return (struct live_page){
		.state = &live->state,
		.source = live_picture_source(live->picture),
		.host = live->settings->host,
		.top = live_picture_top(live->picture),
		.body = live_picture_text(live->picture, &live->state, n_columns, colors),
		.error = live->fault.text,
		.waiting = !live->served,
		.now_us = clock_us(CLOCK_REALTIME),
		.n_rows = screen_rows(live->screen),
		.n_columns = n_columns,
		.colors = colors,
	};
}

static int draw(struct live *live)
{
	struct live_page page = page_of(live);
	struct live_cursor *cursor = &live_screen_of(&live->state)->cursor;
	_cleanup_free_ char *text = NULL;
	size_t line;

	if (live->served && live_picture_hottest(live->picture, &live->state, &line) >= 0)
		live_cursor_place(cursor, line, live_page_room(&page));
	if (!live->state.help && live->served)
		live_cursor_clamp(cursor, live_page_room(&page), live_page_n_lines(&page));
	live_picture_hold(live->picture, &live->state);
	text = live_page_format(&page);
	if (!text)
		return -ENOMEM;
	screen_show(live->screen, text, live->state.prompt != LIVE_PROMPT_NONE);
	return 0;
}

static int take_step(struct live *live, enum live_step step)
{
	int r = 0;

	if (step != LIVE_TAKE)
		live->n_takes = 0;
	if (step == LIVE_OPEN)
		live_picture_open(live->picture, &live->state);
	if (step == LIVE_PAUSE)
		live_feed_pause(live->feed, live->state.paused);
	if (step == LIVE_TAKE)
		r = take(live);
	else if (step != LIVE_DRAW)
		r = refresh(live);
	return r < 0 ? r : draw(live);
}

static int run(struct live *live)
{
	enum live_step step = LIVE_VIEW;
	int r;

	while ((r = take_step(live, step)) >= 0) {
		struct live_page page = page_of(live);
		int key = screen_read_key(live->screen, live_feed_fd(live->feed), WAIT_MS);

		step = live_state_press(&live->state, key, live_page_room(&page),
					live_page_n_lines(&page));
		if (step == LIVE_END)
			break;
	}
	return r;
}

static int open_all(struct live *live, struct fault *fault)
{
	const struct live_settings *settings = live->settings;
	struct live_screen *screen = live_screen_of(&live->state);
	int r;

	live_filter_format(screen->filter, &settings->filter);
	r = live_filter_parse(&(struct live_filter){}, screen->filter, fault);
	if (r < 0)
		return r;
	screen->by = settings->top.by;
	live->state.orders[VIEW_STACK] = settings->top.tree;
	if (settings->order > 0)
		live->state.orders[screen->by] = settings->order;
	live_request_init(&live->asked, &live->state);
	live->n_asked = 1;
	r = live_feed_start(&live->feed, settings->socket, &settings->symbols, &live->asked, fault);
	if (r < 0)
		return r;
	r = live_picture_new(&live->picture, &settings->symbols, &settings->top);
	if (r < 0)
		return fault_set(fault, r, "%s", strerror(-r));
	return screen_open(&live->screen, color_wanted(settings->color, true), fault);
}

static void live_done(struct live *live)
{
	screen_close(live->screen);
	live_picture_free(live->picture);
	live_feed_stop(live->feed);
}

int live_run(const struct live_settings *settings, struct fault *fault)
{
	_cleanup_(live_done) struct live live = { .settings = settings };
	int r;

	r = open_all(&live, fault);
	if (r < 0)
		return r;
	r = run(&live);
	return r < 0 ? fault_set(fault, r, "%s", strerror(-r)) : 0;
}
