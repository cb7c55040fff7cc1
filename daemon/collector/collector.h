/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collector: the thread that drains the sampler, follows processes, counts samples, and closes
 * a window at each boundary of wall-clock time. Windows leave it through one bounded queue. If the
 * main thread falls behind, waiting windows are merged; nothing is dropped.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/collector/own-cost.h"
#include "daemon/sampler/sampler.h"
#include "daemon/unwind/live-unwinder.h"
#include "daemon/window/window-queue.h"
#include "daemon/window/window.h"

struct collector;

struct collector_settings {
	uint64_t window_us;            /* windows end at multiples of it, by the wall clock */
	size_t max_queued;             /* windows that may wait for the main thread */
	size_t max_rows, max_frames;   /* limits of a window's tables; 0: defaults */
	struct unit_list units;        /* count these units only; empty: all */
	bool keep_processes;           /* see collector_keep_processes() */
	struct table_exchange *tables; /* for stacks of user code; borrowed; NULL: none are built */
	/*
	 * The share of each CPU that sampling may take; 0: no limit. To hold it one sample in
	 * several is taken, at most one in @max_scale, and counts as that many. @hz: samples that a
	 * busy CPU is due in a second; 0: not known.
	 */
	double budget, max_scale, hz;
};

/* Starts the thread; called by the one that will store the windows. Takes over @sampler, in any
 * case. -errno and @fault. */
int collector_start(struct collector **ret, struct sampler *sampler,
		    const struct collector_settings *settings, struct fault *fault);

/* Stops the thread. The last, unfinished window can be taken afterwards. */
void collector_stop(struct collector *collector);
struct collector *collector_free(struct collector *collector);
DEFINE_CLEANUP(struct collector *, collector_free);

/* Where the windows wait. Borrowed. */
struct window_queue *collector_queue(const struct collector *collector);

/* Readable (epoll) when a window waits, or when the thread has ended. */
int collector_fd(const struct collector *collector);

/* 1 and *@ret; 0 if no window waits; or the -errno and @fault that the thread ended with. */
int collector_take(struct collector *collector, struct window_profile *ret, struct fault *fault);

/* 0, also when it has stopped; or the -errno and @fault that the thread ended with. */
int collector_get_result(struct collector *collector, struct fault *fault);

/* Whether processes that start and exit within a window from now on stay apart (see
 * common/builder/flush-processes.h). Any thread. */
void collector_keep_processes(struct collector *collector, bool keep);

/*
 * Requests what the open window holds so far. It comes through the queue as a part (window.open);
 * the rest of the window does not contain it.
 */
void collector_request_part(struct collector *collector);

/* See hot_ranges_rank(). */
void collector_rank(struct collector *collector, const struct profile *profile, double share);

/* Changes the budget; see own-cost.h. */
void collector_set_budget(struct collector *collector, double limit);
void collector_get_cost(const struct collector *collector, struct own_cost_report *ret);

void collector_get_counts(const struct collector *collector, struct sampler_counts *ret);
void collector_get_stack_counts(const struct collector *collector,
				struct live_unwinder_counts *ret);

/* See live_unwinder_get_short(). */
size_t collector_get_short_stacks(const struct collector *collector,
				  struct short_stacks_object ret[static SHORT_STACKS_SHOWN]);

/* When the thread began its last turn (CLOCK_MONOTONIC, us). It turns at least every two
 * seconds, and at the start counts as having turned. */
uint64_t collector_get_turn(const struct collector *collector);
