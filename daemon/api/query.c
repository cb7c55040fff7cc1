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
#include <string.h>

#include "common/profile/filter.h"
#include "common/profile/profile-json.h"
#include "common/profile/redact.h"
#include "common/profile/unite.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/api/error-reply.h"
#include "daemon/api/reply-text.h"

#define TURN_US    20000 /* about so long a query works in one turn */
#define BATCH_ROWS 50000 /* of counts, after which no more windows are read at once */

static void drop_parts(struct query *q)
{
	for (size_t i = 0; i < q->n_parts; i++)
		profile_free(q->parts[i]);
	q->n_parts = 0;
}

struct query *query_free(struct query *query)
{
	if (!query)
		return NULL;
	drop_parts(query);
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
		r = function_reply_new(&q->functions, q->request.by) ?: 1;
	if (r <= 0)
		return r;
	q->archive = archive;
	q->call = call;
	q->privileged = call_is_privileged(call);
	q->limits = limits;
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

/* The next part is a copy of what matches of @profile. */
static int add_filtered(struct query *q, const struct profile *profile)
{
	struct profile *part;
	int r = profile_filter(&part, profile, &q->request.filter);

	if (r < 0)
		return r;
	profile_drop_tables(part, ~q->request.tables);
	q->parts[q->n_parts++] = part;
	return 0;
}

/* The next part is the sum of the stored windows. */
static int add_sum(struct query *q)
{
	_cleanup_(profile_freep) struct profile *sum = NULL;
	int r = window_sum_take(q->sum, &sum);

	q->sum = window_sum_free(q->sum);
	if (r < 0)
		return r;
	if (profile_filter_is_by_process(&q->request.filter))
		return add_filtered(q, sum); /* what is counted is what matches */
	q->parts[q->n_parts++] = TAKE_PTR(sum);
	return 0;
}

static int add_up(struct query *q)
{
	struct profile *sum;
	int r;

	if (q->n_parts == 1)
		return 0;
	r = profile_merge(&sum, (const struct profile *const *)q->parts, q->n_parts);
	if (r < 0)
		return r;
	drop_parts(q);
	q->parts[q->n_parts++] = sum;
	return 0;
}

/* For store_for_each(): stored windows from the first to the last. */
static int on_stored(const struct window *window, void *userdata)
{
	struct query *q = userdata;

	if (window->id < q->request.first || (q->request.last > 0 && window->id > q->request.last))
		return 0;
	return window_list_add(&q->windows, window);
}

static bool has_window(const struct query *q, int64_t id)
{
	for (size_t i = 0; i < q->n_stored; i++)
		if (q->windows.rows[i].id == id)
			return true;
	return false;
}

/* Adds *@n windows of the batch, at least one; of what does not match nothing is kept. */
static int read_windows(struct query *q, struct store_reader *reader,
			const struct store_batch *batch, size_t *n)
{
	struct store *store = archive_get_store(q->archive);
	int r = q->sum ? 0 : window_sum_new(&q->sum, q->request.tables);

	if (r < 0)
		return r;
	r = reader ? store_reader_sum(reader, batch, q->sum, n, &q->fault) :
		     store_read_sum(store, batch, q->sum, n, &q->fault);
	return r == 0 && profile_filter_is_by_process(&q->request.filter) ? add_sum(q) : r;
}

/* The most usual: one window, for which the list need not be read. 1, or 0 if it is missing;
 * -errno. */
static int read_one(struct query *q)
{
	struct window window = { .id = q->request.first };
	bool found = true;
	const struct store_batch batch = { .windows = &window, .found = &found, .n = 1 };
	size_t n;
	int r;

	if (q->functions) {
		r = store_read_functions(archive_get_store(q->archive), &window, &q->request.filter,
					 q->functions->sum, &q->fault);
		found = r > 0;
	} else {
		r = read_windows(q, NULL, &batch, &n);
	}
	if (r < 0 || !found)
		return MIN(r, 0);
	r = window_list_add(&q->windows, &window);
	q->n_stored = q->n_read = q->n_seen = q->windows.n;
	return r < 0 ? r : 1;
}

/* Whether the @n windows take long to read, and there is a reader for them. */
static bool has_large(struct query *q, struct window *windows, size_t n)
{
	const struct store_batch batch = { .windows = windows, .n = n, .max_rows = BATCH_ROWS };
	struct store *store = archive_get_store(q->archive);
	struct fault fault;

	if (q->functions || !store_has_large(store, &batch, q->limits->rows_at_once))
		return false;
	return q->reader || store_reader_new(&q->reader, store, &fault) > 0;
}

/* Which stored windows there are. 1, or 0 if the first or the last is missing; -errno. */
static int choose_stored(struct query *q)
{
	struct store *store = archive_get_store(q->archive);
	struct window only = { .id = q->request.first };
	int r;

	if (q->request.first == q->request.last && !has_large(q, &only, 1))
		return read_one(q);
	store_hold(store);
	q->holds = true;
	r = store_for_each(store, 0, UINT64_MAX, on_stored, q, &q->fault);
	if (r < 0)
		return r;
	q->n_stored = q->windows.n;
	return has_window(q, q->request.first) &&
	       (q->request.last == 0 || has_window(q, q->request.last));
}

/* 1; 0 if the query was answered by an error; -errno. */
static int begin(struct query *q)
{
	const struct profile *profile = NULL, *waiting;
	struct archive *archive = q->archive;
	struct window window, unused;
	int r;

	q->began = true;
	if (q->request.first > 0) {
		r = choose_stored(q);
		if (r == 0)
			error_reply_no_such_window(TAKE_PTR(q->call), archive);
		if (r <= 0)
			return r;
	}
	q->n_chosen = q->windows.n;
	if (!query_wants_open(q))
		return 1;
	if (!archive_get_open(archive, clock_us(CLOCK_REALTIME), &window, &profile)) {
		error_reply_not_sampling(TAKE_PTR(q->call));
		return 0;
	}
	r = window_list_add(&q->windows, &window);
	q->n_chosen = q->windows.n;
	if (r == 0 && profile)
		r = add_filtered(q, profile);
	waiting = archive_get_waiting(archive, &unused);
	if (r == 0 && waiting)
		r = add_filtered(q, waiting);
	return r < 0 ? r : 1;
}

/* Those of the next @n windows that retention has taken meanwhile are left out. */
static void take_found(struct query *q, const bool *found, size_t n)
{
	struct window_list *windows = &q->windows;
	size_t at = q->n_read, n_found = 0;

	for (size_t i = 0; i < n; i++)
		if (found[i])
			windows->rows[at + n_found++] = windows->rows[at + i];
	memmove(&windows->rows[at + n_found], &windows->rows[at + n],
		(windows->n - at - n) * sizeof(*windows->rows));
	windows->n -= n - n_found;
	q->n_stored -= n - n_found;
	q->n_read += n_found;
}

/* Reads some more windows: many small ones cost little more than one. With the reader, if there is
 * one. */
static int read_batch(struct query *q, struct store_reader *reader)
{
	size_t n = MIN(q->n_stored - q->n_read, (size_t)QUERY_BATCH);
	bool found[QUERY_BATCH];
	const struct store_batch batch = { .windows = &q->windows.rows[q->n_read],
					   .found = found,
					   .n = n,
					   .max_rows = BATCH_ROWS };
	int r;

	r = read_windows(q, reader, &batch, &n);
	if (r == 0)
		take_found(q, found, n);
	return r;
}

/* The step that reads large windows. */
static int read_beside(struct query *q)
{
	return read_batch(q, q->reader);
}

/* 0; 1: the next windows are left to a step; -errno. */
static int read_next(struct query *q)
{
	if (!has_large(q, &q->windows.rows[q->n_read],
		       MIN(q->n_stored - q->n_read, (size_t)QUERY_BATCH)))
		return read_batch(q, NULL);
	q->step = read_beside;
	return 1;
}

/* The number of chosen windows after which the next part begins. */
static size_t end_of_part(const struct query *q)
{
	return (q->functions->n_parts + 1) * q->n_chosen / (size_t)q->request.n_parts;
}

static int read_functions(struct query *q)
{
	struct store *store = archive_get_store(q->archive);
	struct window *window = &q->windows.rows[q->n_read];
	bool found;
	int r;

	while (q->n_seen > 0 && q->n_seen >= end_of_part(q)) {
		r = function_reply_end_part(q->functions);
		if (r < 0)
			return r;
	}
	r = store_read_functions(store, window, &q->request.filter, q->functions->sum, &q->fault);
	if (r < 0)
		return r;
	found = r > 0;
	take_found(q, &found, 1);
	q->n_seen++;
	return 0;
}

/* The open window is the last of the last part. */
static int finish_functions(struct query *q)
{
	int r = 0;

	while (r == 0 && q->functions->n_parts + 1 < (size_t)q->request.n_parts)
		r = function_reply_end_part(q->functions);
	for (size_t i = 0; r == 0 && i < q->n_parts; i++)
		r = function_sum_add_profile(q->functions->sum, q->parts[i]);
	if (r == 0)
		r = function_reply_end_part(q->functions);
	return r ?: function_sum_finish(q->functions->sum, !q->privileged);
}

/* What is to be sent: a profile of nothing where no window had any part. */
static int finish_sum(struct query *q)
{
	int r;

	if (q->functions)
		return finish_functions(q);
	r = q->sum ? add_sum(q) : 0;
	if (r < 0)
		return r;
	if (q->n_parts == 0) {
		r = profile_new(&q->parts[0]);
		if (r == 0)
			q->n_parts = 1;
		r = r ?: profile_finalize(q->parts[0]);
	} else {
		r = add_up(q);
	}
	if (r == 0)
		r = profile_unite(q->parts[0]);
	if (r == 0 && !q->privileged)
		r = profile_redact(&q->parts[0]);
	return r;
}

static int write_reply(struct query *q, struct reply_text *text)
{
	int r = q->functions ? function_reply_write_json(q->functions) : 0;

	if (r < 0)
		return r;
	fputc(q->functions ? ',' : '{', text->f);
	r = window_list_write_json(&q->windows, text->f);
	if (r < 0)
		return r;
	if (!q->functions) {
		fputs(",\"profile\":", text->f);
		r = profile_json_write(q->parts[0], text->f);
	}
	fputc('}', text->f);
	return r;
}

/* Writes the reply: bytes and n_bytes. 0 or -errno. */
static int write_all(struct query *q)
{
	struct reply_text own, *text = q->functions ? &q->functions->text : &own;
	int r, finished;

	r = finish_sum(q);
	if (r < 0)
		return r;
	if (!q->functions) {
		r = reply_text_open(text, q->privileged ? REPLY_MAX_BYTES : REPLY_MAX_USER_BYTES);
		if (r < 0)
			return r;
	}
	r = write_reply(q, text);
	drop_parts(q);
	finished = reply_text_finish(text, &q->bytes, &q->n_bytes);
	reply_text_done(text);
	return finished < 0 ? finished : r;
}

/* 0, or -errno with the call not answered. */
static int reply(struct query *q)
{
	int r = call_reply_text(q->call, TAKE_PTR(q->bytes), q->n_bytes, false);

	if (r == 0)
		q->call = NULL;
	return r;
}

/* Reads until @until_us: 1, or -errno. */
static int read_some(struct query *q, uint64_t until_us)
{
	int r;

	do {
		if (q->n_parts == ARRAY_SIZE(q->parts))
			return do_or_leave(q, add_up);
		r = q->functions ? read_functions(q) : read_next(q);
		r = r ?: check_limits(q);
	} while (r == 0 && q->n_read < q->n_stored && clock_us(CLOCK_MONOTONIC) < until_us);
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
		r = begin(q);
		if (r <= 0)
			return r;
	}
	r = check_limits(q);
	if (r < 0)
		return r;
	if (q->n_read < q->n_stored) {
		r = read_some(q, until_us);
		if (r < 0 || q->step || q->n_read < q->n_stored ||
		    clock_us(CLOCK_MONOTONIC) >= until_us)
			return r;
	}
	if (!q->bytes) {
		r = do_or_leave(q, write_all);
		if (r < 0 || q->step)
			return r;
	}
	return reply(q);
}
