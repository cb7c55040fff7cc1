/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call between its arrival and its last reply. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <jansson.h>

#include "common/util/macro.h"
#include "daemon/varlink/outbox.h"
#include "daemon/varlink/peer.h"
#include "daemon/varlink/server-settings.h"

/* The way back to the caller. */
struct call_transport {
	/*
	 * Queues all @pieces or none; takes their memory over in any case. 0, also where the caller
	 * has gone; -ENOBUFS if too much waits already; -ENOMEM.
	 */
	int (*send)(void *connection, const struct outbox_piece *pieces, size_t n);
	/* The last reply was sent: frees the call. */
	void (*end)(void *connection);
	/* Not even an error could be sent: frees the call, and closes the connection. */
	void (*fail)(void *connection);
};

/* What calls share with their connection, which outlives them. */
struct call_context {
	const struct call_transport *transport;
	void *connection;
	const struct server_settings *settings;
	struct server_counts *counts;
	struct peer peer;
};

struct call {
	const struct call_context *context;
	json_t *message; /* as it came; the next two are part of it */
	const char *method;
	json_t *parameters;
	bool more, oneway, upgrade;

	void (*gone)(struct call *call, void *userdata);
	void *userdata;
};

/* Parses the text of a call. 0; -EBADMSG if it is none; -ENOMEM. */
int call_parse(struct call **ret, const struct call_context *context, const char *text,
	       size_t n_bytes);
struct call *call_free(struct call *call);
DEFINE_CLEANUP(struct call *, call_free);

/* The caller has gone: says so to whoever keeps the call, and frees it. */
void call_abandon(struct call *call);

/*
 * Replies. @continues, only for a call that wants more: more replies follow; else the call is over
 * and may not be used any more. 0, also where the caller has gone; -ENOBUFS if more bytes would
 * wait than may, or -ENOMEM: then nothing was sent, and the call still waits for an answer, if only
 * an error. @parameters are taken over in any case; NULL is -ENOMEM.
 */
int call_reply(struct call *call, json_t *parameters, bool continues);
/* The same for parameters that are text already, {"profile": ...}, taken over. */
int call_reply_text(struct call *call, char *parameters, size_t n_bytes, bool continues);
/* The last reply in any case: an error of that name; @parameters may be NULL. */
void call_error(struct call *call, const char *name, json_t *parameters);
void call_invalid_parameter(struct call *call, const char *parameter);
/* An error of the daemon's own, -errno @r: of memory, of the store. */
void call_internal_error(struct call *call, int r);

bool call_wants_more(const struct call *call);
bool call_is_privileged(const struct call *call); /* root, the daemon's own user, or of the group */
uid_t call_uid(const struct call *call);

/* @gone is called when the caller goes while the call is kept; it may not be used after that. */
void call_on_gone(struct call *call, void (*gone)(struct call *call, void *userdata),
		  void *userdata);
