/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread drains the sampler every two seconds to four times a second, when a ring fills up, and
 * when a window ends. Events come in order of time. A window is closed at the first event after its
 * end, or once all before has come.
 */
#include "daemon/collector/collector.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/builder/builder.h"
#include "common/process/processes.h"
#include "common/profile/scale.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "common/util/thread.h"
#include "daemon/collector/drain-pace.h"
#include "daemon/collector/hot-ranges.h"
#include "daemon/collector/machine-info.h"
#include "daemon/collector/sample-counter.h"
#include "daemon/collector/tick-counts.h"
#include "daemon/collector/unit.h"
#include "daemon/collector/window-clock.h"
#include "daemon/collector/window-quality.h"
#include "daemon/sampler/drain.h"
#include "daemon/window/window-queue.h"

struct collector {
	struct collector_settings settings;
	struct sample_counter samples;
	struct hot_ranges hot;
	struct window_queue *queue;
	struct window_clock clock;
	uint64_t drained_ns;  /* when the last drain began */
	uint64_t complete_ns; /* everything written before has come */
	struct drain_pace pace;
	int wake_fd;
	_Atomic bool stop, part_requested, keep_processes;
	struct own_cost cost;
	uint32_t one_in;            /* samples due for each one taken in the open window */
	_Atomic uint64_t turned_us; /* when the last turn began; CLOCK_MONOTONIC */
	bool running;               /* the thread must be joined */
	pthread_t thread;
	pthread_mutex_t lock; /* of the next two */
	int result;
	struct fault fault;
};

static void add_losses(struct collector *c, uint64_t end_ns)
{
	struct sampler_counts counts;

	sampler_get_counts(c->samples.sampler, &counts);
	window_quality_add_losses(&c->samples.quality, &counts, end_ns);
}

static int fill_info(const struct collector *c, struct profile *profile)
{
	const struct sampler_probe *probe = sampler_probe(c->samples.sampler);
	struct sampler_counts counts;
	int r = 0;

	sampler_get_counts(c->samples.sampler, &counts);
	profile->info.mode = profile_string(profile, sampler_mode_name(probe->mode), &r);
	profile->info.event = profile_string(profile, probe->event, &r);
	profile->info.n_cpus = counts.n_cpus;
	profile->info.depth = probe->depth;
	return r < 0 ? r : machine_info_fill(profile);
}

static void add_quality(struct collector *c, struct profile_counters *counters)
{
	struct live_unwinder_counts stacks;

	live_unwinder_get_counts(c->samples.unwinder, &stacks);
	window_quality_take(&c->samples.quality, &stacks, counters);
}

/*
 * Hands over what the builder has counted: a window from the clock's start to @end_us, with the
 * losses until @end_ns.
 */
static int hand_over(struct collector *c, uint64_t end_us, uint64_t end_ns, bool open)
{
	const struct window_clock *clock = &c->clock;
	struct window_profile w = {
		.window = { .start_us = clock->start_us,
			    .length_us = end_us > clock->start_us ? end_us - clock->start_us : 0,
			    .open = open },
	};
	_cleanup_(profile_freep) struct profile *profile = NULL;
	uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct profile_counters *counters;
	int r;

	builder_keep_processes(c->samples.builder, open || atomic_load(&c->keep_processes));
	r = live_unwinder_flush(c->samples.unwinder, c->samples.processes);
	if (r >= 0 && c->samples.ticks)
		r = tick_counts_take(c->samples.ticks, end_ns, !open);
	if (r >= 0)
		r = builder_close(c->samples.builder, c->samples.processes, &profile);
	builder_set_flushed(c->samples.builder, MIN(end_ns, clock_ns(CLOCK_MONOTONIC)));
	if (r >= 0)
		r = fill_info(c, profile);
	if (r < 0)
		return r;
	counters = &profile->counters;
	add_losses(c, end_ns);
	add_quality(c, counters);
	profile_scale_samples(profile, c->one_in);
	w.window.samples = counters->samples;
	w.window.lost = counters->lost_samples + counters->skipped + counters->samples_limit;
	strncpy(w.window.mode, profile->info.mode, sizeof(w.window.mode) - 1);
	w.profile = TAKE_PTR(profile);
	r = window_queue_put(c->queue, &w);
	c->cost.closing_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	return r;
}

static void plan_ticks(const struct collector *c)
{
	if (c->samples.ticks)
		tick_counts_plan(c->samples.ticks, c->clock.end_ns);
}

/* Samples that come in the tenths of a second until this is noticed count as those after it. */
static int choose_rate(struct collector *c)
{
	struct sampler_counts counts;

	sampler_get_counts(c->samples.sampler, &counts);
	c->one_in = own_cost_end_window(&c->cost, &counts);
	return sampler_slow(c->samples.sampler, c->one_in);
}

