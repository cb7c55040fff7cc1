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
#include <time.h>

#include "common/profile/filter.h"
#include "common/profile/profile-json.h"
#include "common/profile/redact.h"
#include "daemon/api/error-reply.h"
#include "daemon/api/query-request.h"
#include "daemon/api/reply-text.h"
#include "daemon/api/window-json.h"
#include "daemon/store/function-sum.h"
#include "daemon/varlink/server-settings.h"

#define TURN_US     20000   /* about so long a query works in one turn */
#define BATCH       64      /* windows read at once, and such sums kept before they are added up */
#define BATCH_ROWS  50000   /* of counts, after which no more windows are read at once */
#define FRESH_US    100000  /* a part of the open window this old is new enough */
#define PATIENCE_US 3000000 /* with the collector, which is asked for a part */

struct query {
	struct query *next;
	struct queries *queries;
	struct call *call; /* NULL: the caller has gone */
	struct query_request request;

	bool began;                 /* the windows are chosen */
	struct window_list windows; /* all that the profile is of */
	size_t n_read;              /* of the stored ones among them, which come first */
	size_t n_stored;
	struct profile *parts[BATCH + 1]; /* the first is the sum so far */
	size_t n_parts;

	/* of GetFunctions; the open window's profiles are parts */
	struct function_sum *functions;
	size_t n_chosen, n_seen; /* of the windows chosen: all, and those that were read, or gone */
};

struct queries {
	sd_event *event;
	struct archive *archive;
	void (*cut)(void *userdata);
	void *userdata;
	struct query *first; /* the one in work */
	sd_event_source *on_turn, *on_impatient;
	uint64_t part_us; /* when the last part came; CLOCK_MONOTONIC */
};

static uint64_t clock_us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void query_drop_parts(struct query *q)
{
	for (size_t i = 0; i < q->n_parts; i++)
		profile_free(q->parts[i]);
	q->n_parts = 0;
}

static struct query *query_free(struct query *q)
{
	if (!q)
		return NULL;
	query_drop_parts(q);
	window_list_done(&q->windows);
	function_sum_free(q->functions);
	query_request_done(&q->request);
	free(q);
	return NULL;
}

DEFINE_CLEANUP(struct query *, query_free);

static void on_gone(struct call *call, void *userdata)
{
	struct query *q = userdata;

	q->call = NULL;
}

static bool wants_open(const struct query *q)
{
	return q->request.last == 0;
}

static void set_turn(struct queries *queries, int enabled)
{
	sd_event_source_set_enabled(queries->on_turn, enabled);
}

/* Lets the first query go on: at once, or when the part it wants has come. */
static void take_up_first(struct queries *queries)
{
	const struct query *q = queries->first;
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	if (!q) {
		set_turn(queries, SD_EVENT_OFF);
		return;
	}
	if (!wants_open(q) || (queries->part_us && now < queries->part_us + FRESH_US)) {
		set_turn(queries, SD_EVENT_ON);
		return;
	}
	set_turn(queries, SD_EVENT_OFF);
	sd_event_source_set_time(queries->on_impatient, now + PATIENCE_US);
	sd_event_source_set_enabled(queries->on_impatient, SD_EVENT_ONESHOT);
	queries->cut(queries->userdata);
}

void queries_on_part(struct queries *queries)
{
	queries->part_us = clock_us(CLOCK_MONOTONIC);
	sd_event_source_set_enabled(queries->on_impatient, SD_EVENT_OFF);
	if (queries->first)
		set_turn(queries, SD_EVENT_ON);
}

/* A collector that does not answer is not waited for any longer: what is known has to do. */
static int on_impatient(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct queries *queries = userdata;

	set_turn(queries, SD_EVENT_ON);
	return 0;
}

