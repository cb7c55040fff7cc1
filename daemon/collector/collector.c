/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A few times a second, or when a ring fills up, the thread drains the sampler. Events come in
 * order of time, so a window ends when the first event behind its end comes; or, where none comes,
 * when all that was written before its end has come.
 */
#include "daemon/collector/collector.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "common/builder/builder.h"
#include "common/process/processes.h"
#include "common/util/cleanup.h"
#include "common/util/thread.h"
#include "daemon/collector/live-callchain.h"
#include "daemon/collector/machine-info.h"
#include "daemon/collector/unit.h"
#include "daemon/collector/window-clock.h"
#include "daemon/window/window-queue.h"

/* A stream seen but once in a window is not stored: most are such, and would take more room than
 * all else. */
#define LIGHT_STREAMS 1

#define DRAIN_MS 250

struct losses {
	uint64_t samples, skipped, records, out_of_order;
};

struct collector {
	struct collector_settings settings;
	struct sampler *sampler;
	struct processes *processes;
	struct builder *builder;
	struct units *units;
	struct window_queue *queue;
	struct window_clock schedule;
	struct losses told;   /* of the sampler's counts, what is in windows: */
	uint64_t told_ns;     /* that was lost until then */
	struct losses losses; /* of the window */
	uint64_t n_cut;       /* its call chains cut short, and those too deep */
	uint64_t n_deep;
	uint64_t drained_ns;  /* when the drain before began */
	uint64_t complete_ns; /* what was written before has come */
	int wake_fd;
	_Atomic bool stop, cut;
	bool running; /* the thread is to be joined */
	pthread_t thread;
	pthread_mutex_t lock; /* of the next two */
	int result;
	struct fault fault;
};

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t real_us(void)
{
	return clock_ns(CLOCK_REALTIME) / 1000;
}

static struct losses read_losses(const struct collector *c)
{
	struct sampler_counts counts;

	sampler_get_counts(c->sampler, &counts);
	return (struct losses){
		.samples = counts.ring_full + counts.no_ring + counts.undecodable,
		.skipped = counts.skipped,
		.records = counts.lost_records,
		.out_of_order = counts.out_of_order,
	};
}

/* Brings *@told nearer to @now by @part of the way, which *@window is given. It does not go back.
 */
static void catch_up(uint64_t *told, uint64_t now, double part, uint64_t *window)
{
	uint64_t n = now > *told ? now - *told : 0;

	n = part < 1 ? (uint64_t)(part * (double)n) : n;
	*told += n;
	*window += n;
}

/*
 * Gives the window what was lost until @end_ns. When each was lost is not known: of what was told
 * of by now, the window has as much as of the time since what was told of before.
 */
static void add_losses(struct collector *c, uint64_t end_ns)
{
	struct losses now = read_losses(c), *told = &c->told, *window = &c->losses;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	double part = 1;

	if (end_ns < now_ns)
		part = end_ns > c->told_ns ?
			       (double)(end_ns - c->told_ns) / (double)(now_ns - c->told_ns) :
			       0;
	catch_up(&told->samples, now.samples, part, &window->samples);
	catch_up(&told->skipped, now.skipped, part, &window->skipped);
	catch_up(&told->records, now.records, part, &window->records);
	catch_up(&told->out_of_order, now.out_of_order, part, &window->out_of_order);
	end_ns = MIN(end_ns, now_ns);
	c->told_ns = MAX(c->told_ns, end_ns);
}

static int fill_info(const struct collector *c, struct profile *profile)
{
	const struct sampler_probe *probe = sampler_probe(c->sampler);
	struct sampler_counts counts;
	int r = 0;

	sampler_get_counts(c->sampler, &counts);
	profile->info.mode = profile_string(profile, sampler_mode_name(probe->mode), &r);
	profile->info.event = profile_string(profile, probe->event, &r);
	profile->info.n_cpus = counts.n_cpus;
	profile->info.depth = probe->depth;
	return r < 0 ? r : machine_info_fill(profile);
}

static void count_troubles(struct collector *c, struct profile_counters *counters)
{
	counters->lost_samples += c->losses.samples;
	counters->skipped += c->losses.skipped;
	counters->lost_records += c->losses.records;
	counters->out_of_order += c->losses.out_of_order;
	counters->stacks_truncated = c->n_cut;
	counters->stacks_depth_limit = c->n_deep;
	if (sampler_probe(c->sampler)->since_switch)
		counters->stacks_since_switch = counters->samples_call_stack;
	c->losses = (struct losses){ 0 };
	c->n_cut = c->n_deep = 0;
}

/*
 * Hands over what the builder has counted, as the window from the schedule's start to @end_us, with
 * what was lost until @end_ns.
 */
