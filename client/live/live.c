/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/live/feed.h"
#include "client/live/page.h"
#include "client/live/state.h"
#include "client/source/profile-source.h"
#include "client/term/color.h"
#include "client/term/screen.h"
#include "client/top/top-order.h"
#include "client/top/top.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define WAIT_MS   60000
#define TREE_ROWS 200 /* the hottest ones; nobody scrolls further */

struct live {
	struct live_settings settings; /* .top follows @state */
	struct live_state state;
	struct live_filter filter;
	struct live_feed *feed;
	struct profile_source *source;
	struct top *top; /* NULL: nothing yet */
	struct screen *screen;
	struct fault filter_fault, daemon_fault;
};

static int make_rows(struct live *live)
{
	const struct live_state *state = &live->state;
	struct top_settings *top = &live->settings.top;
	size_t order = state->orders[state->by];

	live->top = top_free(live->top);
	if (!live->source->shown)
		return 0;
	top->by = state->by;
	top->tree = state->by == VIEW_STACK ? (enum view_tree_first)order : VIEW_TREE_NONE;
	top->n_rows = top->tree && !live->filter.words[0] ? TREE_ROWS : 0;
	if (top_new(&live->top, live->source, top) < 0)
		return -ENOMEM;
	if (order > 0)
		top_sort(live->top, order);
	return live->filter.words[0] ? top_search(live->top, live->filter.words) : 0;
}

static int filter_again(struct live *live)
{
	int r;

	live->filter_fault.text[0] = '\0';
	live->top = top_free(live->top);
	live_filter_parse(&live->filter, live->state.filter, &live->filter_fault);
	if (!live->source->profile)
		return 0;
	r = profile_source_filter(live->source, &live->filter.profile);
	return r < 0 ? r : make_rows(live);
}

/* If a fetch fails, the last rows stay, with the fault below them. */
static int take(struct live *live)
{
	struct windows windows = {};
	struct profile *profile;
	int r = live_feed_take(live->feed, &profile, &windows, &live->daemon_fault);

	if (r <= 0)
		return 0;
	live->daemon_fault.text[0] = '\0';
	if (live->state.paused) { /* fetched before the pause */
		profile_free(profile);
		windows_done(&windows);
		return 0;
	}
	live->top = top_free(live->top);
	r = profile_source_replace(live->source, profile, &windows, &live->filter.profile);
	return r < 0 ? r : make_rows(live);
}

static struct live_page page_of(struct live *live)
{
	return (struct live_page){
		.state = &live->state,
		.source = live->source,
		.top = live->top,
		.error = live->daemon_fault.text[0] ? live->daemon_fault.text :
						      live->filter_fault.text,
		.now_us = clock_us(CLOCK_REALTIME),
		.n_rows = screen_rows(live->screen),
		.n_columns = screen_columns(live->screen),
		.colors = color_wanted(live->settings.color, true),
	};
}

static int draw(struct live *live)
{
	struct live_page page = page_of(live);
	_cleanup_free_ char *text = NULL;

	live_state_clamp(&live->state, live_page_room(&page), live_page_n_lines(&page));
	text = live_page_format(&page);
	if (!text)
		return -ENOMEM;
	screen_show(live->screen, text, live->state.typing);
	return 0;
}

static int take_step(struct live *live, enum live_step step)
{
	int r = 0;

	if (step == LIVE_VIEW)
		r = make_rows(live);
	else if (step == LIVE_FILTER)
		r = filter_again(live);
	else if (step == LIVE_PAUSE)
		live_feed_pause(live->feed, live->state.paused);
	else if (step == LIVE_TAKE)
		r = take(live);
	return r < 0 || step == LIVE_NOTHING ? r : draw(live);
}

static int run(struct live *live)
{
	enum live_step step = LIVE_DRAW;
	int r, key;

	while ((r = take_step(live, step)) >= 0) {
		struct live_page page = page_of(live);

		key = screen_read_key(live->screen, live_feed_fd(live->feed), WAIT_MS);
		step = live_state_press(&live->state, key, live_page_room(&page),
					live_page_n_lines(&page));
		if (step == LIVE_END)
			break;
	}
	return r;
}

static int open_all(struct live *live, struct fault *fault)
{
	bool colors = color_wanted(live->settings.color, true);
	int r;

	r = live_feed_start(&live->feed, live->settings.socket, fault);
	if (r < 0)
		return r;
	r = profile_source_new(&live->source, &live->settings.symbols);
	if (r < 0)
		return fault_set(fault, r, "%s", strerror(-r));
	live_filter_format(live->state.filter, &live->settings.filter);
	live_filter_parse(&live->filter, live->state.filter, &live->filter_fault);
	live->state.by = live->settings.top.by;
	live->state.orders[VIEW_STACK] = live->settings.top.tree;
	if (live->settings.order > 0)
		live->state.orders[live->state.by] = live->settings.order;
	return screen_open(&live->screen, colors, fault);
}

static void live_done(struct live *live)
{
	screen_close(live->screen);
	top_free(live->top);
	profile_source_free(live->source);
	live_feed_stop(live->feed);
}

int live_run(const struct live_settings *settings, struct fault *fault)
{
	_cleanup_(live_done) struct live live = { .settings = *settings };
	int r;

	r = open_all(&live, fault);
	if (r < 0)
		return r;
	r = run(&live);
	return r < 0 ? fault_set(fault, r, "%s", strerror(-r)) : 0;
}
