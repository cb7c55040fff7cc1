/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The server: Varlink on a Unix socket (https://varlink.org): NUL-terminated JSON messages, on the
 * event loop of the main thread. It knows calls, replies and limits; what the methods do is told to
 * it by a table.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>
#include <systemd/sd-event.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct server;
struct call;

/*
 * Serves a call: replies now, or keeps @call and replies later. Parameters are a JSON object,
 * borrowed. A negative errno is an internal error, and replied as one.
 */
typedef int (*server_handler)(struct call *call, json_t *parameters, void *userdata);

struct server_method {
	const char *name; /* "io.branchd.GetStatus" */
	server_handler handle;
};

struct server_settings {
	const char *description; /* of the interface, as org.varlink.service serves it */
	const char *interface;   /* "io.branchd" */
	const struct server_method *methods;
	size_t n_methods;
	void *userdata;
	size_t max_connections;   /* at once; 0: the default, as for the next four */
	size_t max_of_one_uid;    /* ... of one unprivileged user */
	size_t max_message_bytes; /* of a call */
	size_t max_pending_bytes; /* of replies that wait for their readers, over all connections */
	uint64_t patience_ms;     /* with a half message, and with a reader who does not read */
	gid_t group;              /* whose members see everything, like root; (gid_t)-1: none */
};

struct server_counts {
	uint64_t connections, calls, errors;
	uint64_t refused_connections, too_long, not_understood, stalled; /* why some were closed */
	uint64_t refused_replies; /* too large for what may wait */
	size_t pending_bytes;
	unsigned int open;
};

/* Serves the listening socket @fd, which it takes over in any case; -1: none. */
int server_new(struct server **ret, sd_event *event, int fd, const struct server_settings *settings,
	       struct fault *fault);
struct server *server_free(struct server *server);
DEFINE_CLEANUP(struct server *, server_free);

/* Serves the connected socket @fd, which it takes over in any case. 0 or -errno. */
int server_add_connection(struct server *server, int fd);

/* Makes and binds a socket for it, mode 0660 and @group. A file descriptor, or -errno and @fault.
 */
int server_listen(const char *path, gid_t group, struct fault *fault);

/*
 * Replies. @continues, for call_wants_more() ones only: more replies follow; else the call is over
 * and may not be used any more. 0, also where nobody listens any more; -ENOBUFS if more bytes would
 * wait than may, or -ENOMEM: then nothing was sent, and the call waits for an answer still, if only
 * an error. @parameters are taken over in any case; NULL is -ENOMEM.
 */
int call_reply(struct call *call, json_t *parameters, bool continues);
/* The same where the parameters are text already, as a profile's are: {"profile": ...}. Taken over.
 */
int call_reply_text(struct call *call, char *parameters, size_t n_bytes, bool continues);
/* The last reply in any case: an error of that name; NULL @parameters: none. */
void call_error(struct call *call, const char *name, json_t *parameters);
void call_invalid_parameter(struct call *call, const char *parameter);

bool call_wants_more(const struct call *call);
bool call_is_privileged(const struct call *call); /* root, the daemon's own user, or of the group */
uid_t call_uid(const struct call *call);

/* Told when the caller has gone while the call was kept; then it may not be used any more. */
void call_on_gone(struct call *call, void (*gone)(struct call *call, void *userdata),
		  void *userdata);

void server_get_counts(const struct server *server, struct server_counts *ret);