static int hand_over(struct collector *c, uint64_t end_us, uint64_t end_ns, bool open)
{
	const struct window_clock *s = &c->schedule;
	struct window_profile collected = {
		.window = { .start_us = s->start_us,
			    .length_us = end_us > s->start_us ? end_us - s->start_us : 0,
			    .open = open },
	};
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct profile_counters *counters;
	int r;

	r = builder_close(c->builder, c->processes, &profile);
	if (r >= 0)
		r = fill_info(c, profile);
	if (r < 0)
		return r;
	counters = &profile->counters;
	add_losses(c, end_ns);
	count_troubles(c, counters);
	collected.window.samples = counters->samples;
	collected.window.lost =
		counters->lost_samples + counters->skipped + counters->samples_limit;
	strncpy(collected.window.mode, profile->info.mode, sizeof(collected.window.mode) - 1);
	collected.profile = TAKE_PTR(profile);
	return window_queue_put(c->queue, &collected);
}

/* Closes the windows that end at @ns or before. */
static int close_until(struct collector *c, uint64_t ns)
{
	int r = 0;

	if (ns >= c->schedule.end_ns) /* a record's time is not to be trusted that far */
		ns = MIN(ns, clock_ns(CLOCK_MONOTONIC));
	while (r >= 0 && ns >= c->schedule.end_ns) {
		r = hand_over(c, c->schedule.end_us, c->schedule.end_ns, false);
		window_clock_next(&c->schedule);
	}
	return r;
}

/* The wall clock was set: the window ends, by the clock that it began by. */
static int start_anew(struct collector *c)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t n_us = (now_ns - MIN(now_ns, c->schedule.start_ns)) / 1000;
	int r = hand_over(c, c->schedule.start_us + n_us, UINT64_MAX, false);

	window_clock_start(&c->schedule, c->settings.window_us, now_ns, real_us());
	return r;
}

/* Who the sampled process runs as, when it is sampled first or has changed. */
static int identify(struct collector *c, struct process_context **i, const struct sample *s)
{
	const char *unit = (*i)->unit;
	int r = 0;

	if (_likely_((*i)->uid == s->uid && (*i)->cgroup == s->cgroup))
		return 0;
	if ((*i)->cgroup != s->cgroup)
		r = units_find(c->units, (*i)->pid, s->cgroup, &unit);
	return r < 0 ? r : processes_identify(c->processes, i, s->uid, s->cgroup, unit);
}

static bool is_wanted(const struct collector *c, const struct process_context *i)
{
	const struct unit_list *only = &c->settings.units;

	for (uint32_t k = 0; k < only->n; k++)
		if (i->unit && strcmp(i->unit, only->names[k]) == 0)
			return true;
	return only->n == 0;
}

static int count_sample(struct collector *c, const struct event *event)
{
	struct process_context *i = processes_find(c->processes, event->pid);
	struct event e = *event;
	int r;

	if (!i)
		return -ENOMEM;
	r = identify(c, &i, &e.sample);
	if (r < 0)
		return r;
	if (_unlikely_(!is_wanted(c, i))) {
		sampler_refuse(c->sampler, units_knows(c->units, i->cgroup) ? i->cgroup : 0);
		return 0;
	}
	c->n_deep += live_callchain_is_deep(&e.sample);
	c->n_cut += live_callchain_cut(&e.sample, c->processes, i);
	return builder_add(c->builder, c->processes, &e);
}

static int on_event(const struct event *event, void *userdata)
{
	struct collector *c = userdata;
	int r = close_until(c, event->time_ns);

	if (r < 0)
		return r;
	switch (event->kind) {
	case EVENT_SAMPLE:
		return count_sample(c, event);
	case EVENT_THROTTLE:
		return builder_add(c->builder, c->processes, event);
	case EVENT_LOST: /* counted by the sampler, which knows of what */
		builder_observe(c->builder, event);
		return 0;
	default:
		builder_observe(c->builder, event);
		return processes_apply(c->processes, event);
	}
}

static int drain(struct collector *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int r;

	if (now < c->schedule.end_ns)
		add_losses(c, UINT64_MAX);
	r = sampler_drain(c->sampler, on_event, c);
	c->complete_ns = c->drained_ns;
	c->drained_ns = now;
	return r;
}

/* Twice drained, so that it holds what happened before it was asked for. */
static int hand_over_part(struct collector *c)
{
	int r;

	if (!window_queue_has_room(c->queue))
		return 0; /* still asked for */
	atomic_store(&c->cut, false);
	r = drain(c);
	return r < 0 ? r : hand_over(c, real_us(), UINT64_MAX, true);
}

