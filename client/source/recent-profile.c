/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/recent-profile.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/source/window-ref.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define TIMEOUT_MS 10000

/* A closed window, fetched. */
struct held {
	int64_t id;
	struct profile *profile;
};

struct recent_profile {
	const char *socket;
	pthread_mutex_t mutex;         /* of the next two */
	struct connection *connection; /* NULL: not connected */
	bool interrupted;
	struct held *held; /* oldest first */
	size_t n_held, cap_held;
	struct profile *closed; /* the sum of @held; NULL: not up to date */
};

static void drop_closed(struct recent_profile *recent)
{
	recent->closed = profile_free(recent->closed);
}

static int connect_again(struct recent_profile *recent, struct fault *fault)
{
	struct connection *connection;
	int r = connection_open(&connection, recent->socket, fault);

	if (r < 0)
		return r;
	connection_set_timeout(connection, TIMEOUT_MS);
	pthread_mutex_lock(&recent->mutex);
	recent->connection = connection;
	if (recent->interrupted)
		connection_interrupt(connection);
	pthread_mutex_unlock(&recent->mutex);
	return 0;
}

void recent_profile_disconnect(struct recent_profile *recent)
{
	struct connection *connection;

	pthread_mutex_lock(&recent->mutex);
	connection = TAKE_PTR(recent->connection);
	pthread_mutex_unlock(&recent->mutex);
	connection_free(connection);
}

void recent_profile_interrupt(struct recent_profile *recent)
{
	pthread_mutex_lock(&recent->mutex);
	recent->interrupted = true;
	if (recent->connection)
		connection_interrupt(recent->connection);
	pthread_mutex_unlock(&recent->mutex);
}

int recent_profile_open(struct recent_profile **ret, const char *socket, struct fault *fault)
{
	_cleanup_(recent_profile_freep) struct recent_profile *recent = calloc(1, sizeof(*recent));
	int r;

	if (!recent)
		return fault_set(fault, -ENOMEM, "out of memory");
	recent->socket = socket;
	pthread_mutex_init(&recent->mutex, NULL);
	r = connect_again(recent, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(recent);
	return 0;
}

struct recent_profile *recent_profile_free(struct recent_profile *recent)
{
	if (!recent)
		return NULL;
	for (size_t i = 0; i < recent->n_held; i++)
		profile_free(recent->held[i].profile);
	free(recent->held);
	drop_closed(recent);
	connection_free(recent->connection);
	pthread_mutex_destroy(&recent->mutex);
	free(recent);
	return NULL;
}

static bool is_listed(const struct windows *windows, int64_t id)
{
	for (size_t i = 0; i < windows->n; i++)
		if (!windows->rows[i].open && windows->rows[i].id == id)
			return true;
	return false;
}

static bool is_held(const struct recent_profile *recent, int64_t id)
{
	for (size_t i = 0; i < recent->n_held; i++)
		if (recent->held[i].id == id)
			return true;
	return false;
}

static void drop_old(struct recent_profile *recent, const struct windows *windows)
{
	size_t n = 0;

	for (size_t i = 0; i < recent->n_held; i++)
		if (is_listed(windows, recent->held[i].id))
			recent->held[n++] = recent->held[i];
		else
			profile_free(recent->held[i].profile);
	if (n < recent->n_held)
		drop_closed(recent);
	recent->n_held = n;
}

static int hold(struct recent_profile *recent, int64_t id, struct fault *fault)
{
	const struct daemon_api_request request = { .first = id, .last = id };
	_cleanup_(windows_done) struct windows windows = {};
	struct profile *profile;
	int r;

	if (ARRAY_RESERVE(&recent->held, &recent->cap_held, recent->n_held + 1) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = daemon_api_get_profile(recent->connection, &request, &profile, &windows, fault);
	if (r < 0)
		return r;
	recent->held[recent->n_held++] = (struct held){ id, profile };
	drop_closed(recent);
	return 0;
}

/* A window that was removed after it was listed is left out. */
static int hold_new(struct recent_profile *recent, const struct windows *windows,
		    struct fault *fault)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < windows->n; i++) {
		const struct window_info *window = &windows->rows[i];

		if (window->open || is_held(recent, window->id))
			continue;
		r = hold(recent, window->id, fault);
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}

static int merge_closed(struct recent_profile *recent)
{
	_cleanup_free_ const struct profile **profiles = NULL;

	if (recent->closed || recent->n_held == 0)
		return 0;
	profiles = calloc(recent->n_held, sizeof(*profiles));
	if (!profiles)
		return -ENOMEM;
	for (size_t i = 0; i < recent->n_held; i++)
		profiles[i] = recent->held[i].profile;
	return profile_merge(&recent->closed, profiles, recent->n_held);
}

/* The closed windows that are held, and the open one as it came with its profile. */
static int list_windows(const struct recent_profile *recent, const struct windows *listed,
			const struct windows *open, struct windows *ret)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < listed->n; i++)
		if (!listed->rows[i].open && is_held(recent, listed->rows[i].id))
			r = windows_add(ret, &listed->rows[i]);
	for (size_t i = 0; r >= 0 && i < open->n; i++)
		r = windows_add(ret, &open->rows[i]);
	return r;
}

/* If it has just closed, its time is missing until the next fetch. */
static int fetch_open(struct recent_profile *recent, struct profile **ret,
		      struct windows *ret_windows, struct fault *fault)
{
	const struct daemon_api_request request = {}; /* the open window */
	int r = daemon_api_get_profile(recent->connection, &request, ret, ret_windows, fault);

	return r == -EAGAIN || r == -ENOENT ? 0 : r;
}

static int fetch(struct recent_profile *recent, uint64_t now_us, struct profile **ret,
		 struct windows *ret_windows, struct fault *fault)
{
	_cleanup_(windows_done) struct windows listed = {}, open_windows = {};
	_cleanup_(profile_freep) struct profile *open = NULL;
	const struct profile *both[2];
	struct window_ref ref;
	uint64_t since, until, newest;
	size_t n = 0;
	int r;

	r = window_ref_parse(&ref, NULL, now_us, fault);
	if (r < 0)
		return r;
	window_ref_span(&ref, &since, &until, &newest);
	r = daemon_api_list_windows(recent->connection, since, until, newest, &listed, fault);
	if (r < 0)
		return r;
	drop_old(recent, &listed);
	r = hold_new(recent, &listed, fault);
	if (r < 0)
		return r;
	r = fetch_open(recent, &open, &open_windows, fault);
	if (r < 0)
		return r;
	if (merge_closed(recent) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	if (recent->closed)
		both[n++] = recent->closed;
	if (open && open->info.mode) /* else nothing was counted in it yet */
		both[n++] = open;
	if (n == 0)
		return fault_set(fault, -ENODATA, "no window in the last five minutes");
	if (list_windows(recent, &listed, &open_windows, ret_windows) < 0 ||
	    profile_merge(ret, both, n) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	return 0;
}

int recent_profile_connect(struct recent_profile *recent, struct connection **ret,
			   struct fault *fault)
{
	int r = recent->connection ? 0 : connect_again(recent, fault);

	*ret = recent->connection;
	return r;
}

int recent_profile_fetch(struct recent_profile *recent, uint64_t now_us, struct profile **ret,
			 struct windows *ret_windows, struct fault *fault)
{
	struct connection *connection;
	int r = recent_profile_connect(recent, &connection, fault);

	if (r < 0)
		return r;
	r = fetch(recent, now_us, ret, ret_windows, fault);
	if (r < 0 && r != -ENODATA)
		recent_profile_disconnect(recent);
	return r;
}
