/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a query has: for those who work on it, see query.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/api/function-reply.h"
#include "daemon/api/query-limits.h"
#include "daemon/api/query-request.h"
#include "daemon/api/slot-sums.h"
#include "daemon/api/window-json.h"
#include "daemon/archive/archive.h"
#include "daemon/store/reader.h"
#include "daemon/varlink/call.h"

#define QUERY_BATCH 64 /* windows read at once, and such sums kept before they are added up */

struct query {
	struct archive *archive;
	struct call *call; /* NULL: it was answered, or the caller has gone */
	bool privileged;   /* the caller is */
	struct query_request request;
	const struct query_limits *limits; /* without zeros */
	uint64_t cpu_ns;                   /* used so far, as its owner counts */

	bool began;                             /* the windows are chosen */
	bool holds;                             /* the store, see store_hold() */
	struct window_list windows;             /* all that the reply is of */
	size_t n_stored;                        /* the stored ones among them, which come first */
	size_t n_read;                          /* of the stored ones */
	size_t n_next;                          /* of the next ones that are read together */
	struct window_sum *sum;                 /* of stored windows, where all matches */
	struct profile *parts[QUERY_BATCH + 1]; /* what matches; the first is the sum so far */
	bool is_borrowed[QUERY_BATCH + 1];      /* the part is one of a pinned sum */
	size_t n_parts;

	/* see query-slots.h */
	struct slot_sums *slots;  /* borrowed; NULL: none are kept */
	struct slot_sum **pinned; /* those in use */
	size_t n_pinned, cap_pinned;
	struct slot_key slot_key; /* of the slot that is read */
	size_t slot_left;         /* windows that it has still */
	bool in_slot;             /* its windows are read, into a sum of their own */
	bool slot_is_part;        /* it is all that the query is of, and keeps all rows */
	bool slot_changed;        /* some have gone meanwhile */
	struct profile *made;     /* the sum of a slot; NULL: none waits */

	/* of GetFunctions, else NULL; the profiles of the open window are parts */
	struct function_reply *functions;
	size_t n_chosen; /* windows */
	size_t n_seen;   /* chosen windows that were read, or found to be removed */

	struct fault fault;          /* why the store could not be read */
	struct store_reader *reader; /* for large windows; NULL: none was met yet */
	char *bytes;                 /* of the reply, once it is written */
	size_t n_bytes;
	int (*step)(struct query *query); /* what is to be done in a thread; NULL: nothing */
};
