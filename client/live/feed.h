/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The feed of the live view: a thread that fetches what the screen shows, every second or, of other
 * spans than the last five minutes, less often; so that keys work at once however busy the daemon
 * is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/live/fetch.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct live_feed;

/* Connects and starts to fetch @request. -errno and @fault. Borrows the strings of the others. */
int live_feed_start(struct live_feed **ret, const char *socket,
		    const struct symbolizer_settings *symbols, const struct live_request *request,
		    struct fault *fault);
struct live_feed *live_feed_stop(struct live_feed *feed);
DEFINE_CLEANUP(struct live_feed *, live_feed_stop);

/* Readable when there is a result to take. */
int live_feed_fd(const struct live_feed *feed);

/* Fetches this from now on, at once. Returns the number of the request. */
uint64_t live_feed_ask(struct live_feed *feed, const struct live_request *request);

/* The newest result, which the caller is to end with live_result_done(). Fetching goes on. */
void live_feed_take(struct live_feed *feed, struct live_result *ret);

/* A paused feed fetches nothing but a new request, once. */
void live_feed_pause(struct live_feed *feed, bool paused);
