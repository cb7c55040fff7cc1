/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread and the viewer share one result, under the mutex: a newer one replaces it. */
#include "client/live/feed.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "client/source/recent-profile.h"
#include "common/util/clock.h"

#define INTERVAL_NS 1000000000ull

struct result {
	int r; /* 1: a profile and its windows; 0: nothing; -errno: a fault */
	struct profile *profile;
	struct windows windows;
	struct fault fault;
};

struct live_feed {
	struct recent_profile *recent;
	pthread_t thread;
	pthread_mutex_t mutex; /* of all that follows */
	pthread_cond_t wake;
	bool started, paused, stopped;
	int fd;
	struct result result;
};

static void result_done(struct result *result)
{
	profile_free(result->profile);
	windows_done(&result->windows);
	*result = (struct result){};
}

/* Waits until it is time to fetch again; false: to end. */
static bool wait_until(struct live_feed *feed, uint64_t until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / 1000000000),
		.tv_nsec = (long)(until_ns % 1000000000),
	};
	bool stopped;
	int r = 0;

	pthread_mutex_lock(&feed->mutex);
	while (!feed->stopped && (feed->paused || r != ETIMEDOUT))
		r = feed->paused ? pthread_cond_wait(&feed->wake, &feed->mutex) :
				   pthread_cond_timedwait(&feed->wake, &feed->mutex, &until);
	stopped = feed->stopped;
	pthread_mutex_unlock(&feed->mutex);
	return !stopped;
}

static void hand_over(struct live_feed *feed, struct result *result)
{
	pthread_mutex_lock(&feed->mutex);
	result_done(&feed->result);
	feed->result = *result;
	pthread_mutex_unlock(&feed->mutex);
	eventfd_write(feed->fd, 1);
}

static void *run(void *userdata)
{
	struct live_feed *feed = userdata;
	uint64_t next_ns;

	do {
		struct result result = {};

		next_ns = clock_ns(CLOCK_MONOTONIC) + INTERVAL_NS;
		result.r = recent_profile_fetch(feed->recent, clock_us(CLOCK_REALTIME),
						&result.profile, &result.windows, &result.fault);
		if (result.r >= 0)
			result.r = 1;
		hand_over(feed, &result);
	} while (wait_until(feed, next_ns));
	return NULL;
}

static void init_wake(struct live_feed *feed)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&feed->wake, &attributes);
	pthread_condattr_destroy(&attributes);
}

/* Signals go to the thread that reads keys. */
static int start_thread(struct live_feed *feed)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&feed->thread, NULL, run, feed);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	feed->started = r == 0;
	return -r;
}

int live_feed_start(struct live_feed **ret, const char *socket, struct fault *fault)
{
	_cleanup_(live_feed_stopp) struct live_feed *feed = calloc(1, sizeof(*feed));
	int r;

	if (!feed)
		return fault_set(fault, -ENOMEM, "out of memory");
	pthread_mutex_init(&feed->mutex, NULL);
	init_wake(feed);
	feed->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (feed->fd < 0)
		return fault_set(fault, -errno, "eventfd: %s", strerror(errno));
	r = recent_profile_open(&feed->recent, socket, fault);
	if (r < 0)
		return r;
	r = start_thread(feed);
	if (r < 0)
		return fault_set(fault, r, "cannot start a thread: %s", strerror(-r));
	*ret = TAKE_PTR(feed);
	return 0;
}

struct live_feed *live_feed_stop(struct live_feed *feed)
{
	if (!feed)
		return NULL;
	if (feed->started) {
		pthread_mutex_lock(&feed->mutex);
		feed->stopped = true;
		pthread_cond_signal(&feed->wake);
		pthread_mutex_unlock(&feed->mutex);
		recent_profile_interrupt(feed->recent);
		pthread_join(feed->thread, NULL);
	}
	recent_profile_free(feed->recent);
	result_done(&feed->result);
	if (feed->fd >= 0)
		close(feed->fd);
	pthread_cond_destroy(&feed->wake);
	pthread_mutex_destroy(&feed->mutex);
	free(feed);
	return NULL;
}

int live_feed_fd(const struct live_feed *feed)
{
	return feed->fd;
}

int live_feed_take(struct live_feed *feed, struct profile **ret, struct windows *ret_windows,
		   struct fault *fault)
{
	struct result result;
	eventfd_t n;

	eventfd_read(feed->fd, &n);
	pthread_mutex_lock(&feed->mutex);
	result = feed->result;
	feed->result = (struct result){};
	pthread_mutex_unlock(&feed->mutex);
	if (result.r > 0) {
		*ret = result.profile;
		*ret_windows = result.windows;
	} else {
		*fault = result.fault;
		windows_done(&result.windows);
	}
	return result.r;
}

void live_feed_pause(struct live_feed *feed, bool paused)
{
	pthread_mutex_lock(&feed->mutex);
	feed->paused = paused;
	pthread_cond_signal(&feed->wake);
	pthread_mutex_unlock(&feed->mutex);
}
