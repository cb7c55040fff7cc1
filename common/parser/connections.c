/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/parser/connections.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"

void connections_init(struct connections *c, uint64_t timeout_us)
{
	*c = (struct connections){ .timeout_us = timeout_us };
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		c->rows[i].fd = -1;
}

void connections_close(struct connection *connection)
{
	if (connection->fd >= 0) {
		close(connection->fd);
		close(connection->lifeline_fd);
	}
	connection->fd = -1;
}

void connections_done(struct connections *c)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		connections_close(&c->rows[i]);
}

static void touch(struct connection *connection)
{
	connection->used_ns = clock_ns(CLOCK_MONOTONIC);
	connection->rests = false;
}

struct connection *connections_find(struct connections *c, uint32_t owner)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (c->rows[i].fd >= 0 && c->rows[i].owner == owner)
			return &c->rows[i];
	return NULL;
}

/* A free one, or the one that was not used the longest. */
static struct connection *find_oldest(struct connections *c)
{
	struct connection *oldest = &c->rows[0];

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		if (c->rows[i].fd < 0)
			return &c->rows[i];
		if (c->rows[i].used_ns < oldest->used_ns)
			oldest = &c->rows[i];
	}
	return oldest;
}

/* The parser says when it is ready, so a failure later is that of a file. */
static int await_greeting(struct connections *c, int fd)
{
	struct channel_message hello;
	int r = channel_receive(fd, 0, channel_deadline(c->timeout_us), &hello);

	if (r < 0)
		return r;
	r = hello.type == PARSER_HELLO ? 0 : -EBADMSG;
	channel_message_done(&hello);
	return r;
}

/* Sends the parser its lifeline. The end of it to be kept, or -errno. */
static int tie(const struct connections *c, int fd)
{
	struct channel_message message = { .type = PARSER_LIFELINE, .n_fds = 1 };
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	message.fds[0] = ends[0];
	r = channel_send(fd, &message, channel_deadline(c->timeout_us));
	close(ends[0]);
	if (r >= 0)
		return ends[1];
	close(ends[1]);
	return r;
}

