/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/follower.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "common/profile/tables.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "common/util/compare.h"
#include "ship/names.h"

#define MAX_BATCH_BYTES (8 << 20)
#define SLACK_US        100000 /* of the ends of windows that follow each other */
#define FIRST_WAIT_US   1000000
#define LONGEST_WAIT_US 60000000
#define PUT_BACK_US     86400000000 /* the clock, while nobody follows: windows before are not seen */
#define TIMEOUT_MS      300000      /* more than the daemon takes for a profile */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool stopped;
/* For windows, and for a profile; under the mutex. */
static struct connection *waiting, *asking;

struct following {
	const struct follower_settings *settings;
	struct connection *connection; /* for profiles */
	struct batch *batch;           /* NULL: none is begun */
	struct spool_mark mark;        /* the last window in a batch */
	struct spool_mark seen;        /* the last one of @sum, or the same */
	struct window_info sum; /* of windows that follow each other; its id is the first's */
	size_t n_sum;
	uint64_t alone_us; /* windows that start before are asked for one by one */
	bool is_known_database, is_other_database; /* see note_database() */
	bool failed;                               /* to ask for a profile */
	bool soon;                                 /* that was no failure of the daemon */
};

void follower_stop(void)
{
	stopped = true;
	pthread_mutex_lock(&mutex);
	if (waiting)
		connection_interrupt(waiting);
	if (asking)
		connection_interrupt(asking);
	pthread_mutex_unlock(&mutex);
}

static void set_connection(struct connection **which, struct connection *connection)
{
	pthread_mutex_lock(&mutex);
	*which = connection;
	pthread_mutex_unlock(&mutex);
}

static void close_asking(struct following *f)
{
	set_connection(&asking, NULL);
	f->connection = connection_free(f->connection);
}

static int open_asking(struct following *f, struct fault *fault)
{
	int r;

	close_asking(f);
	r = connection_open(&f->connection, f->settings->socket, fault);
	if (r < 0)
		return r;
	connection_set_timeout(f->connection, TIMEOUT_MS);
	set_connection(&asking, f->connection);
	return 0;
}

static void drop_batch(struct following *f, const struct batch *batch, struct fault *fault)
{
	fault_set(fault, 0, "out of memory; %" PRIu64 " windows are dropped", batch->n_windows);
	spool_count_dropped(f->settings->spool, batch->n_windows);
}

static void flush(struct following *f)
{
	_cleanup_(batch_freep) struct batch *batch = TAKE_PTR(f->batch);
	struct fault fault = {};
	int r;

	if (!batch)
		return;
	r = batch_finish(batch);
	if (r >= 0)
		r = spool_put(f->settings->spool, batch, &f->mark, &fault);
	else
		drop_batch(f, batch, &fault);
	if (r < 0 && f->settings->sender.seen)
		names_seen_forget(f->settings->sender.seen);
	f->settings->complain(FOLLOWER_SPOOL, &fault);
}

/*
 * Whether it has not been sent. Ids grow, also when the clock is put back; windows that were merged
 * as they aged have the id of the first. A new database begins with the first id.
 */
static bool is_new(const struct following *f, const struct window_info *window)
{
	const struct spool_mark *mark = &f->seen;

	if (window->open)
		return false;
	return window->id > mark->id ||
	       (f->is_other_database && window->start_us > mark->start_us &&
		window->start_us + SLACK_US >= mark->start_us + mark->length_us);
}

/* -ENOENT: a window of the sum has gone. */
static int add_sum(struct following *f, struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_(windows_done) struct windows windows = {};
	const struct daemon_api_request request = {
		.first = f->sum.id,
		.last = f->seen.id,
		.tables = format_is_profile(f->settings->sender.format) ?
				  PROFILE_TABLE(PROFILE_STACKS) :
				  0,
	};
	int r;

	r = daemon_api_get_profile(f->connection, &request, &profile, &windows, fault);
	if (r < 0)
		return r;
	if (f->batch && batch_day(f->batch->first_us) != batch_day(f->sum.start_us))
		flush(f);
	r = f->batch ? 0 : batch_new(&f->batch);
	r = r < 0 ? r : batch_add(f->batch, &f->settings->sender, &f->sum, f->seen.id, profile);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	f->batch->n_windows += f->n_sum;
	f->settings->complain(FOLLOWER_DAEMON, &(struct fault){});
	return 0;
}

static bool is_full(const struct following *f)
{
	const struct batch *batch = f->batch;

	return batch && (format_is_profile(f->settings->sender.format) ||
			 batch->end_us - batch->first_us >= f->settings->batch_us ||
			 batch_bytes(batch) >= MAX_BATCH_BYTES);
}

/* It may be of some windows alone: too large, too expensive, without an answer in time, damaged. */
static bool is_of_windows(int r)
{
	return r == -EMSGSIZE || r == -E2BIG || r == -ETIMEDOUT || r == -EBADMSG || r == -EREMOTEIO;
}

/* Whether the window was asked for by itself, as those of its sum could not be had. */
static bool is_alone(const struct following *f)
{
	return f->n_sum == 1 && f->sum.start_us < f->alone_us;
}

static void drop_window(struct following *f, const struct fault *cause)
{
	struct fault fault = {};

	fault_set(&fault, 0, "window %" PRId64 " is dropped: %.400s", f->sum.id, cause->text);
	f->settings->complain(FOLLOWER_WINDOW, &fault);
	spool_count_dropped(f->settings->spool, 1);
	f->n_sum = 0;
	f->mark = f->seen;
}

/* After a failure: the windows of the sum are asked for one by one, and one that fails alone is
 * dropped. 0: go on; else from a new connection. */
