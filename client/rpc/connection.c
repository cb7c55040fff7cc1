/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reply is {"parameters": {...}, "continues": false} or {"error": NAME, "parameters": {...}}. The
 * parameters may be a profile of many megabytes: the caller gets their text and parses it.
 */
#include "client/rpc/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client/rpc/json-member.h"
#include "client/rpc/ssh.h"
#include "client/rpc/unix-socket.h"
#include "common/protocol/framing.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define MAX_REPLY_BYTES (1UL << 30)
#define TIMEOUT_MS      30000

struct connection {
	int fd;
	int timeout_ms;
	const char *name; /* for messages: the path of the socket, or the host */
	struct ssh *ssh;  /* NULL: this machine's socket */
	struct framing framing;
};

int connection_open(struct connection **ret, const char *address, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return fault_set(fault, -ENOMEM, "out of memory");
	framing_init(&c->framing, MAX_REPLY_BYTES);
	c->name = address;
	c->timeout_ms = TIMEOUT_MS;
	c->fd = -1;
	if (ssh_is_address(address)) {
		r = ssh_start(&c->ssh, &c->fd, address, fault);
		c->name = r < 0 ? address : ssh_host(c->ssh);
	} else {
		r = unix_socket_connect(&c->fd, address, fault);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

struct connection *connection_free(struct connection *c)
{
	if (!c)
		return NULL;
	if (c->fd >= 0)
		close(c->fd);
	ssh_free(c->ssh);
	framing_done(&c->framing);
	free(c);
	return NULL;
}

const char *connection_host(const struct connection *c)
{
	return c->ssh ? c->name : NULL;
}

void connection_interrupt(struct connection *c)
{
	shutdown(c->fd, SHUT_RDWR);
}

void connection_drop_answer(struct connection *c)
{
	if (!framing_holds_bytes(&c->framing))
		framing_done(&c->framing);
}

void connection_set_max_reply(struct connection *c, size_t n_bytes)
{
	c->framing.max_bytes = n_bytes;
}

void connection_set_timeout(struct connection *c, int ms)
{
	c->timeout_ms = ms;
}

static int fail_closed(const struct connection *c, struct fault *fault)
{
	if (c->ssh)
		return ssh_explain(c->ssh, fault);
	return fault_set(fault, -ECONNRESET,
			 "%s: the daemon closed the connection; see journalctl -u branchd",
			 c->name);
}

static int time_out(const struct connection *c, int timeout_ms, struct fault *fault)
{
	if (c->ssh)
		return fault_set(fault, -ETIMEDOUT,
				 "%s: timed out: no answer in %d s; see whether ssh %s branchctl "
				 "status answers",
				 c->name, timeout_ms / 1000, c->name);
	return fault_set(fault, -ETIMEDOUT,
			 "%s: timed out: no answer from the daemon in %d s; see journalctl -u "
			 "branchd",
			 c->name, timeout_ms / 1000);
}

/* Waits for any of @events, at most until @end_us of CLOCK_MONOTONIC. -errno; 0: time is up. */
static int poll_until(const struct connection *c, short events, uint64_t end_us)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = c->fd, .events = events },
			{ .fd = c->ssh ? ssh_errors_fd(c->ssh) : -1, .events = POLLIN },
		};
		uint64_t now_us = clock_us(CLOCK_MONOTONIC);
		int left_ms = end_us == UINT64_MAX ? -1 :
			      now_us < end_us      ? (int)((end_us - now_us + 999) / 1000) :
						     0;
		int r = poll(fds, ARRAY_SIZE(fds), left_ms);

		if (r < 0)
			return -errno;
		if (r == 0 || fds[0].revents)
			return r;
		ssh_read_errors(c->ssh);
		if (!(fds[1].revents & POLLIN)) /* it has closed it: then it is about to end */
			poll(NULL, 0, 1);
	}
}

/* Waits for any of @events, at most @timeout_ms (-1: no limit). */
static int wait_for(const struct connection *c, short events, int timeout_ms, struct fault *fault)
{
	uint64_t now_us = clock_us(CLOCK_MONOTONIC);
	int r = poll_until(c, events,
			   timeout_ms < 0 ? UINT64_MAX : now_us + (uint64_t)timeout_ms * 1000);

	if (r > 0 || (r == -EINTR && timeout_ms >= 0))
		return 0;
	if (r == 0)
		return time_out(c, timeout_ms, fault);
	return fault_set(fault, r, "%s: %s", c->name, strerror(-r));
}

static int send_all(const struct connection *c, const char *bytes, size_t n, struct fault *fault)
{
	int r = 0;

	while (r >= 0 && n > 0) {
		ssize_t sent = send(c->fd, bytes, n, MSG_NOSIGNAL);

		if (sent >= 0) {
			bytes += sent;
			n -= (size_t)sent;
		} else if (errno == EAGAIN) {
			r = wait_for(c, POLLOUT, c->timeout_ms, fault);
		} else if (errno != EINTR) {
			return fail_closed(c, fault);
		}
	}
	return r;
}

