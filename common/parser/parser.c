/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/parser/parser.h"

#include <errno.h>
#include <stdlib.h>

#include "common/parser/ask.h"

#define DEFAULT_TIMEOUT_US 20000000
#define DEFAULT_CPU_US     5000000
#define DEFAULT_IDLE_US    90000000 /* longer than windows are by default: tables serve the next */
#define OLD_NS             600000000000
#define DEFAULT_REST_US    2000000

int parser_new(struct parser **ret, const struct parser_settings *settings)
{
	struct parser *parser = calloc(1, sizeof(*parser));

	if (!parser)
		return -ENOMEM;
	connections_init(&parser->connections, settings->timeout_us ?: DEFAULT_TIMEOUT_US);
	parser->connections.connect = settings->connect;
	parser->connections.userdata = settings->userdata;
	parser->cpu_us = settings->cpu_us ?: DEFAULT_CPU_US;
	parser->rest_ns = (settings->rest_us ?: DEFAULT_REST_US) * 1000;
	parser->idle_ns = (settings->idle_us ?: DEFAULT_IDLE_US) * 1000;
	*ret = parser;
	return 0;
}

struct parser *parser_free(struct parser *parser)
{
	if (!parser)
		return NULL;
	connections_done(&parser->connections);
	free(parser);
	return NULL;
}

void parser_prepare(struct parser *parser, uint32_t owner)
{
	connections_prepare(&parser->connections, owner);
}

static struct channel_message rest_message(struct message_rest *rest)
{
	return (struct channel_message){
		.type = PARSER_REST,
		.bytes = rest,
		.n_bytes = sizeof(*rest),
	};
}

void parser_rest(struct parser *parser)
{
	struct message_rest rest = { .cpu_us = parser->cpu_us };
	const struct channel_message message = rest_message(&rest);

	connections_close_old(&parser->connections, OLD_NS);
	connections_rest(&parser->connections, &message);
}

int parser_tend(struct parser *parser)
{
	struct message_rest rest = { .cpu_us = 0 };
	const struct channel_message message = rest_message(&rest);
	struct connections *c = &parser->connections;
	uint64_t next_ns = connections_close_idle(c, parser->idle_ns);

	next_ns = MIN(next_ns, connections_rest_idle(c, parser->rest_ns, &message));
	return next_ns == UINT64_MAX ? -1 : (int)(next_ns / 1000000 + 1);
}

void parser_close_all(struct parser *parser)
{
	connections_done(&parser->connections);
}

const struct parser_counters *parser_get_counters(const struct parser *parser)
{
	return &parser->connections.counters;
}

int parser_ask(struct parser *parser, struct connection *connection, uint32_t type,
	       const struct message_writer *request, int fd, struct answer *ret, struct fault *why)
{
	struct channel_message message = {
		.type = type,
		.bytes = request->bytes,
		.n_bytes = request->n,
		.n_fds = fd >= 0,
		.fds = { fd },
	};

	if (request->r < 0)
		return request->r;
	ret->connection = connection;
	return connections_ask(&parser->connections, connection, &message, &ret->message,
			       &ret->reader, why);
}

int parser_end_answer(struct parser *parser, struct answer *answer, int r, struct fault *why)
{
	channel_message_done(&answer->message);
	if (r != -EBADMSG)
		return r;
	return connections_reject(&parser->connections, answer->connection, why);
}
