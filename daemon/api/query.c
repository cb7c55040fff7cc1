/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The way of a query: if the open window is wanted, a part of it is asked for, and the query waits
 * until that is there. Then, in one moment, it takes a copy of the open window and notes which
 * stored ones it wants, so that a window that closes meanwhile is neither missed nor taken twice.
 * Then it reads these, some each turn, and adds them up.
 */
#include "daemon/api/query.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/api/query-answer.h"
#include "daemon/api/query-parts.h"
#include "daemon/api/query-read.h"
#include "daemon/api/query-slots.h"
#include "daemon/api/reply-text.h"

#define TURN_US 20000 /* about so long a query works in one turn */

struct query *query_free(struct query *query)
{
	if (!query)
		return NULL;
	query_drop_parts(query);
	query_slots_done(query);
	window_sum_free(query->sum);
	window_list_done(&query->windows);
	function_reply_free(query->functions);
	store_reader_free(query->reader);
	free(query->bytes);
	query_request_done(&query->request);
	if (query->holds)
		store_release(archive_get_store(query->archive));
	free(query);
	return NULL;
}

int query_new(struct query **ret, struct archive *archive, struct call *call, bool functions,
	      const struct query_limits *limits)
{
	_cleanup_(query_freep) struct query *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	r = query_request_read(&q->request, call, functions);
	if (r > 0 && functions)
		r = function_reply_new(&q->functions, q->request.by, q->request.by_program) ?: 1;
	if (r <= 0)
		return r;
	q->archive = archive;
	q->call = call;
	q->privileged = call_is_privileged(call);
	q->limits = limits;
	if (functions)
		q->functions->sum->symbol = q->request.symbol;
	if (functions && !q->privileged)
		q->functions->text.max = REPLY_MAX_USER_BYTES;
	*ret = TAKE_PTR(q);
	return 1;
}

bool query_wants_open(const struct query *query)
{
	return query->request.last == 0;
}

static size_t n_rows(const struct profile *p)
{
	return p->n_functions + p->n_stacks + p->n_streams + p->n_branches + p->n_blocks;
}

/* 0; -E2BIG or -ETIME where it has taken more than it may. */
static int check_limits(const struct query *q)
{
	const struct query_limits *limits = q->limits;
	size_t max_bytes = q->privileged ? limits->max_bytes : limits->max_user_bytes, n = 0;
	uint64_t max_ms = q->privileged ? limits->max_cpu_ms : limits->max_user_cpu_ms;

	for (size_t i = 0; i < q->n_parts; i++)
		n += profile_bytes(q->parts[i]);
	if (q->sum)
		n += window_sum_bytes(q->sum);
	if (q->functions)
		n += q->functions->sum->n_rows * (sizeof(*q->functions->sum->rows) +
						  sizeof(*q->functions->sum->names->processes));
	if (q->functions && q->functions->programs)
		n += program_sum_bytes(q->functions->programs);
	if (n > max_bytes)
		return -E2BIG;
	return q->cpu_ns / 1000000 > max_ms ? -ETIME : 0;
}

/* Does the step at once if it is short, else leaves it to the caller. 1 or -errno. */
static int do_or_leave(struct query *q, int (*step)(struct query *q))
{
	size_t n = q->functions ? q->functions->sum->n_rows : 0;
	int r;

	for (size_t i = 0; i < q->n_parts; i++)
		n += n_rows(q->parts[i]);
	if (q->sum)
		n += window_sum_n_rows(q->sum);
	q->step = step;
	if (n > q->limits->rows_at_once)
		return 1;
	r = query_do_step(q);
	return r < 0 ? r : 1;
}

int query_do_step(struct query *query)
{
	int (*step)(struct query * q) = TAKE_PTR(query->step);

	return step(query);
}

/* 0, or -errno with the call not answered. */
static int reply(struct query *q)
{
	int r = call_reply_text(q->call, TAKE_PTR(q->bytes), q->n_bytes, false);

	if (r == 0)
		q->call = NULL;
	return r;
}

/* What was made of windows counts as read once it is taken; a slot, once it is made. */
static bool has_unread(const struct query *q)
{
	return q->n_read < q->n_stored || q->in_slot || q->made;
}

/* Reads until @until_us: 1, or -errno. */
static int read_some(struct query *q, uint64_t until_us)
{
	int r;

	do {
		if (q->n_parts == ARRAY_SIZE(q->parts))
			return do_or_leave(q, query_add_up);
		r = query_read(q);
		r = r ?: check_limits(q);
	} while (r == 0 && has_unread(q) && clock_us(CLOCK_MONOTONIC) < until_us);
	return r < 0 ? r : 1;
}

void query_end(struct query *q, int r)
{
	if (r == -EBADMSG && q->reader)
		store_report_damage(archive_get_store(q->archive), &q->fault);
}

int query_work(struct query *q)
{
	uint64_t until_us = clock_us(CLOCK_MONOTONIC) + TURN_US;
	int r;

	if (!q->began) {
		r = query_begin(q);
		if (r <= 0)
			return r;
	}
	r = check_limits(q);
	if (r < 0)
		return r;
	if (has_unread(q)) {
		r = read_some(q, until_us);
		if (r < 0 || q->step || has_unread(q) || clock_us(CLOCK_MONOTONIC) >= until_us)
			return r;
	}
	if (!q->bytes && query_has_cut(q)) {
		r = do_or_leave(q, query_cut);
		if (r < 0 || q->step)
			return r;
	}
	if (q->functions && !q->bytes) {
		r = query_find_programs(q, until_us) ?: query_name(q, until_us);
		if (r != 0)
			return r;
	}
	if (!q->bytes) {
		r = do_or_leave(q, query_answer_write);
		if (r < 0 || q->step)
			return r;
	}
	return reply(q);
}
