/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The open window is asked for first and the list of closed ones afterwards: a window that closes
 * in between is in both, by one start, and is left for the next time.
 */
#include "client/periodic/periods.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/rpc/windows.h"
#include "common/profile/subtract.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define TIMEOUT_MS 10000
#define SLOW_US    600000 /* less than the daemon's patience with its own threads */
#define MAX_TRIES  4
#define MAX_BEGUN  8 /* the daemon gives up windows rather than be as far behind */

/* A window while it was open: what of it is in earlier periods. */
struct begun {
	uint64_t start_us; /* 0: none */
	struct profile *profile;
};

struct periods {
	const char *socket;
	struct connection *connection; /* NULL: not connected */
	uint64_t from_us;              /* when the first period began */
	int64_t last_id;               /* of the closed windows that have come; 0: none has */
	uint64_t last_end_us;          /* of that window */
	struct begun begun[MAX_BEGUN]; /* the last one may still be open */
	size_t n_begun;
	uint64_t n_missed;
};

/* What one call takes from the daemon. */
struct taken {
	struct begun open;   /* the open window */
	struct profile *sum; /* of what is new; NULL: nothing */
	int64_t last_id;
	uint64_t last_start_us, last_end_us;
	bool has[MAX_BEGUN]; /* windows that were begun are in the sum */
	uint64_t n_missed;
};

static void taken_done(struct taken *taken)
{
	profile_free(taken->open.profile);
	profile_free(taken->sum);
}

static void disconnect(struct periods *periods)
{
	periods->connection = connection_free(periods->connection);
}

static int connect_again(struct periods *periods, struct fault *fault)
{
	int r;

	if (periods->connection)
		return 0;
	r = connection_open(&periods->connection, periods->socket, fault);
	if (r >= 0)
		connection_set_timeout(periods->connection, TIMEOUT_MS);
	return r;
}

struct periods *periods_free(struct periods *periods)
{
	if (!periods)
		return NULL;
	for (size_t i = 0; i < periods->n_begun; i++)
		profile_free(periods->begun[i].profile);
	disconnect(periods);
	free(periods);
	return NULL;
}

/* No window is open while the daemon does not sample. */
static int ask_open(struct periods *periods, struct begun *ret, struct fault *fault)
{
	const struct daemon_api_request request = {};
	_cleanup_(windows_done) struct windows windows = {};
	int r = daemon_api_get_profile(periods->connection, &request, &ret->profile, &windows,
				       fault);

	if (r == -EAGAIN || r == -ENOENT)
		return 0;
	if (r >= 0 && windows.n > 0)
		ret->start_us = windows.rows[0].start_us;
	return r;
}

/* A daemon that is busy answers late, with what it had counted before: then it is asked again. */
static int take_open(struct periods *periods, struct begun *ret, struct fault *fault)
{
	uint64_t asked_us;
	int r = 0;

	for (int i = 0; r >= 0 && i < MAX_TRIES; i++) {
		ret->profile = profile_free(ret->profile);
		asked_us = clock_us(CLOCK_MONOTONIC);
		r = ask_open(periods, ret, fault);
		if (clock_us(CLOCK_MONOTONIC) - asked_us < SLOW_US)
			break;
	}
	return r;
}

/* Takes @profile. */
static int add(struct taken *taken, struct profile *profile)
{
	_cleanup_(profile_freep) struct profile *before = TAKE_PTR(taken->sum), *more = profile;

	if (!before) {
		taken->sum = TAKE_PTR(more);
		return 0;
	}
	return profile_merge(&taken->sum, (const struct profile *[]){ before, more }, 2);
}

static void note(const struct periods *periods, struct taken *taken, uint64_t start_us)
{
	for (size_t i = 0; i < periods->n_begun; i++)
		taken->has[i] |= periods->begun[i].start_us == start_us;
}

static int add_closed(struct periods *periods, struct taken *taken,
		      const struct window_info *window, struct fault *fault)
{
	const struct daemon_api_request request = { .first = window->id, .last = window->id };
	_cleanup_(windows_done) struct windows windows = {};
	struct profile *profile;
	int r;

	taken->last_id = window->id;
	taken->last_start_us = window->start_us;
	taken->last_end_us = windows_end_us(window);
	r = daemon_api_get_profile(periods->connection, &request, &profile, &windows, fault);
	if (r == -ENOENT) /* it was removed after it was listed */
		taken->n_missed++;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	note(periods, taken, window->start_us);
	return add(taken, profile) < 0 ? fault_set(fault, -ENOMEM, "out of memory") : 0;
}

/*
 * Numbers grow, but a database that takes the place of another begins anew. A window that was
 * merged has the number of its first one: if that has come, the rest cannot be told from it. What
 * had ended before the first period is of no interest, if it comes late.
 */
