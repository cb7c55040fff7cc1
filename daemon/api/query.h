/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A call of GetProfile or GetFunctions: reads windows, filters and adds them up, replies with the
 * sum. A day has thousands of windows, and the event loop has other things to do: a query does a
 * little each turn.
 */
#pragma once

#include <stdbool.h>

#include "common/util/macro.h"
#include "daemon/api/query-limits.h"
#include "daemon/api/query-state.h"
#include "daemon/archive/archive.h"
#include "daemon/varlink/call.h"

/* 1; 0 if the call was answered, by an error; -errno. The call is borrowed until its last reply:
 * whoever keeps the query listens to its going. */
int query_new(struct query **ret, struct archive *archive, struct call *call, bool functions,
	      const struct query_limits *limits);
/* An unanswered call is not answered. */
struct query *query_free(struct query *query);
DEFINE_CLEANUP(struct query *, query_free);

bool query_wants_open(const struct query *query);

/*
 * Works a while. 1: there is more to do; 0: it is over; -errno, and the call, if it is not NULL, is
 * not answered: -E2BIG: it would hold too much; -ETIME: it has taken too long; -EBADMSG: the
 * database is damaged, as its fault says. If there is a step then, query_do_step() is to be called
 * before the next query_work().
 */
int query_work(struct query *query);

/* The query is over, with the result @r, but the call not answered yet. */
void query_end(struct query *query, int r);

/* Does the step: also in another thread, while nobody else uses the query but for its call. 0 or
 * -errno. */
int query_do_step(struct query *query);
