/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "daemon/api/error-reply.h"
#include "daemon/api/mark-reply.h"
#include "daemon/api/reply-text.h"
#include "daemon/api/window-json.h"
#include "daemon/varlink/parameters.h"

/* What a caller asks for. */
struct range {
	int64_t since_us, until_us; /* -1: no bound */
	int64_t latest;             /* -1: all */
};

struct follower {
	struct follower *previous, *next;
	struct followers *followers;
	struct call *call;
	int64_t until_us;
};

struct followers {
	struct archive *archive;
	struct follower *first;
};

static void remove_follower(struct follower *f)
{
	if (f->previous)
		f->previous->next = f->next;
	else
		f->followers->first = f->next;
	if (f->next)
		f->next->previous = f->previous;
	free(f);
}

static void on_gone(struct call *call, void *userdata)
{
	remove_follower(userdata);
}

static int add_follower(struct followers *followers, struct call *call, int64_t until_us)
{
	struct follower *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	*f = (struct follower){
		.next = followers->first,
		.followers = followers,
		.call = call,
		.until_us = until_us,
	};
	if (f->next)
		f->next->previous = f;
	followers->first = f;
	call_on_gone(call, on_gone, f);
	return 0;
}

/* The windows, and the marks unless @store is NULL. */
static int reply_list(struct call *call, const struct window_list *list, struct store *store,
		      bool continues, struct fault *fault)
{
	struct reply_text text;
	char *bytes = NULL;
	size_t n;
	int r, finished;

	r = reply_text_open(&text, REPLY_MAX_BYTES);
	if (r < 0)
		return r;
	fputc('{', text.f);
	r = window_list_write_json(list, text.f);
	if (r >= 0 && store) {
		fputc(',', text.f);
		r = mark_reply_write_list(store, text.f, fault);
	}
	fputc('}', text.f);
	finished = reply_text_finish(&text, &bytes, &n);
	reply_text_done(&text);
	if (finished < 0 || r < 0) {
		free(bytes);
		return finished < 0 ? finished : r;
	}
	return call_reply_text(call, bytes, n, continues);
}

static int on_window(const struct window *window, void *userdata)
{
	return window_list_add(userdata, window);
}

static int add_open(struct window_list *list, struct archive *archive, const struct range *range)
{
	const struct profile *profile;
	struct window open;

	if (!archive_get_open(archive, clock_us(CLOCK_REALTIME), &open, &profile))
		return 0;
	if (range->until_us >= 0 && open.start_us >= (uint64_t)range->until_us)
		return 0;
	if (range->since_us >= 0 && open.start_us + open.length_us <= (uint64_t)range->since_us)
		return 0;
	return window_list_add(list, &open);
}

static int list_windows(struct window_list *list, struct archive *archive,
			const struct range *range, struct fault *fault)
{
	size_t surplus;
	int r;

	r = store_for_each(archive_get_store(archive), (uint64_t)MAX(range->since_us, 0),
			   range->until_us < 0 ? UINT64_MAX : (uint64_t)range->until_us, on_window,
			   list, fault);
	r = r < 0 ? r : add_open(list, archive, range);
	if (r < 0 || range->latest < 0 || list->n <= (uint64_t)range->latest)
		return r;
	surplus = list->n - (size_t)range->latest;
	list->n -= surplus;
	memmove(list->rows, list->rows + surplus, list->n * sizeof(*list->rows));
	return 0;
}

int followers_add(struct followers *followers, struct call *call)
{
	_cleanup_(window_list_done) struct window_list list = {};
	struct range range = { -1, -1, -1 };
	const struct parameter parameters[] = {
		{ "since_us", NULL, &range.since_us },
		{ "until_us", NULL, &range.until_us },
		{ "latest", NULL, &range.latest },
	};
	bool more = call_wants_more(call);
	struct fault fault = {};
	int r;

	if (!parameters_read(call, parameters, ARRAY_SIZE(parameters)))
		return 0;
	r = list_windows(&list, followers->archive, &range, &fault);
	r = r ?: reply_list(call, &list, archive_get_store(followers->archive), more, &fault);
	if (r == 0 && more)
		r = add_follower(followers, call, range.until_us);
	if (r == -EMSGSIZE || r == -ENOBUFS || r == -EBADMSG) {
		error_reply(call, r, &fault);
		return 0;
	}
	return r;
}

/* Replies with the window, or ends the call: it has passed its bound, or the reply failed. */
static void report(struct follower *f, const struct window *window)
{
	bool over = f->until_us >= 0 && window->start_us >= (uint64_t)f->until_us;
	struct window_list list = { .rows = (struct window *)window, .n = over ? 0 : 1 };
	struct call *call = f->call;
	int r = reply_list(call, &list, NULL, !over, NULL);

	if (r == 0 && !over)
		return;
	remove_follower(f);
	if (r < 0)
		error_reply(call, r, &(struct fault){});
}

void followers_on_closed(struct followers *followers, const struct window *window)
{
	struct follower *next;

	for (struct follower *f = followers->first; f; f = next) {
		next = f->next;
		report(f, window);
	}
}

int followers_new(struct followers **ret, struct archive *archive)
{
	struct followers *followers = calloc(1, sizeof(*followers));

	if (!followers)
		return -ENOMEM;
	followers->archive = archive;
	*ret = followers;
	return 0;
}

struct followers *followers_free(struct followers *followers)
{
	if (!followers)
		return NULL;
	while (followers->first) {
		call_on_gone(followers->first->call, NULL, NULL);
		remove_follower(followers->first);
	}
	free(followers);
	return NULL;
}