static bool is_new(const struct periods *periods, struct taken *taken,
		   const struct window_info *window)
{
	uint64_t open_us = taken->open.start_us;

	if (window->open || (open_us > 0 && window->start_us >= open_us))
		return false;
	if (taken->last_id == 0)
		return windows_end_us(window) > periods->from_us;
	if (window->id > taken->last_id || window->start_us >= taken->last_end_us)
		return true;
	if (windows_end_us(window) > taken->last_end_us) {
		taken->last_end_us = windows_end_us(window);
		taken->n_missed++;
	}
	return false;
}

/* Where the clock was set back, windows begin before those that were begun. */
static uint64_t since(const struct periods *periods, const struct taken *taken)
{
	uint64_t us = periods->last_end_us ?: periods->from_us;

	for (size_t i = 0; i < periods->n_begun; i++)
		us = MIN(us, periods->begun[i].start_us);
	return taken->open.start_us > 0 ? MIN(us, taken->open.start_us) : us;
}

static int take_closed(struct periods *periods, struct taken *taken, struct fault *fault)
{
	_cleanup_(windows_done) struct windows windows = {};
	int r;

	r = daemon_api_list_windows(periods->connection, since(periods, taken), UINT64_MAX, 0,
				    &windows, fault);
	for (size_t i = 0; r >= 0 && i < windows.n; i++)
		if (is_new(periods, taken, &windows.rows[i]))
			r = add_closed(periods, taken, &windows.rows[i], fault);
	return r;
}

/* The open window is counted as far as it has come, and goes on. */
static int add_open(const struct periods *periods, struct taken *taken)
{
	const struct profile *open = taken->open.profile;
	struct profile *copy;
	int r;

	if (!open || !open->info.mode) /* nothing is in it yet */
		return 0;
	note(periods, taken, taken->open.start_us);
	r = profile_merge(&copy, &open, 1);
	return r < 0 ? r : add(taken, copy);
}

static int leave_out_begun(const struct periods *periods, struct taken *taken)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < periods->n_begun; i++) {
		_cleanup_(profile_freep) struct profile *sum = NULL;

		if (!taken->has[i] || !periods->begun[i].profile)
			continue;
		sum = TAKE_PTR(taken->sum);
		r = profile_subtract(&taken->sum, sum, periods->begun[i].profile);
	}
	return r;
}

/*
 * Windows that were begun stay until they come as closed ones. They come in their order: one that
 * has been overtaken never does, because the daemon was killed or gave it up.
 */
static void go_on(struct periods *periods, struct taken *taken)
{
	size_t n = 0;

	for (size_t i = 0; i < periods->n_begun; i++) {
		bool is_overtaken = periods->begun[i].start_us < taken->last_start_us ||
				    (i == 0 && periods->n_begun == MAX_BEGUN);

		taken->n_missed += is_overtaken && !taken->has[i];
		if (is_overtaken || taken->has[i])
			profile_free(periods->begun[i].profile);
		else
			periods->begun[n++] = periods->begun[i];
	}
	if (taken->open.start_us > 0)
		periods->begun[n++] = taken->open;
	periods->n_begun = n;
	periods->last_id = taken->last_id;
	periods->last_end_us = taken->last_end_us;
	periods->n_missed += taken->n_missed;
	taken->open = (struct begun){};
}

static int take(struct periods *periods, struct taken *taken, struct fault *fault)
{
	int r = connect_again(periods, fault);

	if (r >= 0)
		r = take_open(periods, &taken->open, fault);
	if (r >= 0)
		r = take_closed(periods, taken, fault);
	if (r >= 0 && (add_open(periods, taken) < 0 || leave_out_begun(periods, taken) < 0))
		return fault_set(fault, -ENOMEM, "out of memory");
	return r;
}

int periods_next(struct periods *periods, struct profile **ret, struct fault *fault)
{
	_cleanup_(taken_done) struct taken taken = {
		.last_id = periods->last_id,
		.last_end_us = periods->last_end_us,
	};
	int r = take(periods, &taken, fault);

	if (r < 0)
		disconnect(periods);
	else if (!taken.sum && profile_merge(&taken.sum, NULL, 0) < 0)
		r = fault_set(fault, -ENOMEM, "out of memory");
	if (r < 0)
		return r;
	go_on(periods, &taken);
	*ret = TAKE_PTR(taken.sum);
	return 0;
}

bool periods_is_behind(const struct periods *periods)
{
	return periods->n_begun > 1;
}

uint64_t periods_n_missed(const struct periods *periods)
{
	return periods->n_missed;
}

int periods_open(struct periods **ret, const char *socket, struct fault *fault)
{
	_cleanup_(periods_freep) struct periods *periods = calloc(1, sizeof(*periods));
	int r;

	if (!periods)
		return fault_set(fault, -ENOMEM, "out of memory");
	periods->socket = socket;
	r = connect_again(periods, fault);
	if (r >= 0)
		r = take_open(periods, &periods->begun[0], fault);
	if (r < 0)
		return r;
	periods->n_begun = periods->begun[0].start_us > 0;
	periods->from_us = periods->begun[0].start_us ?: clock_us(CLOCK_REALTIME);
	*ret = TAKE_PTR(periods);
	return 0;
}
