/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The connections to parser processes: one for each owner of files, few at a time. A parser that
 * fails is closed and counted here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/channel/channel.h"
#include "common/parser/message.h"
#include "common/util/fault.h"

#define CONNECTIONS_MAX 4

/* Why parsers were closed. */
enum parser_end {
	PARSER_END_DIED,    /* lacked memory; killed: a forbidden system call, damage */
	PARSER_END_CPU,     /* took more CPU than a file may */
	PARSER_END_TIMEOUT, /* did not answer in time */
	PARSER_END_ANSWER,  /* answered wrongly */
	PARSER_END_N,
};

/* How many parsers were started, and closed for each reason but idleness. */
struct parser_counters {
	uint64_t n_started;
	uint64_t n_ended[PARSER_END_N];
};

struct connection {
	int fd;          /* -1: none */
	int lifeline_fd; /* the parser is killed when it is closed */
	uint32_t owner;
	bool starting;       /* its parser has not greeted yet */
	bool rests;          /* PARSER_REST was the last that it was sent */
	uint64_t generation; /* of all connections ever made, this one */
	uint64_t begun_ns, used_ns;
	size_t n_files; /* opened in it, ever */
};

struct connections {
	struct connection rows[CONNECTIONS_MAX];
	int (*connect)(uint32_t owner, void *userdata);
	void *userdata;
	uint64_t timeout_us;
	uint64_t n_generations;
	struct parser_counters counters;
};

void connections_init(struct connections *connections, uint64_t timeout_us);
void connections_done(struct connections *connections);

/* The open connection for @owner, or NULL. */
struct connection *connections_find(struct connections *connections, uint32_t owner);

/* Begins to make one for @owner, where there is none, and does not wait for its parser. */
void connections_prepare(struct connections *connections, uint32_t owner);

/*
 * The same as connections_find(); makes one where there is none, in place of the one that was not
 * used the longest. 0; -ECONNREFUSED and @why.
 */
int connections_get(struct connections *connections, uint32_t owner, struct connection **ret,
		    struct fault *why);

/*
 * Sends a request and receives its answer. 0, and *@ret_answer to be released by
 * channel_message_done(), with *@ret_reader after its struct message_answer; the parser's own
 * negative result, -EOVERFLOW if it has too little memory; -EREMOTEIO and @why, and the connection
 * is closed and counted; -EOWNERDEAD likewise if it was killed, perhaps by somebody; -ENOMEM.
 */
int connections_ask(struct connections *connections, struct connection *connection,
		    const struct channel_message *request, struct channel_message *ret_answer,
		    struct message_reader *ret_reader, struct fault *why);

/* Sends a request that has no answer. */
void connections_tell(struct connection *connection, const struct channel_message *request);

/* Sends PARSER_REST to all. */
void connections_rest(struct connections *connections, const struct channel_message *rest);

void connections_close(struct connection *connection);

/* Closes a connection whose answers are wrong, and counts that. -EREMOTEIO and @why. */
int connections_reject(struct connections *connections, struct connection *connection,
		       struct fault *why);

/* Closes a connection whose parser lacks memory, and counts that. */
void connections_give_up(struct connections *connections, struct connection *connection);

/* Closes those begun @age_ns ago. */
void connections_close_old(struct connections *connections, uint64_t age_ns);

/*
 * Sends PARSER_REST to those not used for @idle_ns, once. How long it takes until the next of the
 * others is due; UINT64_MAX if none is.
 */
uint64_t connections_rest_idle(struct connections *connections, uint64_t idle_ns,
			       const struct channel_message *rest);

/*
 * Closes those not used for @idle_ns. How long it takes until the next of the others is due;
 * UINT64_MAX if none is open.
 */
uint64_t connections_close_idle(struct connections *connections, uint64_t idle_ns);
