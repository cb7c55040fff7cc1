/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call between its arrival and its last reply. What methods see of it is in daemon/server.h. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "common/util/macro.h"
#include "daemon/varlink/server.h"

struct connection;

struct call {
	struct connection *connection;
	json_t *message; /* as it came; the next two are part of it */
	const char *method;
	json_t *parameters;
	bool more, oneway, upgrade;

	void (*gone)(struct call *call, void *userdata);
	void *userdata;
};

/* Understands the text of a call. 0; -EBADMSG if it is none; -ENOMEM. */
int call_parse(struct call **ret, struct connection *connection, const char *text, size_t n_bytes);
struct call *call_free(struct call *call);
DEFINE_CLEANUP(struct call *, call_free);

/* The caller has gone: tells whoever keeps the call, and frees it. */
void call_abandon(struct call *call);

/* An error of ours: of no memory, of the store. */
void call_internal_error(struct call *call, int r);
