/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client side of Varlink (https://varlink.org): calls to the daemon, one at a time. Each waits
 * for its answer.
 *
 * Answers are untrusted: they may be damaged, or come from another version or another program.
 * After any failure but an error reply the connection cannot be used any more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "client/rpc/unix-socket.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

#define CONNECTION_DEFAULT_PATH UNIX_SOCKET_DEFAULT_PATH

struct connection;

/*
 * Borrows @address: the path of the daemon's socket, or a socket of another machine as in ssh.h.
 * -errno and @fault, which says how to start the daemon or how to get access; of another machine
 * the first call does.
 */
int connection_open(struct connection **ret, const char *address, struct fault *fault);
/* The other machine, as it was named; NULL: this one. Valid as long as the connection. */
const char *connection_host(const struct connection *connection);
struct connection *connection_free(struct connection *connection);
DEFINE_CLEANUP(struct connection *, connection_free);

/* The answer to a call. */
struct answer {
	const char *text; /* the parameters, a JSON object; valid until the next call */
	size_t n_bytes;
	bool continues;
	char error[128]; /* the name of the error; "" if there is none */
};

/*
 * Calls @method and waits for the answer. It takes over @parameters, a JSON object; NULL means out
 * of memory. -EREMOTEIO if the daemon replied with an error, whose name and parameters are in
 * @fault; another -errno and @fault if there was no valid reply in time.
 */
int connection_call(struct connection *connection, const char *method, json_t *parameters,
		    struct answer *ret, struct fault *fault);

/* The same with several answers: while answer.continues, another one follows. */
int connection_call_more(struct connection *connection, const char *method, json_t *parameters,
			 struct answer *ret, struct fault *fault);

/* Waits for the next of several answers, without a timeout. -EINTR on a signal. */
int connection_next(struct connection *connection, struct answer *ret, struct fault *fault);

/* Frees the memory of an answer that was read, which the next call would do. */
void connection_drop_answer(struct connection *connection);

/* From another thread: makes a waiting call fail as if the daemon had closed the connection. */
void connection_interrupt(struct connection *connection);

/* The longest reply that is read. Default: 1 GiB. */
void connection_set_max_reply(struct connection *connection, size_t n_bytes);

/* The longest wait for data from the daemon. Default: 30000. */
void connection_set_timeout(struct connection *connection, int ms);
