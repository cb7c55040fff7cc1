/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who is at the other end of a Unix socket, and what that one may see. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct peer {
	uid_t uid;
	bool privileged; /* root, the user this program runs as, or a member of the group */
};

/*
 * Asks the kernel, which knows what was so when the socket was connected. @group: whose members are
 * privileged, (gid_t)-1: none. 0 or -errno.
 */
int peer_get(struct peer *ret, int fd, gid_t group);
