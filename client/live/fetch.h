/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a screen shows, from the daemon: one request after the other, each of which waits. The last
 * five minutes come as one profile, which serves all screens but the history; before that
 * come the counts that the first screen needs, which are soon there. Of other spans each view asks
 * for what it needs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/history/history.h"
#include "client/live/state.h"
#include "client/source/profile-source.h"
#include "client/top/annotation.h"
#include "client/top/trends.h"
#include "client/view/code-span.h"
#include "common/symbol/symbolizer.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct live_request {
	enum live_kind kind;
	enum view_by by;
	char span[LIVE_SPAN_MAX]; /* "": the last five minutes */
	char filter[LIVE_FILTER_MAX];
	struct live_subject subject;
};

/* Zeroed where it does not matter, so that equal requests are equal bytes. */
void live_request_init(struct live_request *ret, const struct live_state *state);

/* Members are NULL where the request does not give them. */
struct live_result {
	int r;                   /* 1; 0: nothing; -errno and @fault */
	bool is_lost;            /* so was the connection */
	bool is_no_span;         /* the span is none, or has no windows */
	uint64_t request;        /* the number of its request */
	struct profile *profile; /* of the last five minutes, */
	struct windows windows;  /* and its windows; or: */
	struct profile_source *source;
	bool is_fixed;         /* the span is over: the same comes every time */
	bool is_first;         /* of the last five minutes as well: their profile is yet to come */
	struct trends *trends; /* of the rows */
	struct code_span
		*span; /* of @source; the annotation refers to it, wherever the result is */
	struct annotation *annotation;
	struct history *history;
	struct fault fault;
};

void live_result_done(struct live_result *result);

struct live_fetch;

/* Connects. -errno and @fault. Borrows the strings. */
int live_fetch_open(struct live_fetch **ret, const char *socket,
		    const struct symbolizer_settings *symbols, struct fault *fault);
struct live_fetch *live_fetch_free(struct live_fetch *fetch);
DEFINE_CLEANUP(struct live_fetch *, live_fetch_free);

void live_fetch_get(struct live_fetch *fetch, const struct live_request *request,
		    struct live_result *ret);
/* From another thread: makes a waiting live_fetch_get() and all later ones fail. */
void live_fetch_interrupt(struct live_fetch *fetch);
