/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/parser/lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/parser/message.h"

#define WAIT_US 20000000 /* seconds on an emulated machine */

/* The signal is for a change of the pipe, and nobody writes: it means the end. */
static int tie(int fd)
{
	struct pollfd pipe = { .fd = fd, .events = POLLIN };

	if (fcntl(fd, F_SETSIG, SIGKILL) < 0 || fcntl(fd, F_SETOWN, getpid()) < 0 ||
	    fcntl(fd, F_SETFL, O_ASYNC) < 0)
		return -errno;
	/* the end may have come before */
	return poll(&pipe, 1, 0) == 0 ? 0 : -EPIPE;
}

int lifeline_take(int connection_fd, int fd)
{
	struct channel_message message;
	int r = channel_receive(connection_fd, 0, channel_deadline(WAIT_US), &message);

	if (r < 0)
		return r;
	if (message.type != PARSER_LIFELINE || message.n_fds != 1)
		r = -EBADMSG;
	if (r >= 0 && dup2(message.fds[0], fd) < 0)
		r = -errno;
	channel_message_done(&message);
	return r < 0 ? r : tie(fd);
}
