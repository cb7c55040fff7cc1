/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last five minutes as one profile, brought up to date as often as one likes. Of the daemon's
 * windows each closed one is fetched once, and only the open one again and again.
 */
#pragma once

#include <stdint.h>

#include "client/windows.h"
#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct latest;

/* Connects. -errno and @fault. Borrows @socket. */
int latest_open(struct latest **ret, const char *socket, struct fault *fault);
/* Ends, from another thread, a latest_fetch() that waits for the daemon, and all further ones. */
void latest_interrupt(struct latest *latest);
struct latest *latest_free(struct latest *latest);
DEFINE_CLEANUP(struct latest *, latest_free);

/*
 * *@ret is a new sealed profile, *@ret_windows what is in it. -ENODATA where there is no window. -errno
 * and @fault where the daemon has gone; the next call tries to connect again.
 */
int latest_fetch(struct latest *latest, uint64_t now_us, struct profile **ret,
		 struct windows *ret_windows, struct fault *fault);
