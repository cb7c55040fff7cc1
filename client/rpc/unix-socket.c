/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/unix-socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/util/cleanup.h"

static int set_address(struct sockaddr_un *ret, const char *path, struct fault *fault)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path))
		return fault_set(fault, -ENAMETOOLONG,
				 "%s: the path of the socket is longer than %zu characters", path,
				 sizeof(ret->sun_path) - 1);
	strcpy(ret->sun_path, path);
	return 0;
}

static int explain(const char *path, int error, struct fault *fault)
{
	if (error == ENOENT || error == ECONNREFUSED)
		return fault_set(
			fault, -error,
			"the daemon is not running (%s: %s): start it with systemctl start "
			"branchd, or give the path of a recording",
			path, strerror(error));
	if (error == EACCES || error == EPERM)
		return fault_set(fault, -error,
				 "%s: %s: join the group branchd (usermod -aG branchd USER, then "
				 "log in again), or run branchctl as root",
				 path, strerror(error));
	if (error == EAGAIN)
		return fault_set(fault, -error,
				 "%s: the daemon is busy with other clients; try again", path);
	return fault_set(fault, -error, "%s: %s", path, strerror(error));
}

int unix_socket_connect(int *ret, const char *path, struct fault *fault)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_un address;
	int r = set_address(&address, path, fault);

	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return explain(path, errno, fault);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return explain(path, errno, fault);
	*ret = fd;
	fd = -1;
	return 0;
}
