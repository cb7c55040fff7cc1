/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query that wants the open window waits until the collector has handed in its part so far. A
 * collector that does not answer in time is not waited for: what there is has to do.
 *
 * A query is queued, then active until it is over. An active one waits for a part of the open
 * window, for its turn, or for its job in a thread.
 */
#include "daemon/api/query-queue.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/api/error-reply.h"
#include "daemon/api/job.h"
#include "daemon/api/query.h"
#include "daemon/api/slot-sums.h"
#include "daemon/heap/heap.h"

#define FRESH_US    100000 /* a part of the open window is new enough for so long */
#define PATIENCE_US 700000 /* with the collector and the namer */

/* Active queries; the last places are for privileged callers. */
#define MAX_ACTIVE      6
#define MAX_ACTIVE_USER 4

struct entry {
	struct query_queue *queue;
	struct entry *next;
	struct query *query;
	struct turn turn;
	struct job job;
	bool active, wants_part;
	bool over; /* to be freed when its job ends */
};

struct query_queue {
	struct query_queue_settings settings;
	struct entry *first; /* in the order of admission */
	sd_event_source *on_impatient;
	struct slot_sums slots;
	sd_event_source *on_expiry; /* of sums that nobody asks for */
	uint64_t part_us;           /* when the last part came; CLOCK_MONOTONIC */
};

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void free_entry(struct entry *e)
{
	struct entry **at = &e->queue->first;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	turns_leave(e->queue->settings.turns, &e->turn);
	query_free(e->query);
	free(e);
}

/* Frees sums that have not been used for long, now and in a while, and gives free memory back. */
static int watch_expiry(struct query_queue *queue)
{
	uint64_t now_us = clock_us(CLOCK_MONOTONIC);

	slot_sums_expire(&queue->slots, now_us);
	heap_trim();
	if (!queue->slots.newest)
		return sd_event_source_set_enabled(queue->on_expiry, SD_EVENT_OFF);
	sd_event_source_set_time(queue->on_expiry, now_us + SLOT_SUMS_KEEP_US / 10);
	return sd_event_source_set_enabled(queue->on_expiry, SD_EVENT_ONESHOT);
}

static int on_expiry(sd_event_source *source, uint64_t usec, void *userdata)
{
	return watch_expiry(userdata);
}

/* Whether one more of this user may be active. */
static bool has_place(const struct query_queue *queue, const struct entry *e)
{
	unsigned int n_active = 0;

	for (const struct entry *other = queue->first; other; other = other->next) {
		if (!other->active)
			continue;
		if (other->turn.uid == e->turn.uid)
			return false;
		n_active++;
	}
	return n_active < (e->query->privileged ? MAX_ACTIVE : MAX_ACTIVE_USER);
}

/* Lets the query go on: at once, or when the part it wants has come. */
static void activate(struct query_queue *queue, struct entry *e)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	e->active = true;
	e->wants_part =
		query_wants_open(e->query) && !(queue->part_us && now < queue->part_us + FRESH_US);
	if (!e->wants_part) {
		turns_wait(queue->settings.turns, &e->turn);
		return;
	}
	sd_event_source_set_time(queue->on_impatient, now + PATIENCE_US);
	sd_event_source_set_enabled(queue->on_impatient, SD_EVENT_ONESHOT);
	queue->settings.cut(queue->settings.userdata);
}

/* Activates the queries for which there is a place. */
static void admit(struct query_queue *queue)
{
	for (struct entry *e = queue->first; e; e = e->next)
		if (!e->active && has_place(queue, e))
			activate(queue, e);
}

static void go_on(struct query_queue *queue)
{
	for (struct entry *e = queue->first; e; e = e->next) {
		if (!e->wants_part)
			continue;
		e->wants_part = false;
		turns_wait(queue->settings.turns, &e->turn);
	}
}

void query_queue_on_part(struct query_queue *queue)
{
	queue->part_us = clock_us(CLOCK_MONOTONIC);
	sd_event_source_set_enabled(queue->on_impatient, SD_EVENT_OFF);
	go_on(queue);
}

static int on_impatient(sd_event_source *source, uint64_t usec, void *userdata)
{
	go_on(userdata);
	return 0;
}

