/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last five minutes as one profile, for repeated updates: it fetches each closed window once,
 * and the open window each time.
 */
#pragma once

#include <stdint.h>

#include "client/rpc/connection.h"
#include "client/rpc/windows.h"
#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct recent_profile;

/* Connects. -errno and @fault. Borrows @socket. */
int recent_profile_open(struct recent_profile **ret, const char *socket, struct fault *fault);
/* Borrows its connection, for other calls between fetches: it connects if it must. -errno and
 * @fault. */
int recent_profile_connect(struct recent_profile *recent, struct connection **ret,
			   struct fault *fault);
/* After a failure of those: the connection is of no more use. */
void recent_profile_disconnect(struct recent_profile *recent);
/* From another thread: makes a waiting recent_profile_fetch() and all later ones fail. */
void recent_profile_interrupt(struct recent_profile *recent);
struct recent_profile *recent_profile_free(struct recent_profile *recent);
DEFINE_CLEANUP(struct recent_profile *, recent_profile_free);

/*
 * *@ret is a new finalized profile of *@ret_windows. -ENODATA if there is no window. -errno and
 * @fault if the daemon fails; the next call connects again.
 */
int recent_profile_fetch(struct recent_profile *recent, uint64_t now_us, struct profile **ret,
			 struct windows *ret_windows, struct fault *fault);
