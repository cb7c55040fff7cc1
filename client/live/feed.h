/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The feed of the live view: a thread that fetches the last five minutes every second, so that keys
 * work at once however busy the daemon is.
 */
#pragma once

#include <stdbool.h>

#include "client/rpc/windows.h"
#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct live_feed;

/* Connects and starts to fetch. -errno and @fault. Borrows @socket. */
int live_feed_start(struct live_feed **ret, const char *socket, struct fault *fault);
struct live_feed *live_feed_stop(struct live_feed *feed);
DEFINE_CLEANUP(struct live_feed *, live_feed_stop);

/* Readable when there is a result to take. */
int live_feed_fd(const struct live_feed *feed);

/*
 * 1, a finalized profile for the caller to free, and its windows; 0 if there is nothing new; -errno
 * and @fault if the last fetch failed. Fetching goes on.
 */
int live_feed_take(struct live_feed *feed, struct profile **ret, struct windows *ret_windows,
		   struct fault *fault);

/* A paused feed fetches nothing. */
void live_feed_pause(struct live_feed *feed, bool paused);
