/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What feeds the live view: a thread that fetches the last five minutes again and again, so that
 * keys are answered at once however busy the daemon is.
 */
#pragma once

#include <stdbool.h>

#include "client/rpc/windows.h"
#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct live_feed;

/* Connects, then fetches. -errno and @fault. Borrows @socket. */
int live_feed_start(struct live_feed **ret, const char *socket, struct fault *fault);
struct live_feed *live_feed_stop(struct live_feed *feed);
DEFINE_CLEANUP(struct live_feed *, live_feed_stop);

/* Readable where there is something to take. */
int live_feed_fd(const struct live_feed *feed);

/*
 * 1, a sealed profile that is the caller's, and the windows in it; 0 where there is nothing new;
 * -errno and @fault where the last attempt to fetch has failed. Attempts go on.
 */
int live_feed_take(struct live_feed *feed, struct profile **ret, struct windows *ret_windows,
		   struct fault *fault);

/* While it is paused nothing is fetched. */
void live_feed_pause(struct live_feed *feed, bool paused);