static int turn(struct collector *c)
{
	int r = drain(c);

	if (r >= 0)
		r = close_until(c, c->complete_ns);
	if (r >= 0 && window_clock_follow(&c->schedule, clock_ns(CLOCK_MONOTONIC), real_us()))
		r = start_anew(c);
	if (r >= 0 && atomic_load(&c->cut))
		r = hand_over_part(c);
	return r;
}

static void wait_for_work(struct collector *c)
{
	struct pollfd fds[] = {
		{ .fd = sampler_fd(c->sampler), .events = POLLIN },
		{ .fd = c->wake_fd, .events = POLLIN },
	};
	uint64_t n;

	poll(fds, ARRAY_SIZE(fds), DRAIN_MS);
	if (fds[1].revents)
		(void)!read(c->wake_fd, &n, sizeof(n));
}

/* From the start to the last window, which ends when it is stopped. */
static int collect(struct collector *c)
{
	int r = 0;

	window_clock_start(&c->schedule, c->settings.window_us, clock_ns(CLOCK_MONOTONIC),
			   real_us());
	while (r >= 0 && !atomic_load(&c->stop)) {
		r = turn(c);
		if (r >= 0)
			wait_for_work(c);
	}
	if (r >= 0)
		r = sampler_finish(c->sampler, on_event, c);
	return r < 0 ? r : hand_over(c, real_us(), UINT64_MAX, false);
}

static void *run(void *userdata)
{
	struct collector *c = userdata;
	int r;

	pthread_setname_np(pthread_self(), "collector");
	r = collect(c);
	if (r < 0) {
		pthread_mutex_lock(&c->lock);
		c->result = fault_set(&c->fault, r, "collecting samples: %s", strerror(-r));
		pthread_mutex_unlock(&c->lock);
	}
	window_queue_wake(c->queue);
	return NULL;
}

static int start_thread(struct collector *c)
{
	int r = thread_start(&c->thread, run, c);

	c->running = r >= 0;
	return r;
}

static int collector_init(struct collector *c)
{
	struct builder_settings builder = {
		.doubled = sampler_probe(c->sampler)->duplicate_depth,
		.max_rows = c->settings.max_rows,
		.max_frames = c->settings.max_frames,
		.light_streams = LIGHT_STREAMS,
		.stitch.depth = sampler_probe(c->sampler)->depth,
		.stitch.is_wiped = sampler_probe(c->sampler)->since_switch,
	};
	int r;

	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->wake_fd < 0)
		return -errno;
	r = processes_new(&c->processes);
	if (r >= 0)
		r = builder_new(&c->builder, &builder);
	if (r >= 0)
		r = units_new(&c->units);
	if (r >= 0)
		r = window_queue_new(&c->queue, c->settings.max_queued);
	return r < 0 ? r : start_thread(c);
}

int collector_start(struct collector **ret, struct sampler *sampler,
		    const struct collector_settings *settings, struct fault *fault)
{
	_cleanup_(collector_freep) struct collector *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		sampler_free(sampler);
		return fault_set(fault, -ENOMEM, "%s", strerror(ENOMEM));
	}
	pthread_mutex_init(&c->lock, NULL);
	c->wake_fd = -1;
	c->sampler = sampler;
	c->settings = *settings;
	r = collector_init(c);
	if (r < 0)
		return fault_set(fault, r, "cannot start the collector: %s", strerror(-r));
	*ret = TAKE_PTR(c);
	return 0;
}

static void wake(struct collector *c)
{
	uint64_t one = 1;

	(void)!write(c->wake_fd, &one, sizeof(one));
}

void collector_stop(struct collector *collector)
{
	if (!collector->running)
		return;
	atomic_store(&collector->stop, true);
	wake(collector);
	pthread_join(collector->thread, NULL);
	collector->running = false;
}

struct collector *collector_free(struct collector *collector)
{
	if (!collector)
		return NULL;
	collector_stop(collector);
	window_queue_free(collector->queue);
	builder_free(collector->builder);
	processes_free(collector->processes);
	units_free(collector->units);
	sampler_free(collector->sampler);
	if (collector->wake_fd >= 0)
		close(collector->wake_fd);
	pthread_mutex_destroy(&collector->lock);
	free(collector);
	return NULL;
}

int collector_fd(const struct collector *collector)
{
	return window_queue_fd(collector->queue);
}

int collector_take(struct collector *collector, struct window_profile *ret, struct fault *fault)
{
	int r;

	if (window_queue_take(collector->queue, ret))
		return 1;
	pthread_mutex_lock(&collector->lock);
	r = collector->result;
	if (r < 0)
		*fault = collector->fault;
	pthread_mutex_unlock(&collector->lock);
	return r;
}

void collector_cut(struct collector *collector)
{
	atomic_store(&collector->cut, true);
	wake(collector);
}

void collector_get_counts(const struct collector *collector, struct sampler_counts *ret)
{
	sampler_get_counts(collector->sampler, ret);
}
