/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/varlink/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/util/cleanup.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59 /* Linux 4.13 */
#endif

/* Whether @group is among the supplementary groups: 1 or 0, or -errno. */
static int has_group(int fd, gid_t group)
{
	_cleanup_free_ gid_t *groups = NULL;
	socklen_t n_bytes = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &n_bytes) < 0 && errno != ERANGE)
		return errno == ENOPROTOOPT ? 0 : -errno;
	if (n_bytes == 0)
		return 0;
	groups = malloc(n_bytes);
	if (!groups)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &n_bytes) < 0)
		return -errno;
	for (size_t i = 0; i < n_bytes / sizeof(*groups); i++)
		if (groups[i] == group)
			return 1;
	return 0;
}

int peer_get(struct peer *ret, int fd, gid_t group)
{
	struct ucred ucred;
	socklen_t n_bytes = sizeof(ucred);
	int r = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ucred, &n_bytes) < 0)
		return -errno;
	if (group != (gid_t)-1)
		r = ucred.gid == group ? 1 : has_group(fd, group);
	if (r < 0)
		return r;
	*ret = (struct peer){
		.uid = ucred.uid,
		.is_root = ucred.uid == 0 || ucred.uid == geteuid(),
	};
	ret->privileged = ret->is_root || r > 0;
	return 0;
}
