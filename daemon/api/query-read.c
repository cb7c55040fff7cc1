/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/query-read.h"

#include <errno.h>
#include <string.h>

#include "common/profile/filter.h"
#include "common/util/clock.h"
#include "common/util/time-part.h"
#include "daemon/api/error-reply.h"
#include "daemon/api/query-counts.h"
#include "daemon/api/query-parts.h"
#include "daemon/api/query-slots.h"
#include "daemon/rows/function-cut.h"

#define BATCH_ROWS 50000 /* of counts, after which no more windows are read at once */

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
	return r == 0 && profile_filter_is_by_process(&q->request.filter) ? query_take_sum(q) : r;
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

	if (q->request.first == q->request.last && q->request.until_us == 0 &&
	    !has_large(q, &only, 1))
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
int query_begin(struct query *q)
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
	if (q->request.last != 0)
		return 1;
	if (!archive_get_open(archive, clock_us(CLOCK_REALTIME), &window, &profile)) {
		error_reply_not_sampling(TAKE_PTR(q->call));
		return 0;
	}
	r = window_list_add(&q->windows, &window);
	q->n_chosen = q->windows.n;
	if (r == 0 && profile)
		r = query_add_filtered(q, profile);
	waiting = archive_get_waiting(archive, &unused);
	if (r == 0 && waiting)
		r = query_add_filtered(q, waiting);
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

static size_t count_found(const bool *found, size_t n)
{
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++)
		n_found += found[i];
	return n_found;
}

/* Reads some more windows: many small ones cost little more than one. With the reader, if there is
 * one. */
static int read_batch(struct query *q, struct store_reader *reader)
{
	size_t n = q->n_next;
	bool found[QUERY_BATCH];
	const struct store_batch batch = { .windows = &q->windows.rows[q->n_read],
					   .found = found,
					   .n = n,
					   .max_rows = BATCH_ROWS,
					   .merged_to = query_slots_last(q) };
	int r;

	r = read_windows(q, reader, &batch, &n);
	if (r < 0)
		return r;
	query_slots_note_read(q, n, count_found(found, n));
	take_found(q, found, n);
	return 0;
}

/* The step that reads large windows. */
static int read_beside(struct query *q)
{
	return read_batch(q, q->reader);
}

/* 0; 1: the next windows are left to a step; -errno. */
static int read_next(struct query *q)
{
	int r = query_slots_next(q, &q->n_next);

	if (r != 0)
		return r < 0 ? r : q->step != NULL;
	if (!has_large(q, &q->windows.rows[q->n_read], q->n_next))
		return read_batch(q, NULL);
	q->step = read_beside;
	return 1;
}

/* Whether the window @at behind the next belongs to a later part: of the time, or of as many
 * windows. */
static bool ends_part(const struct query *q, size_t at)
{
	const struct window *window = &q->windows.rows[q->n_read + at];
	const struct time_parts times = { (uint64_t)q->request.since_us,
					  (uint64_t)q->request.until_us,
					  (size_t)q->request.n_parts };
	size_t part = q->functions->n_parts, n_seen = q->n_seen + at;

	if (q->request.until_us > 0)
		return part < time_part_of(&times, window->start_us, window->length_us);
	return n_seen > 0 && n_seen >= (part + 1) * q->n_chosen / times.n;
}

static int read_functions(struct query *q)
{
	struct store *store = archive_get_store(q->archive);
	struct window *window = &q->windows.rows[q->n_read];
	bool found;
	int r;

	while (ends_part(q, 0)) {
		r = function_reply_end_part(q->functions);
		if (r < 0)
			return r;
	}
	r = query_counts_begin(q, ends_part);
	if (r != 0)
		return MIN(r, 0);
	r = store_read_functions(store, window, &q->request.filter, q->functions->sum, &q->fault);
	if (r < 0)
		return r;
	found = r > 0;
	take_found(q, &found, 1);
	q->n_seen++;
	return query_counts_note_read(q, found);
}

int query_read(struct query *q)
{
	return q->functions ? read_functions(q) : read_next(q);
}

/* The rows are of processes, all of stored windows. */
static bool has_stored_processes(const struct query *q)
{
	return q->functions && q->functions->sum->by == SUM_PROCESS && q->n_parts == 0 &&
	       q->functions->sum->n_profiles == 0;
}

bool query_has_cut(const struct query *q)
{
	return has_stored_processes(q) && q->request.limit > 0;
}

int query_cut(struct query *q)
{
	size_t limit = (size_t)q->request.limit;

	q->request.limit = 0;
	return function_cut_processes(q->functions->sum, limit, &q->functions->n_left_out);
}

int query_find_programs(struct query *q, uint64_t until_us)
{
	struct store *store = archive_get_store(q->archive);
	struct program_sum *programs = q->functions->programs;
	int r = programs && !programs->is_added_up && has_stored_processes(q);

	while (r > 0 && clock_us(CLOCK_MONOTONIC) < until_us)
		r = store_find_programs(store, programs, q->functions->sum, &q->fault);
	return r;
}

int query_name(struct query *q, uint64_t until_us)
{
	struct store *store = archive_get_store(q->archive);
	int r = 1;

	while (r > 0 && clock_us(CLOCK_MONOTONIC) < until_us)
		r = store_name_functions(store, q->functions->sum, &q->fault);
	return r;
}
