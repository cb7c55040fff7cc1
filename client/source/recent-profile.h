/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last five minutes as one profile, brought up to date as often as one likes. Of the daemon's
 * windows each closed one is fetched once, and only the open one again and again.
 */
#pragma once

#include <stdint.h>

#include "client/rpc/windows.h"
#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct recent_profile;

/* Connects. -errno and @fault. Borrows @socket. */
int recent_profile_open(struct recent_profile **ret, const char *socket, struct fault *fault);
/* Ends, from another thread, a recent_profile_fetch() that waits for the daemon, and all further
 * ones. */
void recent_profile_interrupt(struct recent_profile *recent);
struct recent_profile *recent_profile_free(struct recent_profile *recent);
DEFINE_CLEANUP(struct recent_profile *, recent_profile_free);

/*
 * *@ret is a new sealed profile, *@ret_windows what is in it. -ENODATA where there is no window.
 * -errno and @fault where the daemon has gone; the next call tries to connect again.
 */
int recent_profile_fetch(struct recent_profile *recent, uint64_t now_us, struct profile **ret,
			 struct windows *ret_windows, struct fault *fault);
