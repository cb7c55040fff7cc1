/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GetProfile and GetFunctions: read windows, filter and add them up, and reply with the sum.
 *
 * A day has thousands of windows, and the event loop has other things to do: a query does a little
 * each turn, and one query is worked on at a time, so that many callers cannot make the daemon hold
 * many sums.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "common/util/macro.h"
#include "daemon/archive/archive.h"
#include "daemon/varlink/call.h"

#define QUERY_MAX_REPLY_BYTES (128u << 20)

struct queries;

/* @cut is called to have the open window's part handed to the archive. */
int queries_new(struct queries **ret, sd_event *event, struct archive *archive,
		void (*cut)(void *userdata), void *userdata);
struct queries *queries_free(struct queries *queries);
DEFINE_CLEANUP(struct queries *, queries_free);

/* Takes up a call, of GetFunctions or of GetProfile: what a server_handler returns. */
int queries_add(struct queries *queries, struct call *call, bool functions);

/* The archive has a part of the open window. */
void queries_on_part(struct queries *queries);
