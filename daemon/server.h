/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The server: Varlink on a Unix socket (https://varlink.org): NUL-terminated JSON messages, on the
 * event loop of the main thread. It knows calls, replies and limits; what the methods do is told to it
 * by a table.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <jansson.h>
#include <systemd/sd-event.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct server;
struct call;

/*
 * Serves a call: replies now, or keeps @call and replies later. Parameters are a JSON object, borrowed.
 * A negative errno is an internal error, and replied as one.
 */
typedef int (*server_handler)(struct call *call, json_t *parameters, void *userdata);

struct server_method {
	const char *name; /* "io.branchd.GetStatus" */
	server_handler handle;
};

struct server_settings {
	const char *description;   /* of the interface, as org.varlink.service serves it */
	const char *interface;     /* "io.branchd" */
	const struct server_method *methods;
	size_t n_methods;
	void *userdata;
	size_t max_connections, max_message_bytes, max_pending_bytes; /* 0: the defaults */
	gid_t group; /* whose members see everything, like root; (gid_t)-1: none */
};

struct server_counts {
	uint64_t connections, calls, errors;
	uint64_t refused_connections, too_long, not_understood, stalled; /* why some were closed */
	unsigned int open;
};

/* Serves the listening socket @fd, which it takes over. */
int server_new(struct server **ret, sd_event *event, int fd, const struct server_settings *settings,
	       struct fault *fault);
struct server *server_free(struct server *server);
DEFINE_CLEANUP(struct server *, server_free);

/* Makes and binds a socket for it, mode 0660 and @group. A file descriptor, or -errno and @fault. */
int server_listen(const char *path, gid_t group, struct fault *fault);

/* Pass 1 as the second where more replies follow: only for call_wants_more() ones. */
int call_reply(struct call *call, json_t *parameters, bool continues); /* takes @parameters over */
/* The same where the parameters are text already, as a profile's are: {"profile": ...}. Taken over. */
int call_reply_text(struct call *call, char *parameters, size_t n_bytes, bool continues);
int call_error(struct call *call, const char *name, json_t *parameters);

bool call_wants_more(const struct call *call);
bool call_is_privileged(const struct call *call); /* root, or of the group */
uid_t call_uid(const struct call *call);

/* Told when the caller has gone while the call was kept; then it may not be used any more. */
void call_on_gone(struct call *call, void (*gone)(struct call *call, void *userdata),
		  void *userdata);

void server_get_counts(const struct server *server, struct server_counts *ret);
