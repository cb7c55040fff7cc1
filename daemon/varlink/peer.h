/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The user at the other end of a Unix socket, and what they may see. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct peer {
	uid_t uid;
	bool privileged; /* root, the user this program runs as, or a member of the group */
	bool is_root;    /* one of the first two */
};

/*
 * Asks the kernel for the peer at the time of connecting. Members of @group are privileged;
 * (gid_t)-1: no group. 0 or -errno.
 */
int peer_get(struct peer *ret, int fd, gid_t group);