/* Its first part is the filtered copy of @profile. */
static int add_filtered(struct query *q, const struct profile *profile)
{
	struct profile *part;
	int r = profile_filter(&part, profile, &q->request.filter);

	if (r == 0)
		q->parts[q->n_parts++] = part;
	return r;
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
	query_drop_parts(q);
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

/* The most usual: one window, for which the list need not be read. 1, or 0 if it is missing;
 * -errno. */
static int read_one(struct query *q)
{
	struct store *store = archive_get_store(q->queries->archive);
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct window window = { .id = q->request.first };
	struct fault fault = {};
	int r;

	r = q->functions ?
		    store_read_functions(store, &window, &q->request.filter, q->functions, &fault) :
		    store_read(store, window.id, &profile, &window, &fault);
	if (r <= 0)
		return r;
	r = window_list_add(&q->windows, &window);
	if (r == 0 && profile)
		r = add_filtered(q, profile);
	q->n_stored = q->n_read = q->n_seen = q->windows.n;
	return r < 0 ? r : 1;
}

/* Which stored windows there are. 1, or 0 if the first or the last is missing; -errno. */
static int choose_stored(struct query *q)
{
	struct store *store = archive_get_store(q->queries->archive);
	struct fault fault = {};
	int r;

	if (q->request.first == q->request.last)
		return read_one(q);
	r = store_for_each(store, 0, UINT64_MAX, on_stored, q, &fault);
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
	struct archive *archive = q->queries->archive;
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
	if (!wants_open(q))
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

/* Reads some more windows: many small ones cost little more than one. */
static int read_next(struct query *q)
{
	struct store *store = archive_get_store(q->queries->archive);
	_cleanup_(profile_freep) struct profile *profile = NULL;
	size_t n = MIN(q->n_stored - q->n_read, (size_t)BATCH);
	bool found[BATCH];
	struct fault fault = {};
	int r;

	r = store_read_many(store, &q->windows.rows[q->n_read], found, n, BATCH_ROWS, &n, &profile,
			    &fault);
	if (r < 0)
		return r;
	take_found(q, found, n);
	r = add_filtered(q, profile);
	if (r == 0 && q->n_parts == ARRAY_SIZE(q->parts))
		r = add_up(q);
	return r;
}

/* After so many of the windows chosen the next part begins. */
static size_t end_of_part(const struct query *q)
{
	return (q->functions->n_parts + 1) * q->n_chosen / (size_t)q->request.n_parts;
}

static int read_functions(struct query *q)
{
	struct store *store = archive_get_store(q->queries->archive);
	struct window *window = &q->windows.rows[q->n_read];
	struct fault fault = {};
	bool found;
	int r;

	while (q->n_seen > 0 && q->n_seen >= end_of_part(q)) {
		r = function_sum_end_part(q->functions);
		if (r < 0)
			return r;
	}
	r = store_read_functions(store, window, &q->request.filter, q->functions, &fault);
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
		r = function_sum_end_part(q->functions);
	for (size_t i = 0; r == 0 && i < q->n_parts; i++)
		r = function_sum_add_profile(q->functions, q->parts[i]);
	if (r == 0)
		r = function_sum_end_part(q->functions);
	return r ?: function_sum_finish(q->functions, !call_is_privileged(q->call));
}

/* What is to be sent: a profile of nothing where no window had any part. */
static int finish_sum(struct query *q)
{
	int r;

	if (q->functions)
		return finish_functions(q);
	if (q->n_parts == 0) {
		r = profile_new(&q->parts[0]);
		if (r == 0)
			q->n_parts = 1;
		r = r ?: profile_finalize(q->parts[0]);
	} else {
		r = add_up(q);
	}
	if (r == 0 && !call_is_privileged(q->call))
		r = profile_redact(&q->parts[0]);
	return r;
}

static int write_reply(struct query *q, struct reply_text *text)
{
	int r = q->functions ? function_sum_write_json(q->functions) : 0;

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

/* Replies; 0, or -errno with the call not answered. */
static int reply(struct query *q)
{
	struct reply_text own, *text = q->functions ? &q->functions->text : &own;
	char *bytes = NULL;
	size_t n = 0;
	int r, finished;

	r = finish_sum(q);
	if (r < 0)
		return r;
	if (!q->functions) {
		r = reply_text_open(text, QUERY_MAX_REPLY_BYTES);
		if (r < 0)
			return r;
	}
	r = write_reply(q, text);
	query_drop_parts(q);
	finished = reply_text_finish(text, &bytes, &n);
	reply_text_done(text);
	if (finished < 0 || r < 0) {
		free(bytes);
		return finished < 0 ? finished : r;
	}
	r = call_reply_text(q->call, bytes, n, false);
	if (r == 0)
		q->call = NULL;
	return r;
}

/* Works a while. 1: there is more to do; 0: it is over; -errno. */
static int work(struct query *q)
{
	uint64_t until = clock_us(CLOCK_MONOTONIC) + TURN_US;
	int r;

	if (!q->call)
		return 0;
	if (!q->began) {
		r = begin(q);
		if (r <= 0)
			return r;
	}
	while (q->n_read < q->n_stored) {
		r = q->functions ? read_functions(q) : read_next(q);
		if (r < 0)
			return r;
		if (clock_us(CLOCK_MONOTONIC) >= until)
			return 1;
	}
	return reply(q);
}

static void drop_first(struct queries *queries)
{
	struct query *q = queries->first;

	queries->first = q->next;
	query_free(q);
}

static int on_turn(sd_event_source *source, void *userdata)
{
	struct queries *queries = userdata;
	struct query *q = queries->first;
	int r = q ? work(q) : 0;

	if (r > 0)
		return 0;
	if (q && q->call) {
		call_on_gone(q->call, NULL, NULL);
		error_reply(TAKE_PTR(q->call), r < 0 ? r : -EINVAL);
	}
	if (q)
		drop_first(queries);
	take_up_first(queries);
	return 0;
}

int queries_new(struct queries **ret, sd_event *event, struct archive *archive,
		void (*cut)(void *userdata), void *userdata)
{
	_cleanup_(queries_freep) struct queries *queries = calloc(1, sizeof(*queries));
	int r;

	if (!queries)
		return -ENOMEM;
	queries->event = sd_event_ref(event);
	queries->archive = archive;
	queries->cut = cut;
	queries->userdata = userdata;
	r = sd_event_add_defer(event, &queries->on_turn, on_turn, queries);
	if (r >= 0) /* callers first: this one is always due */
		r = sd_event_source_set_priority(queries->on_turn, SERVER_PRIORITY + 1);
	if (r >= 0)
		r = sd_event_source_set_enabled(queries->on_turn, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(event, &queries->on_impatient, CLOCK_MONOTONIC, 0, 0,
				      on_impatient, queries);
	if (r >= 0)
		r = sd_event_source_set_enabled(queries->on_impatient, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(queries);
	return 0;
}

struct queries *queries_free(struct queries *queries)
{
	if (!queries)
		return NULL;
	while (queries->first) {
		if (queries->first->call)
			call_on_gone(queries->first->call, NULL, NULL);
		drop_first(queries);
	}
	sd_event_source_disable_unref(queries->on_turn);
	sd_event_source_disable_unref(queries->on_impatient);
	sd_event_unref(queries->event);
	free(queries);
	return NULL;
}

/* Behind the one in work and all others of its kind; the privileged go before the unprivileged. */
static void enqueue(struct queries *queries, struct query *q)
{
	struct query **at = &queries->first;

	while (*at && (*at == queries->first || !(*at)->call || call_is_privileged((*at)->call) ||
		       !call_is_privileged(q->call)))
		at = &(*at)->next;
	q->next = *at;
	*at = q;
	if (queries->first == q)
		take_up_first(queries);
}

int queries_add(struct queries *queries, struct call *call, bool functions)
{
	_cleanup_(query_freep) struct query *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	r = query_request_read(&q->request, call, functions);
	if (r > 0 && functions)
		r = function_sum_new(&q->functions, QUERY_MAX_REPLY_BYTES) ?: 1;
	if (r <= 0)
		return r;
	q->queries = queries;
	q->call = call;
	call_on_gone(call, on_gone, q);
	enqueue(queries, TAKE_PTR(q));
	return 0;
}
