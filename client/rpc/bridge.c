/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "client/rpc/unix-socket.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* One direction: what was read, and is not yet written. */
struct flow {
	int from, to;
	size_t start, end;
	char bytes[1 << 16];
};

/* 1; 0 at the end of the input; -errno. */
static int move(struct flow *flow)
{
	bool reads = flow->start == flow->end;
	ssize_t n;

	if (reads) {
		n = read(flow->from, flow->bytes, sizeof(flow->bytes));
		flow->start = 0;
		flow->end = n > 0 ? (size_t)n : 0;
	} else {
		n = write(flow->to, flow->bytes + flow->start, flow->end - flow->start);
		flow->start += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 1 : -errno;
	return n > 0 || !reads;
}

/* What the flow waits for. */
static struct pollfd waits_for(const struct flow *flow)
{
	if (flow->start == flow->end)
		return (struct pollfd){ .fd = flow->from, .events = POLLIN };
	return (struct pollfd){ .fd = flow->to, .events = POLLOUT };
}

static int copy(struct flow flows[2])
{
	for (;;) {
		struct pollfd fds[] = { waits_for(&flows[0]), waits_for(&flows[1]) };

		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno != EINTR)
				return -errno;
			continue;
		}
		for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
			int r = fds[i].revents ? move(&flows[i]) : 1;

			if (r <= 0)
				return r;
		}
	}
}

static void set_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int bridge_run(const char *path, struct fault *fault)
{
	static struct flow flows[2]; /* too large for a stack */
	_cleanup_close_ int fd = -1;
	int r = unix_socket_connect(&fd, path, fault);

	if (r < 0)
		return r;
	signal(SIGPIPE, SIG_IGN);
	set_nonblocking(STDIN_FILENO);
	set_nonblocking(STDOUT_FILENO);
	flows[0] = (struct flow){ .from = STDIN_FILENO, .to = fd };
	flows[1] = (struct flow){ .from = fd, .to = STDOUT_FILENO };
	r = copy(flows);
	if (r == -EPIPE || r == -ECONNRESET)
		return 0; /* closed while something was under way */
	return r < 0 ? fault_set(fault, r, "%s: %s", path, strerror(-r)) : 0;
}