/* Closes the windows that end at @ns or before. */
static int close_until(struct collector *c, uint64_t ns)
{
	int r = 0;

	if (ns >=
	    c->clock.end_ns) /* a wrong time in a record must not close windows of the future */
		ns = MIN(ns, clock_ns(CLOCK_MONOTONIC));
	while (r >= 0 && ns >= c->clock.end_ns) {
		r = hand_over(c, c->clock.end_us, c->clock.end_ns, false);
		window_clock_next(&c->clock);
		plan_ticks(c);
		if (r >= 0)
			r = choose_rate(c);
	}
	return r;
}

/* The wall clock was set: the window ends now, by the clock that it began with. */
static int restart_clock(struct collector *c)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t n_us = (now_ns - MIN(now_ns, c->clock.start_ns)) / 1000;
	int r = hand_over(c, c->clock.start_us + n_us, UINT64_MAX, false);

	window_clock_start(&c->clock, c->settings.window_us, now_ns, clock_us(CLOCK_REALTIME));
	plan_ticks(c);
	return r;
}

static int on_event(const struct event *event, void *userdata)
{
	struct collector *c = userdata;
	int r = close_until(c, event->time_ns);

	*(event->kind == EVENT_SAMPLE ? &c->cost.n_samples : &c->cost.n_others) += 1;
	if (r < 0)
		return r;
	switch (event->kind) {
	case EVENT_SAMPLE:
		return sample_counter_add(&c->samples, event);
	case EVENT_THROTTLE:
		return builder_add(c->samples.builder, c->samples.processes, event);
	case EVENT_LOST: /* the sampler counts them, by kind */
		builder_observe(c->samples.builder, event);
		return 0;
	default:
		builder_observe(c->samples.builder, event);
		return processes_apply(c->samples.processes, event);
	}
}

static int drain(struct collector *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int r;

	if (now < c->clock.end_ns)
		add_losses(c, UINT64_MAX);
	r = sampler_drain(c->samples.sampler, on_event, c);
	c->complete_ns = MAX(c->drained_ns, now - DRAIN_PATIENCE_NS);
	c->drained_ns = now;
	return r;
}

/* The second drain delivers everything that was written before the request. */
static int hand_over_part(struct collector *c)
{
	int r;

	if (!window_queue_has_room(c->queue))
		return 0; /* the request stays */
	atomic_store(&c->part_requested, false);
	r = drain(c);
	if (r >= 0)
		r = hand_over(c, clock_us(CLOCK_REALTIME), UINT64_MAX, true);
	plan_ticks(c);
	return r;
}

static int turn(struct collector *c)
{
	int r;

	atomic_store_explicit(&c->turned_us, clock_us(CLOCK_MONOTONIC), memory_order_relaxed);
	builder_keep_processes(c->samples.builder, atomic_load(&c->keep_processes));
	r = live_unwinder_update(c->samples.unwinder, c->samples.processes);
	if (r >= 0)
		r = drain(c);
	if (r >= 0)
		r = close_until(c, c->complete_ns);
	hot_ranges_update(&c->hot, sampler_ticks(c->samples.sampler), c->samples.processes);
	builder_keep_processes(c->samples.builder, atomic_load(&c->keep_processes));
	if (r >= 0)
		r = sample_counter_relieve(&c->samples, c->clock.end_ns);
	if (r >= 0 &&
	    window_clock_follow(&c->clock, clock_ns(CLOCK_MONOTONIC), clock_us(CLOCK_REALTIME)))
		r = restart_clock(c);
	if (r >= 0 && atomic_load(&c->part_requested))
		r = hand_over_part(c);
	return r;
}

/* @most_ms, or when all before the window's end has come. */
static int wait_ms(const struct collector *c, int most_ms)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), end = c->clock.end_ns + DRAIN_PATIENCE_NS;
	uint64_t left_ms = now < end ? (end - now) / 1000000 + 1 : 1;

	return (int)MIN(left_ms, (uint64_t)most_ms);
}

/* A ring that fills up ends any wait. */
static void wait_for_work(struct collector *c)
{
	const struct ticks *ticks = sampler_ticks(c->samples.sampler);
	const struct drain_pace_view view = {
		.n_samples = sampler_taken(c->samples.sampler),
		.n_tasks = c->cost.n_others,
		.n_files = sampler_new_files(c->samples.sampler),
		.n_ticks = ticks ? ticks_count_used(ticks) : 0,
		.window_us = c->settings.window_us,
		.changes_phase = sampler_probe(c->samples.sampler)->mode == SAMPLER_STACK_BRANCH,
	};
	struct pollfd fds[] = {
		{ .fd = sampler_fd(c->samples.sampler), .events = POLLIN },
		{ .fd = c->wake_fd, .events = POLLIN },
	};
	int pace_ms = drain_pace_next(&c->pace, &view);
	uint64_t n;

	poll(fds, ARRAY_SIZE(fds), wait_ms(c, pace_ms));
	if (fds[1].revents)
		(void)!read(c->wake_fd, &n, sizeof(n));
}

