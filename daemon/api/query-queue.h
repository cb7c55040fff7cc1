/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queries of all callers. One of each user is worked on at a time, and of a few users, so that
 * many callers cannot make the daemon hold many sums. Each does a little in its turn; what takes
 * longer is done in a thread. A query ends when its caller goes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "common/util/macro.h"
#include "daemon/api/query-limits.h"
#include "daemon/archive/archive.h"
#include "daemon/varlink/call.h"
#include "daemon/varlink/turns.h"

struct query_queue;

struct query_queue_settings {
	sd_event *event;
	struct turns *turns;        /* borrowed */
	struct archive *archive;    /* borrowed */
	struct query_limits limits; /* a limit of 0 stands for its default */
	/* Asks the collector for the open window's part; query_queue_on_part() follows. */
	void (*cut)(void *userdata);
	void *userdata;
};

/* 0 or -errno. */
int query_queue_new(struct query_queue **ret, const struct query_queue_settings *settings);
struct query_queue *query_queue_free(struct query_queue *queue);
DEFINE_CLEANUP(struct query_queue *, query_queue_free);

/* Queues a call of GetFunctions or of GetProfile. Returns what a server_handler returns. */
int query_queue_add(struct query_queue *queue, struct call *call, bool functions);

/* The archive has a part of the open window. */
void query_queue_on_part(struct query_queue *queue);
