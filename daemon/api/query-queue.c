/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query that wants the open window waits until the collector has handed in its part so far. A
 * collector that does not answer in time is not waited for: what there is has to do.
 */
#include "daemon/api/query-queue.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/api/error-reply.h"
#include "daemon/api/query.h"

#define FRESH_US    100000  /* a part of the open window is new enough for so long */
#define PATIENCE_US 3000000 /* with the collector */

struct query_queue {
	struct query_queue_settings settings;
	struct query *first; /* the one in work */
	sd_event_source *on_turn, *on_impatient;
	uint64_t part_us; /* when the last part came; CLOCK_MONOTONIC */
};

static void set_turn(struct query_queue *queue, int enabled)
{
	sd_event_source_set_enabled(queue->on_turn, enabled);
}

/* Lets the first query go on: at once, or when the part it wants has come. */
static void start_first(struct query_queue *queue)
{
	const struct query *q = queue->first;
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	if (!q) {
		set_turn(queue, SD_EVENT_OFF);
		return;
	}
	if (!query_wants_open(q) || (queue->part_us && now < queue->part_us + FRESH_US)) {
		set_turn(queue, SD_EVENT_ON);
		return;
	}
	set_turn(queue, SD_EVENT_OFF);
	sd_event_source_set_time(queue->on_impatient, now + PATIENCE_US);
	sd_event_source_set_enabled(queue->on_impatient, SD_EVENT_ONESHOT);
	queue->settings.cut(queue->settings.userdata);
}

void query_queue_on_part(struct query_queue *queue)
{
	queue->part_us = clock_us(CLOCK_MONOTONIC);
	sd_event_source_set_enabled(queue->on_impatient, SD_EVENT_OFF);
	if (queue->first)
		set_turn(queue, SD_EVENT_ON);
}

static int on_impatient(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct query_queue *queue = userdata;

	set_turn(queue, SD_EVENT_ON);
	return 0;
}

static void drop_first(struct query_queue *queue)
{
	struct query *q = queue->first;

	queue->first = q->next;
	query_free(q);
}

static int on_turn(sd_event_source *source, void *userdata)
{
	struct query_queue *queue = userdata;
	struct query *q = queue->first;
	int r = q ? query_work(q) : 0;

	if (r > 0)
		return 0;
	if (q && q->call) {
		call_on_gone(q->call, NULL, NULL);
		error_reply(TAKE_PTR(q->call), r < 0 ? r : -EINVAL);
	}
	if (q)
		drop_first(queue);
	start_first(queue);
	return 0;
}

int query_queue_new(struct query_queue **ret, const struct query_queue_settings *settings)
{
	_cleanup_(query_queue_freep) struct query_queue *queue = calloc(1, sizeof(*queue));
	sd_event *event = settings->event;
	int r;

	if (!queue)
		return -ENOMEM;
	queue->settings = *settings;
	sd_event_ref(event);
	r = sd_event_add_defer(event, &queue->on_turn, on_turn, queue);
	if (r >= 0) /* callers first: this one is always due */
		r = sd_event_source_set_priority(queue->on_turn, SERVER_PRIORITY + 1);
	if (r >= 0)
		r = sd_event_source_set_enabled(queue->on_turn, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(event, &queue->on_impatient, CLOCK_MONOTONIC, 0, 0,
				      on_impatient, queue);
	if (r >= 0)
		r = sd_event_source_set_enabled(queue->on_impatient, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(queue);
	return 0;
}

struct query_queue *query_queue_free(struct query_queue *queue)
{
	if (!queue)
		return NULL;
	while (queue->first) {
		if (queue->first->call)
			call_on_gone(queue->first->call, NULL, NULL);
		drop_first(queue);
	}
	sd_event_source_disable_unref(queue->on_turn);
	sd_event_source_disable_unref(queue->on_impatient);
	sd_event_unref(queue->settings.event);
	free(queue);
	return NULL;
}

/* Behind the one in work and all others of its kind; the privileged go before the unprivileged. */
static void enqueue(struct query_queue *queue, struct query *q)
{
	struct query **at = &queue->first;

	while (*at && (*at == queue->first || !(*at)->call || call_is_privileged((*at)->call) ||
		       !call_is_privileged(q->call)))
		at = &(*at)->next;
	q->next = *at;
	*at = q;
	if (queue->first == q)
		start_first(queue);
}

int query_queue_add(struct query_queue *queue, struct call *call, bool functions)
{
	struct query *q;
	int r;

	r = query_new(&q, queue->settings.archive, call, functions);
	if (r <= 0)
		return r;
	enqueue(queue, q);
	return 0;
}