/* The query is over, by the result @r of its work, or as its caller has gone. */
static void end(struct entry *e, int r)
{
	struct query_queue *queue = e->queue;
	struct query *q = e->query;

	query_end(q, r);
	if (q->call) {
		call_on_gone(q->call, NULL, NULL);
		error_reply(TAKE_PTR(q->call), r < 0 ? r : -EINVAL, &q->fault);
	}
	free_entry(e);
	watch_expiry(queue);
	admit(queue);
}

static void on_gone(struct call *call, void *userdata)
{
	struct entry *e = userdata;

	e->query->call = NULL;
	if (e->job.thread)
		e->over = true;
	else
		end(e, 0);
}

static int on_work(void *userdata)
{
	struct entry *e = userdata;

	return query_do_step(e->query);
}

static void on_job_done(void *userdata, int result, uint64_t used_ns)
{
	struct entry *e = userdata;

	e->query->cpu_ns += used_ns;
	turns_charge(e->queue->settings.turns, e->turn.uid, used_ns);
	if (result < 0 || e->over)
		end(e, result);
	else
		turns_wait(e->queue->settings.turns, &e->turn);
}

static void on_turn(struct turn *turn)
{
	struct entry *e = container_of(turn, struct entry, turn);
	struct query *q = e->query;
	uint64_t start_ns = cpu_ns();
	int r;

	r = query_work(q);
	q->cpu_ns += cpu_ns() - start_ns;
	if (r > 0 && q->step)
		r = job_start(&e->job, e->queue->settings.event) ?: 1;
	else if (r > 0)
		turns_wait(e->queue->settings.turns, turn);
	if (r <= 0)
		end(e, r);
}

static void set_defaults(struct query_limits *limits)
{
	limits->max_bytes = limits->max_bytes ?: QUERY_MAX_BYTES;
	limits->max_user_bytes = limits->max_user_bytes ?: QUERY_MAX_USER_BYTES;
	limits->max_cpu_ms = limits->max_cpu_ms ?: QUERY_MAX_CPU_MS;
	limits->max_user_cpu_ms = limits->max_user_cpu_ms ?: QUERY_MAX_USER_MS;
	limits->rows_at_once = limits->rows_at_once ?: QUERY_ROWS_AT_ONCE;
}

int query_queue_new(struct query_queue **ret, const struct query_queue_settings *settings)
{
	_cleanup_(query_queue_freep) struct query_queue *queue = calloc(1, sizeof(*queue));
	sd_event *event = settings->event;
	int r;

	if (!queue)
		return -ENOMEM;
	queue->settings = *settings;
	set_defaults(&queue->settings.limits);
	sd_event_ref(event);
	r = sd_event_add_time(event, &queue->on_impatient, CLOCK_MONOTONIC, 0, 0, on_impatient,
			      queue);
	if (r >= 0)
		r = sd_event_source_set_enabled(queue->on_impatient, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(event, &queue->on_expiry, CLOCK_MONOTONIC, 0, 0, on_expiry,
				      queue);
	if (r >= 0)
		r = sd_event_source_set_enabled(queue->on_expiry, SD_EVENT_OFF);
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
		struct entry *e = queue->first;

		if (e->query->call)
			call_on_gone(e->query->call, NULL, NULL);
		job_cancel(&e->job);
		free_entry(e);
	}
	sd_event_source_disable_unref(queue->on_impatient);
	sd_event_source_disable_unref(queue->on_expiry);
	slot_sums_done(&queue->slots);
	sd_event_unref(queue->settings.event);
	free(queue);
	return NULL;
}

/* Behind all others of its kind; the privileged go before the unprivileged. */
static void enqueue(struct query_queue *queue, struct entry *e)
{
	struct entry **at = &queue->first;

	while (*at && ((*at)->active || (*at)->query->privileged || !e->query->privileged))
		at = &(*at)->next;
	e->next = *at;
	*at = e;
	admit(queue);
}

int query_queue_add(struct query_queue *queue, struct call *call, bool functions)
{
	_cleanup_free_ struct entry *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return -ENOMEM;
	r = query_new(&e->query, queue->settings.archive, call, functions, &queue->settings.limits);
	if (r <= 0)
		return r;
	e->queue = queue;
	e->query->slots = &queue->slots;
	e->turn = (struct turn){ .uid = call_uid(call), .run = on_turn };
	e->job = (struct job){ .work = on_work, .done = on_job_done, .userdata = e };
	call_on_gone(call, on_gone, e);
	enqueue(queue, TAKE_PTR(e));
	return 0;
}