static int fail_too_large(const struct connection *c, struct fault *fault)
{
	return fault_set(fault, -EMSGSIZE,
			 "%s: the reply is larger than %zu MiB: ask for fewer windows", c->name,
			 c->framing.max_bytes >> 20);
}

static int receive(struct connection *c, int timeout_ms, struct fault *fault)
{
	char *room;
	ssize_t n;
	size_t n_room;
	int r;

	r = framing_reserve(&c->framing, &room, &n_room);
	if (r == -EMSGSIZE)
		return fail_too_large(c, fault);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	while ((n = recv(c->fd, room, n_room, 0)) < 0) {
		if (errno == EAGAIN)
			r = wait_for(c, POLLIN, timeout_ms, fault);
		else if (errno != EINTR)
			return fail_closed(c, fault);
		if (r < 0)
			return r;
	}
	if (n == 0)
		return fail_closed(c, fault);
	framing_fill(&c->framing, (size_t)n);
	return 0;
}

static int receive_message(struct connection *c, int timeout_ms, char **ret, size_t *ret_n,
			   struct fault *fault)
{
	int r;

	while ((r = framing_next(&c->framing, ret, ret_n)) == 0) {
		r = receive(c, timeout_ms, fault);
		if (r < 0)
			return r;
	}
	return r < 0 ? fail_too_large(c, fault) : 0;
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && memcmp(text, word, n) == 0;
}

/* The text is untrusted and goes to a terminal. */
static void replace_unprintable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			*text = '?';
}

static int set_error(const struct connection *c, const char *error, size_t n_error,
		     struct answer *ret, struct fault *fault)
{
	bool has_parameters = !is_word(ret->text, ret->n_bytes, "{}");

	snprintf(ret->error, sizeof(ret->error), "%.*s", (int)MIN(n_error - 2, (size_t)1000),
		 error + 1);
	replace_unprintable(ret->error);
	fault_set(fault, 0, "%s: the daemon answered %s%s%.*s", c->name, ret->error,
		  has_parameters ? " " : "",
		  has_parameters ? (int)MIN(ret->n_bytes, (size_t)200) : 0, ret->text);
	replace_unprintable(fault->text);
	return -EREMOTEIO;
}

static int fail_not_varlink(const struct connection *c, struct fault *fault)
{
	return fault_set(fault, -EBADMSG, "%s: the server on this socket is not branchd", c->name);
}

static int read_reply(const struct connection *c, const char *text, size_t n, struct answer *ret,
		      struct fault *fault)
{
	enum { PARAMETERS, ERROR, CONTINUES };
	struct json_member members[] = {
		[PARAMETERS] = { .name = "parameters" },
		[ERROR] = { .name = "error" },
		[CONTINUES] = { .name = "continues" },
	};
	const struct json_member *parameters = &members[PARAMETERS], *error = &members[ERROR];
	const struct json_member *continues = &members[CONTINUES];

	if (json_members_find(text, n, members, ARRAY_SIZE(members)) < 0)
		return fail_not_varlink(c, fault);
	*ret = (struct answer){ .text = "{}", .n_bytes = 2 };
	if (parameters->text && !is_word(parameters->text, parameters->n_bytes, "null"))
		*ret = (struct answer){ .text = parameters->text, .n_bytes = parameters->n_bytes };
	if (ret->text[0] != '{' || (error->text && (error->text[0] != '"' || error->n_bytes < 2)))
		return fail_not_varlink(c, fault);
	if (error->text)
		return set_error(c, error->text, error->n_bytes, ret, fault);
	ret->continues = continues->text && is_word(continues->text, continues->n_bytes, "true");
	return 0;
}

static int next_reply(struct connection *c, int timeout_ms, struct answer *ret, struct fault *fault)
{
	char *text;
	size_t n;
	int r = receive_message(c, timeout_ms, &text, &n, fault);

	return r < 0 ? r : read_reply(c, text, n, ret, fault);
}

static int call(struct connection *c, const char *method, json_t *parameters, bool more,
		struct answer *ret, struct fault *fault)
{
	_cleanup_free_ char *text = NULL;
	json_t *message;
	int r;

	message = json_pack("{s:s, s:o}", "method", method, "parameters", parameters);
	if (message && more)
		json_object_set_new(message, "more", json_true());
	text = json_dumps(message, JSON_COMPACT);
	json_decref(message);
	if (!text)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = send_all(c, text, strlen(text) + 1, fault);
	return r < 0 ? r : next_reply(c, c->timeout_ms, ret, fault);
}

int connection_call(struct connection *c, const char *method, json_t *parameters,
		    struct answer *ret, struct fault *fault)
{
	int r = call(c, method, parameters, false, ret, fault);

	return r >= 0 && ret->continues ? fail_not_varlink(c, fault) : r;
}

int connection_call_more(struct connection *c, const char *method, json_t *parameters,
			 struct answer *ret, struct fault *fault)
{
	return call(c, method, parameters, true, ret, fault);
}

int connection_next(struct connection *c, struct answer *ret, struct fault *fault)
{
	return next_reply(c, -1, ret, fault);
}
