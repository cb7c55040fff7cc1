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

#include "common/util/clock.h"

#define SECOND_NS 1000000000ull

struct live_feed {
	struct live_fetch *fetch;
	pthread_t thread;
	pthread_mutex_t mutex; /* of all that follows */
	pthread_cond_t wake;
	bool started, paused, stopped;
	int fd;
	struct live_request request;
	uint64_t n_requests, n_fetched; /* the numbers of the newest ones */
	struct live_result result;
};

/* Waits until it is time to fetch again, or until there is another request; false: to end. */
static bool wait_until(struct live_feed *feed, uint64_t until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / SECOND_NS),
		.tv_nsec = (long)(until_ns % SECOND_NS),
	};
	bool stopped;
	int r = 0;

	pthread_mutex_lock(&feed->mutex);
	while (!feed->stopped && feed->n_requests == feed->n_fetched &&
	       (feed->paused || r != ETIMEDOUT))
		r = feed->paused ? pthread_cond_wait(&feed->wake, &feed->mutex) :
				   pthread_cond_timedwait(&feed->wake, &feed->mutex, &until);
	stopped = feed->stopped;
	pthread_mutex_unlock(&feed->mutex);
	return !stopped;
}

static void take_request(struct live_feed *feed, struct live_request *ret, uint64_t *ret_number)
{
	pthread_mutex_lock(&feed->mutex);
	*ret = feed->request;
	*ret_number = feed->n_fetched = feed->n_requests;
	pthread_mutex_unlock(&feed->mutex);
}

static void hand_over(struct live_feed *feed, struct live_result *result)
{
	pthread_mutex_lock(&feed->mutex);
	live_result_done(&feed->result);
	feed->result = *result;
	pthread_mutex_unlock(&feed->mutex);
	eventfd_write(feed->fd, 1);
}

/*
 * The last five minutes: each second. What takes the daemon longer, less often: at most a tenth of
 * the time is spent on it. A failure is tried again in a second.
 */
static uint64_t interval_of(const struct live_request *request, const struct live_result *result,
			    uint64_t taken_ns)
{
	uint64_t most = 10 * taken_ns, least = SECOND_NS;

	if (result->r < 0)
		return SECOND_NS;
	if (result->is_first)
		return 0;
	if (result->is_fixed)
		return 3600 * SECOND_NS;
	if (request->kind == LIVE_CODE)
		least = 5 * SECOND_NS;
	if (request->span[0] || request->kind == LIVE_HISTORY)
		least = 10 * SECOND_NS;
	return request->kind == LIVE_ROWS && !request->span[0] ? SECOND_NS : MAX(most, least);
}

static void *run(void *userdata)
{
	struct live_feed *feed = userdata;
	struct live_request request;
	uint64_t began_ns, next_ns;

	do {
		struct live_result result;
		uint64_t number;

		take_request(feed, &request, &number);
		began_ns = clock_ns(CLOCK_MONOTONIC);
		live_fetch_get(feed->fetch, &request, &result);
		result.request = number;
		next_ns = began_ns +
			  interval_of(&request, &result, clock_ns(CLOCK_MONOTONIC) - began_ns);
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

int live_feed_start(struct live_feed **ret, const char *socket,
		    const struct symbolizer_settings *symbols, const struct live_request *request,
		    struct fault *fault)
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
	feed->request = *request;
	feed->n_requests = 1;
	r = live_fetch_open(&feed->fetch, socket, symbols, fault);
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
		live_fetch_interrupt(feed->fetch);
		pthread_join(feed->thread, NULL);
	}
	live_fetch_free(feed->fetch);
	live_result_done(&feed->result);
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

uint64_t live_feed_ask(struct live_feed *feed, const struct live_request *request)
{
	uint64_t number;

	pthread_mutex_lock(&feed->mutex);
	feed->request = *request;
	number = ++feed->n_requests;
	pthread_cond_signal(&feed->wake);
	pthread_mutex_unlock(&feed->mutex);
	return number;
}

void live_feed_take(struct live_feed *feed, struct live_result *ret)
{
	eventfd_t n;

	eventfd_read(feed->fd, &n);
	pthread_mutex_lock(&feed->mutex);
	*ret = feed->result;
	feed->result = (struct live_result){};
	pthread_mutex_unlock(&feed->mutex);
}

void live_feed_pause(struct live_feed *feed, bool paused)
{
	pthread_mutex_lock(&feed->mutex);
	feed->paused = paused;
	pthread_cond_signal(&feed->wake);
	pthread_mutex_unlock(&feed->mutex);
}
