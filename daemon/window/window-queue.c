/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/window/window-queue.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/util/cleanup.h"

struct window_queue {
	pthread_mutex_t lock;
	struct window_profile *waiting; /* the oldest first */
	size_t n, max;
	int fd;
	bool woken;
};

int window_queue_new(struct window_queue **ret, size_t max_waiting)
{
	_cleanup_(window_queue_freep) struct window_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	pthread_mutex_init(&q->lock, NULL);
	q->max = max_waiting ? max_waiting : 1;
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0)
		return -errno;
	q->waiting = calloc(q->max, sizeof(*q->waiting));
	if (!q->waiting)
		return -ENOMEM;
	*ret = TAKE_PTR(q);
	return 0;
}

struct window_queue *window_queue_free(struct window_queue *queue)
{
	if (!queue)
		return NULL;
	for (size_t i = 0; i < queue->n; i++) {
		profile_free(queue->waiting[i].profile);
		window_code_free(queue->waiting[i].code);
	}
	free(queue->waiting);
	if (queue->fd >= 0)
		close(queue->fd);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
	return NULL;
}

int window_queue_fd(const struct window_queue *queue)
{
	return queue->fd;
}

static void make_readable(struct window_queue *q)
{
	uint64_t one = 1;

	(void)!write(q->fd, &one, sizeof(one));
}

static void make_unreadable(struct window_queue *q)
{
	uint64_t n;

	(void)!read(q->fd, &n, sizeof(n));
}

static int merge_profiles(struct profile **ret, struct profile *a, struct profile *b)
{
	const struct profile *both[] = { a, b };
	int r;

	r = profile_finalize(a);
	if (r >= 0)
		r = profile_finalize(b);
	return r < 0 ? r : profile_merge(ret, both, ARRAY_SIZE(both));
}

/* Extends @window by @later, which follows it or is the rest of it. */
static void merge_windows(struct window *window, const struct window *later)
{
	uint64_t end_us = later->start_us + later->length_us;

	window->length_us = end_us > window->start_us ? end_us - window->start_us :
							window->length_us + later->length_us;
	window->samples += later->samples;
	window->lost += later->lost;
	window->open = later->open;
}

static int merge_into(struct window_profile *last, const struct window_profile *later)
{
	struct profile *merged;
	int r = merge_profiles(&merged, last->profile, later->profile);

	last->code = window_code_join(last->code, later->code);
	if (r < 0)
		return r;
	profile_free(last->profile);
	last->profile = merged;
	merge_windows(&last->window, &later->window);
	return 0;
}

/* Takes out the last window if the queue is full: merging takes too long for holding the lock. */
static bool take_last_if_full(struct window_queue *q, struct window_profile *ret)
{
	bool full;

	pthread_mutex_lock(&q->lock);
	full = q->n == q->max;
	if (full)
		*ret = q->waiting[--q->n];
	pthread_mutex_unlock(&q->lock);
	return full;
}

static void append(struct window_queue *q, const struct window_profile *window)
{
	pthread_mutex_lock(&q->lock);
	assert(q->n < q->max);
	q->waiting[q->n++] = *window;
	make_readable(q);
	pthread_mutex_unlock(&q->lock);
}

int window_queue_put(struct window_queue *queue, struct window_profile *window)
{
	struct window_profile last;
	int r = 0;

	if (take_last_if_full(queue, &last)) {
		r = merge_into(&last, window);
		profile_free(window->profile);
		*window = last;
	}
	append(queue, window);
	return r;
}

bool window_queue_has_room(struct window_queue *queue)
{
	bool room;

	pthread_mutex_lock(&queue->lock);
	room = queue->n < queue->max;
	pthread_mutex_unlock(&queue->lock);
	return room;
}

size_t window_queue_count(struct window_queue *queue)
{
	size_t n = 0;

	pthread_mutex_lock(&queue->lock);
	for (size_t i = 0; i < queue->n; i++)
		n += !queue->waiting[i].window.open;
	pthread_mutex_unlock(&queue->lock);
	return n;
}

bool window_queue_take(struct window_queue *queue, struct window_profile *ret)
{
	bool any;

	pthread_mutex_lock(&queue->lock);
	any = queue->n > 0;
	if (any) {
		*ret = queue->waiting[0];
		queue->n--;
		memmove(queue->waiting, queue->waiting + 1, queue->n * sizeof(*queue->waiting));
	}
	if (queue->n == 0 && !queue->woken)
		make_unreadable(queue);
	pthread_mutex_unlock(&queue->lock);
	return any;
}

void window_queue_wake(struct window_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->woken = true;
	make_readable(queue);
	pthread_mutex_unlock(&queue->lock);
}

bool window_queue_has_ended(struct window_queue *queue)
{
	bool ended;

	pthread_mutex_lock(&queue->lock);
	ended = queue->woken && queue->n == 0;
	pthread_mutex_unlock(&queue->lock);
	return ended;
}
