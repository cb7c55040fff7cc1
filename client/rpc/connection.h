/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client's end of Varlink (https://varlink.org): calls to the daemon, one after the other, each
 * of which waits for its answer.
 *
 * Nothing of what the daemon sends is trusted: it may be damaged, of another version, or another
 * program. After any failure but an error reply the connection is of no use any more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

#define CONNECTION_DEFAULT_PATH "/run/branchd/io.branchd"

struct connection;

/* -errno and @fault: how to start the daemon where it does not run, how to be let in where one is
 * not. */
int connection_open(struct connection **ret, const char *path, struct fault *fault);
struct connection *connection_free(struct connection *connection);
DEFINE_CLEANUP(struct connection *, connection_free);

/* The answer to a call. */
struct answer {
	const char *text; /* of its parameters as JSON, until the next call; an object */
	size_t n_bytes;
	bool continues;
	char error[128]; /* its name, or "" */
};

/*
 * Calls @method, and waits for the answer. @parameters (which it takes over, and NULL of which is
 * out of memory) is a JSON object. -EREMOTEIO where the daemon replied with an error, of which
 * @fault tells the name and the parameters; another negative errno and @fault where there was no
 * sound reply in time.
 */
int connection_call(struct connection *connection, const char *method, json_t *parameters,
		    struct answer *ret, struct fault *fault);

/* The same, with more answers to follow as long as answer.continues. */
int connection_call_more(struct connection *connection, const char *method, json_t *parameters,
			 struct answer *ret, struct fault *fault);

/* The next of these, however long it takes. -EINTR where a signal came first. */
int connection_next(struct connection *connection, struct answer *ret, struct fault *fault);

/* Ends, from another thread, a call that waits, as if the daemon had closed the connection. */
void connection_interrupt(struct connection *connection);

/* The time that one waits for the daemon to say something: another one than 30 s. */
void connection_set_timeout(struct connection *connection, int ms);
