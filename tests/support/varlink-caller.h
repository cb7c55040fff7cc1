/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A caller for tests: it and the server share one thread, so that every wait runs the server's
 * event loop. What it sends and receives is text.
 */
#pragma once

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>
#include <systemd/sd-event.h>

#include "common/protocol/framing.h"
#include "daemon/varlink/server.h"

#define CALLER_MAX_REPLY (1u << 30)

struct caller {
	int fd;
	sd_event *event;
	struct framing in;
	bool closed; /* by the server */
};

/* @fd is the caller's end, which it takes over. */
static inline void caller_init(struct caller *caller, sd_event *event, int fd)
{
	*caller = (struct caller){ .fd = fd, .event = event };
	framing_init(&caller->in, CALLER_MAX_REPLY);
}

/* One who is connected to the server already, over a pair of sockets. */
static inline struct caller caller_connect(struct server *server, sd_event *event)
{
	struct caller caller;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(server_add_connection(server, fds[0]), 0);
	caller_init(&caller, event, fds[1]);
	return caller;
}

static inline void caller_done(struct caller *caller)
{
	if (caller->fd >= 0)
		close(caller->fd);
	caller->fd = -1;
	framing_done(&caller->in);
}

/* Lets the server do all it has to do at this moment, and what comes within @wait_us. */
static inline void caller_run(sd_event *event, uint64_t wait_us)
{
	for (int i = 0; i < 10000 && sd_event_run(event, i == 0 ? wait_us : 0) > 0; i++)
		;
}

/* What of @n bytes the socket takes now; 0 too where the server has closed it. */
static inline size_t caller_send_some(struct caller *caller, const void *bytes, size_t n)
{
	ssize_t r = send(caller->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (r < 0 && errno != EAGAIN)
		caller->closed = true;
	return r < 0 ? 0 : (size_t)r;
}

static inline void caller_send(struct caller *caller, const void *bytes, size_t n)
{
	const char *s = bytes;

	while (n > 0 && !caller->closed) {
		size_t sent = caller_send_some(caller, s, n);

		s += sent;
		n -= sent;
		if (n > 0)
			caller_run(caller->event, 1000);
	}
}

/* Sends a message and its NUL. */
static inline void caller_say(struct caller *caller, const char *text)
{
	caller_send(caller, text, strlen(text) + 1);
}

/* Receives what is there: true if it was something. */
static inline bool caller_receive(struct caller *caller)
{
	size_t n_room;
	ssize_t n;
	char *room;
	int r = framing_reserve(&caller->in, &room, &n_room);

	assert(r == 0);
	n = recv(caller->fd, room, n_room, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN))
		caller->closed = true;
	if (n > 0)
		framing_fill(&caller->in, (size_t)n);
	return n > 0;
}

/* The next reply, as it came; NULL if the server closed, or none came in @wait_ms. */
static inline const char *caller_hear_within(struct caller *caller, unsigned int wait_ms)
{
	char *text;
	size_t n;

	for (unsigned int i = 0; i < wait_ms; i++) {
		if (framing_next(&caller->in, &text, &n) > 0)
			return text;
		while (!caller->closed && caller_receive(caller)) {
			if (framing_next(&caller->in, &text, &n) > 0)
				return text;
		}
		if (caller->closed)
			return NULL;
		caller_run(caller->event, 1000);
	}
	return NULL;
}

static inline const char *caller_hear(struct caller *caller)
{
	return caller_hear_within(caller, 10000);
}

/* Calls and gives the reply, the receiver's; NULL if there was none. */
static inline json_t *caller_call(struct caller *caller, const char *text)
{
	const char *reply;

	caller_say(caller, text);
	reply = caller_hear(caller);
	return reply ? json_loads(reply, 0, NULL) : NULL;
}

/* True once the server has closed the connection, which it is given @wait_ms for. */
static inline bool caller_is_closed(struct caller *caller, unsigned int wait_ms)
{
	for (unsigned int i = 0; i < wait_ms && !caller->closed; i++) {
		caller_run(caller->event, 1000);
		while (!caller->closed && caller_receive(caller))
			;
	}
	return caller->closed;
}
