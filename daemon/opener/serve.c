/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/opener/serve.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/util/macro.h"
#include "daemon/opener/maps-copy.h"
#include "daemon/opener/messages.h"
#include "daemon/opener/open-file.h"
#include "daemon/opener/open-jit-map.h"

#define ALARM_SECONDS 10
#define SEND_US       (ALARM_SECONDS * 1000000ull)

struct reply {
	struct opener_reply head;
	char path[4096];
};

/* The path of @message, which must end with its NUL; NULL if it does not. */
static const char *get_path(const struct channel_message *message)
{
	size_t n = message->n_bytes - sizeof(struct opener_request);
	const char *path = (const char *)message->bytes + sizeof(struct opener_request);

	return n > 0 && path[n - 1] == '\0' ? path : NULL;
}

static int answer(int to, const struct channel_message *message)
{
	struct channel_message m = { .type = OPENER_REPLY };
	struct reply reply = {};
	struct opener_request request;
	const char *path;
	int fd, r;

	if (message->n_bytes < sizeof(request) || message->n_fds > 0)
		return -EBADMSG;
	memcpy(&request, message->bytes, sizeof(request));
	path = get_path(message);
	if (message->type == OPENER_MAPS)
		fd = maps_copy(request.pid, reply.path, sizeof(reply.path));
	else if (message->type == OPENER_JIT)
		fd = open_jit_map(&request, &reply.head.identity);
	else if (message->type == OPENER_OPEN && path)
		fd = open_file(&request, path, &reply.head.identity);
	else
		return -EBADMSG;
	reply.head.error = MIN(fd, 0);
	m.bytes = &reply;
	m.n_bytes = sizeof(reply.head) + strlen(reply.path) + 1;
	if (fd >= 0)
		m.fds[m.n_fds++] = fd;
	r = channel_send(to, &m, channel_deadline(SEND_US));
	if (fd >= 0)
		close(fd);
	return r;
}

/* Answers one request. -EPIPE: the connection has ended. */
static int serve(int fd)
{
	struct channel_message message;
	int r = channel_receive(fd, OPENER_MAX_BYTES, CHANNEL_NO_DEADLINE, &message);

	if (r < 0)
		return r;
	alarm(ALARM_SECONDS);
	r = answer(fd, &message);
	alarm(0);
	channel_message_done(&message);
	return r;
}

static int say_ready(int fd)
{
	const struct channel_message message = { .type = OPENER_READY };

	return channel_send(fd, &message, channel_deadline(SEND_US));
}

int serve_requests(int fd)
{
	int r = say_ready(fd);

	while (r >= 0)
		r = serve(fd);
	return r == -EPIPE ? 0 : r;
}
