/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/varlink/outbox.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "common/util/array.h"

#define MAX_PIECES_AT_ONCE 16
/* A reader as fast as the sender must not keep the sender from its other work. */
#define MAX_BYTES_AT_ONCE  (1u << 20)

void outbox_done(struct outbox *outbox)
{
	for (size_t i = outbox->first; i < outbox->n_pieces; i++)
		free(outbox->pieces[i].bytes);
	free(outbox->pieces);
	*outbox = (struct outbox){};
}

int outbox_reserve(struct outbox *outbox, size_t n)
{
	size_t n_left = outbox->n_pieces - outbox->first;

	if (outbox->first > 0) {
		memmove(outbox->pieces, outbox->pieces + outbox->first,
			n_left * sizeof(*outbox->pieces));
		outbox->first = 0;
		outbox->n_pieces = n_left;
	}
	return ARRAY_RESERVE(&outbox->pieces, &outbox->cap_pieces, n_left + n);
}

void outbox_add(struct outbox *outbox, char *bytes, size_t n)
{
	assert(outbox->n_pieces < outbox->cap_pieces);
	outbox->pieces[outbox->n_pieces++] = (struct outbox_piece){ bytes, n };
	outbox->n_bytes += n;
}

static void drop_sent(struct outbox *outbox, size_t n)
{
	outbox->n_bytes -= n;
	outbox->n_sent += n;
	while (outbox->first < outbox->n_pieces &&
	       outbox->n_sent >= outbox->pieces[outbox->first].n) {
		outbox->n_sent -= outbox->pieces[outbox->first].n;
		free(outbox->pieces[outbox->first++].bytes);
	}
	if (outbox->first == outbox->n_pieces)
		outbox->first = outbox->n_pieces = 0;
}

static ssize_t send_some(const struct outbox *outbox, int fd)
{
	struct iovec iov[MAX_PIECES_AT_ONCE];
	struct msghdr message = { .msg_iov = iov };
	size_t skip = outbox->n_sent;

	for (size_t i = outbox->first; i < outbox->n_pieces; i++) {
		if (message.msg_iovlen == MAX_PIECES_AT_ONCE)
			break;
		iov[message.msg_iovlen++] = (struct iovec){
			.iov_base = outbox->pieces[i].bytes + skip,
			.iov_len = outbox->pieces[i].n - skip,
		};
		skip = 0;
	}
	return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int outbox_send(struct outbox *outbox, int fd)
{
	size_t n_sent = 0;
	ssize_t n;

	while (outbox->n_bytes > 0 && n_sent < MAX_BYTES_AT_ONCE) {
		n = send_some(outbox, fd);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		drop_sent(outbox, (size_t)n);
		n_sent += (size_t)n;
	}
	return 0;
}
