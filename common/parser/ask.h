/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A request of the client and its answer, for the files that implement parser.h. */
#pragma once

#include "common/parser/connections.h"
#include "common/parser/message.h"

struct parser {
	struct connections connections;
	uint64_t cpu_us, rest_ns, idle_ns;
	uint32_t n_files; /* numbers given */
};

/* An answer while its parts are read. */
struct answer {
	struct channel_message message;
	struct message_reader reader;
	struct connection *connection;
};

/* Sends a request, with descriptor @fd or -1. As connections_ask(). */
int parser_ask(struct parser *parser, struct connection *connection, uint32_t type,
	       const struct message_writer *request, int fd, struct answer *ret, struct fault *why);

/*
 * Releases the answer. @r: the result of reading its parts. It, or -EREMOTEIO and @why if they are
 * wrong.
 */
int parser_end_answer(struct parser *parser, struct answer *answer, int r, struct fault *why);