static int give_up(struct following *f, int r, struct fault *fault)
{
	f->failed = true;
	f->soon = is_of_windows(r);
	if (f->soon && !is_alone(f)) {
		f->alone_us = windows_end_us(&f->sum);
		return r;
	}
	if (f->soon && !stopped) {
		drop_window(f, fault);
		if (r == -ETIMEDOUT) /* does it answer at all? */
			return r;
		r = open_asking(f, fault);
		f->failed = r < 0;
	}
	if (r < 0)
		f->settings->complain(FOLLOWER_DAEMON, fault);
	return r;
}

/* The sum goes into the batch. */
static int close_sum(struct following *f)
{
	struct fault fault = {};
	int r = f->n_sum > 0 ? add_sum(f, &fault) : 0;

	if (r < 0 && r != -ENOENT)
		return give_up(f, r, &fault);
	if (r == -ENOENT)
		spool_count_dropped(f->settings->spool, f->n_sum);
	f->n_sum = 0;
	f->mark = f->seen;
	if (is_full(f))
		flush(f);
	return 0;
}

/* Whether the window and those of the sum are a span of ids and of time, of one day. */
static bool continues_sum(const struct following *f, const struct window_info *window)
{
	return f->sum.start_us >= f->alone_us && window->id > f->seen.id &&
	       window->start_us > f->seen.start_us &&
	       windows_end_us(window) - f->sum.start_us <= f->settings->sum_us + SLACK_US &&
	       batch_day(window->start_us) == batch_day(f->sum.start_us);
}

static void add_to_sum(struct following *f, const struct window_info *window)
{
	struct window_info *sum = &f->sum;

	if (f->n_sum++ == 0) {
		*sum = *window;
	} else {
		sum->length_us = windows_end_us(window) - sum->start_us;
		sum->samples += window->samples;
		sum->lost += window->lost;
		if (strcmp(sum->mode, window->mode) != 0)
			strcpy(sum->mode, "mixed");
	}
	f->seen = (struct spool_mark){ window->id, window->start_us, window->length_us };
}

/* The last window of a sum ends so near to its end that no other would fit. */
static bool is_sum_whole(const struct following *f)
{
	return is_alone(f) || f->sum.length_us + f->seen.length_us > f->settings->sum_us + SLACK_US;
}

static int add_window(struct following *f, const struct window_info *window)
{
	int r = 0;

	if (!is_new(f, window))
		return 0;
	if (f->n_sum > 0 && !continues_sum(f, window))
		r = close_sum(f);
	if (r < 0)
		return r;
	add_to_sum(f, window);
	return is_sum_whole(f) ? close_sum(f) : 0;
}

static int compare_ids(const void *p, const void *q)
{
	const struct window_info *a = p, *b = q;

	return COMPARE(a->id, b->id);
}

/*
 * What there is already: none is as new as the last one that was sent if another database was begun
 * since. A batch is of one database, so that its ids grow.
 */
static void note_database(struct following *f, const struct window_info *rows, size_t n)
{
	if (f->is_known_database)
		return;
	f->is_known_database = true;
	f->is_other_database = n == 0 || rows[n - 1].id < f->mark.id;
	if (f->is_other_database)
		flush(f);
}

/* They come by their starts; by their ids a clock that was put back does not matter. */
static int on_windows(const struct windows *windows, void *userdata)
{
	struct following *f = userdata;
	_cleanup_free_ struct window_info *rows = NULL;
	int r = 0;

	if (windows->n > 0) {
		rows = calloc(windows->n, sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		memcpy(rows, windows->rows, windows->n * sizeof(*rows));
		qsort(rows, windows->n, sizeof(*rows), compare_ids);
	}
	note_database(f, rows, windows->n);
	for (size_t i = 0; r >= 0 && i < windows->n && !stopped; i++)
		r = add_window(f, &rows[i]);
	return r < 0 ? r : stopped ? -EINTR : 0;
}

/* Until the connection ends. */
static void follow(struct following *f, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *windows = NULL;
	uint64_t since_us = f->mark.start_us - MIN(f->mark.start_us, (uint64_t)PUT_BACK_US);
	int r;

	f->seen = f->mark; /* what was summed is asked for again */
	f->n_sum = 0;
	f->is_known_database = false;
	r = connection_open(&windows, f->settings->socket, fault);
	r = r < 0 ? r : open_asking(f, fault);
	set_connection(&waiting, windows);
	if (r >= 0 && !stopped)
		daemon_api_follow_windows(windows, since_us, UINT64_MAX, on_windows, f, fault);
	set_connection(&waiting, NULL);
	close_asking(f);
}

void follower_run(const struct follower_settings *settings)
{
	struct following f = { .settings = settings, .mark = spool_mark(settings->spool) };
	uint64_t wait_us = FIRST_WAIT_US;

	if (f.mark.start_us == 0) /* the first start: what is to come */
		f.mark.start_us = clock_us(CLOCK_REALTIME);
	while (!stopped) {
		struct fault fault = {};
		uint64_t start_us = clock_us(CLOCK_MONOTONIC);

		f.failed = f.soon = false;
		follow(&f, &fault);
		if (stopped)
			break;
		if (!f.failed)
			settings->complain(FOLLOWER_DAEMON, &fault);
		if (f.soon || clock_us(CLOCK_MONOTONIC) - start_us > LONGEST_WAIT_US)
			wait_us = FIRST_WAIT_US;
		if (!spool_sleep(settings->spool, clock_us(CLOCK_MONOTONIC) + wait_us))
			break;
		wait_us = MIN(2 * wait_us, (uint64_t)LONGEST_WAIT_US);
	}
	batch_free(f.batch); /* the windows are asked for again */
}