/* A parser that ended between two requests did not do so over the file of the next one. */
static bool is_alive(const struct connection *connection)
{
	struct pollfd poll_fd = { .fd = connection->fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 0;
}

static int explain_start(int r, struct fault *why)
{
	return fault_set(why, -ECONNREFUSED, "branchd-parser does not start: %s", strerror(-r));
}

/* Makes a connection, whose parser has not greeted yet. */
static int begin(struct connections *c, uint32_t owner, struct connection **ret, struct fault *why)
{
	struct connection *connection;
	int fd, lifeline_fd;

	fd = c->connect(owner, c->userdata);
	if (fd < 0)
		return fault_set(why, -ECONNREFUSED, "cannot start branchd-parser: %s",
				 strerror(-fd));
	lifeline_fd = tie(c, fd);
	if (lifeline_fd < 0) {
		close(fd);
		return explain_start(lifeline_fd, why);
	}
	connection = find_oldest(c);
	connections_close(connection);
	*connection = (struct connection){
		.fd = fd,
		.lifeline_fd = lifeline_fd,
		.owner = owner,
		.starting = true,
		.generation = ++c->n_generations,
		.begun_ns = clock_ns(CLOCK_MONOTONIC),
	};
	c->counters.n_started++;
	touch(connection);
	*ret = connection;
	return 0;
}

void connections_prepare(struct connections *c, uint32_t owner)
{
	struct connection *connection;
	struct fault ignored;

	if (!connections_find(c, owner))
		begin(c, owner, &connection, &ignored);
}

int connections_get(struct connections *c, uint32_t owner, struct connection **ret,
		    struct fault *why)
{
	struct connection *connection = connections_find(c, owner);
	int r = 0;

	if (connection && !connection->starting && !is_alive(connection)) {
		c->counters.n_ended[PARSER_END_DIED]++;
		connections_close(connection);
		connection = NULL;
	}
	if (!connection)
		r = begin(c, owner, &connection, why);
	if (r < 0)
		return r;
	if (connection->starting)
		r = await_greeting(c, connection->fd);
	if (r < 0) {
		connections_close(connection);
		return explain_start(r, why);
	}
	connection->starting = false;
	touch(connection);
	*ret = connection;
	return 0;
}

static int fail(struct connections *c, struct connection *connection, enum parser_end end,
		struct fault *why, const char *text)
{
	c->counters.n_ended[end]++;
	connections_close(connection);
	return fault_set(why, -EREMOTEIO, "%s", text);
}

int connections_reject(struct connections *c, struct connection *connection, struct fault *why)
{
	return fail(c, connection, PARSER_END_ANSWER, why, "its parser answered wrongly");
}

void connections_give_up(struct connections *c, struct connection *connection)
{
	c->counters.n_ended[PARSER_END_DIED]++;
	connections_close(connection);
}

static int fail_by_words(struct connections *c, struct connection *connection,
			 const struct channel_message *message, struct fault *why)
{
	uint32_t reason = 0;

	if (message->n_bytes == sizeof(reason))
		memcpy(&reason, message->bytes, sizeof(reason));
	switch (reason) {
	case REASON_CPU:
		return fail(c, connection, PARSER_END_CPU, why, "took too much CPU");
	case REASON_HANG:
		return fail(c, connection, PARSER_END_TIMEOUT, why, "took too much time");
	case REASON_CRASH:
		return fail(c, connection, PARSER_END_DIED, why, "its parser crashed");
	case REASON_SHRUNK:
		return fail(c, connection, PARSER_END_DIED, why,
			    "became shorter while it was read");
	default:
		return connections_reject(c, connection, why);
	}
}

static int fail_by_error(struct connections *c, struct connection *connection, int r,
			 struct fault *why)
{
	if (r == -ETIMEDOUT)
		return fail(c, connection, PARSER_END_TIMEOUT, why,
			    "its parser did not answer in time");
	if (r == -EMSGSIZE || r == -EBADMSG)
		return connections_reject(c, connection, why);
	fail(c, connection, PARSER_END_DIED, why, "its parser was killed");
	return -EOWNERDEAD;
}

static int check_answer(struct connections *c, struct connection *connection, uint32_t type,
			struct channel_message *answer, struct message_reader *ret_reader,
			struct fault *why)
{
	const struct message_answer *head;

	if (answer->type == PARSER_LAST_WORDS)
		return fail_by_words(c, connection, answer, why);
	*ret_reader = (struct message_reader){ answer->bytes, answer->n_bytes };
	head = message_read(ret_reader, 1, sizeof(*head));
	if (answer->type != type || answer->n_fds || !head || head->result > 0)
		return connections_reject(c, connection, why);
	if (head->result == -EREMOTEIO || head->result == -ECONNREFUSED)
		return connections_reject(c, connection, why);
	return head->result == -ENOMEM ? -EOVERFLOW : head->result;
}

int connections_ask(struct connections *c, struct connection *connection,
		    const struct channel_message *request, struct channel_message *ret_answer,
		    struct message_reader *ret_reader, struct fault *why)
{
	uint64_t deadline_ns = channel_deadline(c->timeout_us);
	struct channel_message answer = {};
	int r;

	r = channel_send(connection->fd, request, deadline_ns);
	/* a parser that died has perhaps said why */
	if (r >= 0 || r == -EPIPE || r == -ECONNRESET)
		r = channel_receive(connection->fd, MESSAGE_MAX, deadline_ns, &answer);
	touch(connection);
	if (r == -ENOMEM) {
		connections_close(connection);
		return r;
	}
	if (r < 0)
		return fail_by_error(c, connection, r, why);
	r = check_answer(c, connection, request->type, &answer, ret_reader, why);
	if (r < 0) {
		channel_message_done(&answer);
		return r;
	}
	*ret_answer = answer;
	return 0;
}

void connections_tell(struct connection *connection, const struct channel_message *request)
{
	if (channel_send(connection->fd, request, channel_deadline(0)) < 0)
		connections_close(connection);
}

static void let_rest(struct connections *c, struct connection *connection,
		     const struct channel_message *rest)
{
	connection->rests = true;
	if (is_alive(connection)) {
		connections_tell(connection, rest);
		return;
	}
	c->counters.n_ended[PARSER_END_DIED]++;
	connections_close(connection);
}

void connections_rest(struct connections *c, const struct channel_message *rest)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (c->rows[i].fd >= 0 && !c->rows[i].starting)
			let_rest(c, &c->rows[i], rest);
}

void connections_close_old(struct connections *c, uint64_t age_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (now - c->rows[i].begun_ns >= age_ns)
			connections_close(&c->rows[i]);
}

uint64_t connections_rest_idle(struct connections *c, uint64_t idle_ns,
			       const struct channel_message *rest)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), next_ns = UINT64_MAX;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *row = &c->rows[i];
		uint64_t unused_ns = now - row->used_ns;

		if (row->fd < 0 || row->starting || row->rests)
			continue;
		if (unused_ns < idle_ns)
			next_ns = MIN(next_ns, idle_ns - unused_ns);
		else
			let_rest(c, row, rest);
	}
	return next_ns;
}

uint64_t connections_close_idle(struct connections *c, uint64_t idle_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), next_ns = UINT64_MAX;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		uint64_t unused_ns = now - c->rows[i].used_ns;

		if (c->rows[i].fd >= 0 && unused_ns >= idle_ns)
			connections_close(&c->rows[i]);
		if (c->rows[i].fd >= 0)
			next_ns = MIN(next_ns, idle_ns - unused_ns);
	}
	return next_ns;
}
