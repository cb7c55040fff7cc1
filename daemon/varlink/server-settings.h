/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a server is given to serve, its limits, and what it counts. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>
#include <systemd/sd-event.h>

struct call;
struct peer;
struct turns;

/* Of all event sources of a server: behind the collector's windows and signals. */
#define SERVER_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

/*
 * Serves a call: replies now, or keeps @call and replies later. The parameters are a JSON object,
 * borrowed from the call. A negative errno is replied as an internal error.
 */
typedef int (*server_handler)(struct call *call, json_t *parameters, void *userdata);

struct server_method {
	const char *name; /* "io.branchd.GetStatus" */
	server_handler handle;
};

/* A limit of 0 stands for its default. */
struct server_settings {
	const char *description; /* of the interface, as org.varlink.service serves it */
	const char *interface;   /* "io.branchd" */
	const struct server_method *methods;
	size_t n_methods;
	void *userdata; /* of the methods */
	/* Who a caller is; NULL: peer_get() */
	int (*get_peer)(struct peer *ret, int fd, gid_t group);
	struct turns *turns;      /* in which calls are served, borrowed; NULL: the server's own */
	size_t max_connections;   /* at once */
	size_t max_of_one_uid;    /* connections of one unprivileged user at once */
	size_t max_message_bytes; /* of a call */
	size_t max_pending_bytes; /* of replies that wait for their readers, over all connections */
	uint64_t patience_ms;     /* with half a message, and with a reader who does not read */
	gid_t group;              /* whose members see everything, like root; (gid_t)-1: none */
};

struct server_counts {
	uint64_t connections, calls, errors;
	/* connections closed by the server, by cause */
	uint64_t refused_connections, too_long, not_understood, stalled;
	uint64_t refused_replies; /* larger than what may wait */
	size_t pending_bytes;
	unsigned int open;
};