/* Runs until collector_stop(), which ends the last window. */
static int collect(struct collector *c)
{
	int r = 0;

	window_clock_start(&c->clock, c->settings.window_us, clock_ns(CLOCK_MONOTONIC),
			   clock_us(CLOCK_REALTIME));
	plan_ticks(c);
	while (r >= 0 && !atomic_load(&c->stop)) {
		r = turn(c);
		if (r >= 0)
			wait_for_work(c);
	}
	if (r >= 0)
		r = sampler_finish(c->samples.sampler, on_event, c);
	return r < 0 ? r : hand_over(c, clock_us(CLOCK_REALTIME), UINT64_MAX, false);
}

static void *run(void *userdata)
{
	struct collector *c = userdata;
	int r;

	pthread_setname_np(pthread_self(), "collector");
	r = collect(c);
	if (r < 0) {
		pthread_mutex_lock(&c->lock);
		c->result = fault_set(&c->fault, r, "sampling failed: %s", strerror(-r));
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
	const struct sample_counter_settings settings = {
		.max_rows = c->settings.max_rows,
		.max_frames = c->settings.max_frames,
		.tables = c->settings.tables,
	};
	int r;

	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->wake_fd < 0)
		return -errno;
	r = sample_counter_init(&c->samples, &settings);
	if (r >= 0)
		r = window_queue_new(&c->queue, c->settings.max_queued);
	if (r >= 0)
		r = sampler_slow(c->samples.sampler, c->one_in);
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
	c->turned_us = clock_us(CLOCK_MONOTONIC);
	c->one_in = own_cost_init(&c->cost, settings->budget, settings->max_scale, settings->hz);
	c->samples.sampler = sampler;
	c->settings = *settings;
	c->keep_processes = settings->keep_processes;
	c->samples.only = &c->settings.units;
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
	sample_counter_done(&collector->samples);
	hot_ranges_done(&collector->hot);
	sampler_free(collector->samples.sampler);
	if (collector->wake_fd >= 0)
		close(collector->wake_fd);
	pthread_mutex_destroy(&collector->lock);
	free(collector);
	return NULL;
}

struct window_queue *collector_queue(const struct collector *collector)
{
	return collector->queue;
}

int collector_fd(const struct collector *collector)
{
	return window_queue_fd(collector->queue);
}

int collector_take(struct collector *collector, struct window_profile *ret, struct fault *fault)
{
	if (window_queue_take(collector->queue, ret))
		return 1;
	return collector_get_result(collector, fault);
}

int collector_get_result(struct collector *collector, struct fault *fault)
{
	int r;

	pthread_mutex_lock(&collector->lock);
	r = collector->result;
	if (r < 0)
		*fault = collector->fault;
	pthread_mutex_unlock(&collector->lock);
	return r;
}

void collector_request_part(struct collector *collector)
{
	atomic_store(&collector->part_requested, true);
	wake(collector);
}

void collector_keep_processes(struct collector *collector, bool keep)
{
	atomic_store(&collector->keep_processes, keep);
}

void collector_rank(struct collector *collector, const struct profile *profile, double share)
{
	hot_ranges_rank(&collector->hot, profile, share);
}

void collector_set_budget(struct collector *collector, double limit)
{
	atomic_store(&collector->cost.limit, limit);
}

void collector_get_cost(const struct collector *collector, struct own_cost_report *ret)
{
	own_cost_get(&collector->cost, ret);
}

void collector_get_counts(const struct collector *collector, struct sampler_counts *ret)
{
	sampler_get_counts(collector->samples.sampler, ret);
	sampler_get_run_time(collector->samples.sampler, ret);
}

void collector_get_stack_counts(const struct collector *collector, struct live_unwinder_counts *ret)
{
	live_unwinder_get_counts(collector->samples.unwinder, ret);
}

size_t collector_get_short_stacks(const struct collector *collector,
				  struct short_stacks_object ret[static SHORT_STACKS_SHOWN])
{
	return live_unwinder_get_short(collector->samples.unwinder, ret);
}

uint64_t collector_get_turn(const struct collector *collector)
{
	return atomic_load_explicit(&collector->turned_us, memory_order_relaxed);
}
