/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/channel/channel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/util/clock.h"

struct header {
	uint32_t type;
	uint32_t n_fds;
	uint32_t n_bytes;
};

/* One end of a transfer: what is left of it, and until when. */
struct transfer {
	int fd;
	uint64_t deadline_ns;
	char *bytes;
	size_t n_bytes;
	int *fds; /* travel with the first byte */
	uint32_t n_fds;
};

union control {
	char bytes[CMSG_SPACE(sizeof(int) * CHANNEL_FDS_MAX)];
	struct cmsghdr align;
};

uint64_t channel_deadline(uint64_t after_us)
{
	return clock_ns(CLOCK_MONOTONIC) + after_us * 1000;
}

/* Waits for @events. 0, -ETIMEDOUT, or another -errno. */
static int wait_for(const struct transfer *t, short events)
{
	struct pollfd poll_fd = { .fd = t->fd, .events = events };
	struct timespec timeout, *limit = NULL;
	int r;

	if (t->deadline_ns != CHANNEL_NO_DEADLINE) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now >= t->deadline_ns)
			return -ETIMEDOUT;
		timeout.tv_sec = (time_t)((t->deadline_ns - now) / 1000000000);
		timeout.tv_nsec = (long)((t->deadline_ns - now) % 1000000000);
		limit = &timeout;
	}
	r = ppoll(&poll_fd, 1, limit, NULL);
	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	return r > 0 ? 0 : -ETIMEDOUT;
}

/* Sends header and bytes by one call where they fit: so the receiver wakes up once. */
static int send_all(struct transfer *t, struct iovec *parts, size_t n_parts)
{
	while (n_parts > 0) {
		struct msghdr m = { .msg_iov = parts, .msg_iovlen = n_parts };
		union control control = {};
		ssize_t n;

		if (t->n_fds > 0) {
			struct cmsghdr *c;

			m.msg_control = control.bytes;
			m.msg_controllen = CMSG_SPACE(sizeof(int) * t->n_fds);
			c = CMSG_FIRSTHDR(&m);
			c->cmsg_level = SOL_SOCKET;
			c->cmsg_type = SCM_RIGHTS;
			c->cmsg_len = CMSG_LEN(sizeof(int) * t->n_fds);
			memcpy(CMSG_DATA(c), t->fds, sizeof(int) * t->n_fds);
		}
		n = sendmsg(t->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0) {
			int r = errno == EAGAIN ? wait_for(t, POLLOUT) : -errno;

			if (r == -ECONNRESET)
				r = -EPIPE;
			if (r < 0 && r != -EINTR)
				return r;
			continue;
		}
		t->n_fds = 0;
		for (; n_parts > 0 && (size_t)n >= parts->iov_len; parts++, n_parts--)
			n -= (ssize_t)parts->iov_len;
		if (n_parts > 0) {
			parts->iov_base = (char *)parts->iov_base + n;
			parts->iov_len -= (size_t)n;
		}
	}
	return 0;
}

/* Appends the descriptors that came with a part to those of @t. */
static int take_fds(struct transfer *t, struct msghdr *m)
{
	int r = m->msg_flags & MSG_CTRUNC ? -EBADMSG : 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (t->fds && t->n_fds < CHANNEL_FDS_MAX) {
				t->fds[t->n_fds++] = fd;
			} else {
				close(fd);
				r = -EBADMSG;
			}
		}
	}
	return r;
}

static int receive_all(struct transfer *t)
{
	while (t->n_bytes > 0) {
		struct iovec part = { .iov_base = t->bytes, .iov_len = t->n_bytes };
		union control control;
		struct msghdr m = {
			.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = control.bytes,
			.msg_controllen = sizeof(control.bytes),
		};
		/* one call waits and receives, unless the socket does not block */
		int wait = t->deadline_ns == CHANNEL_NO_DEADLINE ? 0 : MSG_DONTWAIT;
		ssize_t n = recvmsg(t->fd, &m, wait | MSG_CMSG_CLOEXEC);
		int r;

		if (n < 0) {
			r = errno == EAGAIN ? wait_for(t, POLLIN) : -errno;
			if (r == -ECONNRESET)
				r = -EPIPE;
			if (r < 0 && r != -EINTR)
				return r;
			continue;
		}
		r = take_fds(t, &m);
		if (r < 0)
			return r;
		if (n == 0)
			return -EPIPE;
		t->bytes += n;
		t->n_bytes -= (size_t)n;
	}
	return 0;
}

int channel_send(int fd, const struct channel_message *message, uint64_t deadline_ns)
{
	struct header header = {
		.type = message->type,
		.n_fds = message->n_fds,
		.n_bytes = (uint32_t)message->n_bytes,
	};
	struct iovec parts[] = {
		{ .iov_base = &header, .iov_len = sizeof(header) },
		{ .iov_base = message->bytes, .iov_len = message->n_bytes },
	};
	struct transfer t = {
		.fd = fd,
		.deadline_ns = deadline_ns,
		.fds = (int *)message->fds,
		.n_fds = message->n_fds,
	};

	if (message->n_bytes > UINT32_MAX)
		return -EMSGSIZE;
	return send_all(&t, parts, ARRAY_SIZE(parts));
}

static int receive(int fd, size_t max_bytes, uint64_t deadline_ns, struct channel_message *ret)
{
	struct header header;
	struct transfer t = {
		.fd = fd,
		.deadline_ns = deadline_ns,
		.bytes = (char *)&header,
		.n_bytes = sizeof(header),
		.fds = ret->fds,
	};
	int r = receive_all(&t);

	ret->n_fds = t.n_fds;
	if (r < 0)
		return r;
	if (header.n_fds != t.n_fds)
		return -EBADMSG;
	if (header.n_bytes > max_bytes)
		return -EMSGSIZE;
	ret->type = header.type;
	ret->n_bytes = header.n_bytes;
	if (header.n_bytes == 0)
		return 0;
	ret->bytes = malloc(header.n_bytes);
	if (!ret->bytes)
		return -ENOMEM;
	t.fds = NULL; /* all came with the header */
	t.bytes = ret->bytes;
	t.n_bytes = ret->n_bytes;
	return receive_all(&t);
}

int channel_receive(int fd, size_t max_bytes, uint64_t deadline_ns, struct channel_message *ret)
{
	int r;

	*ret = (struct channel_message){};
	r = receive(fd, max_bytes, deadline_ns, ret);
	if (r < 0)
		channel_message_done(ret);
	return r;
}

void channel_message_done(struct channel_message *message)
{
	for (size_t i = 0; i < message->n_fds; i++) {
		if (message->fds[i] >= 0)
			close(message->fds[i]);
	}
	free(message->bytes);
	*message = (struct channel_message){};
}

int channel_message_take_fd(struct channel_message *message, size_t i)
{
	int fd;

	if (i >= message->n_fds)
		return -1;
	fd = message->fds[i];
	message->fds[i] = -1;
	return fd;
}
