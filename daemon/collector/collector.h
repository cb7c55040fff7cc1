/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collector: the thread that drains the sampler, follows processes and counts, and closes a
 * window at each boundary of wall-clock time. One thing leaves it: a closed window, by one bounded
 * queue. If the main thread falls behind, windows that wait are merged; nothing is dropped.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/sampler/sampler.h"
#include "daemon/window/window.h"

struct collector;

struct collector_settings {
	uint64_t window_us;          /* windows end at multiples of it */
	size_t max_queued;           /* windows that may wait for the main thread */
	size_t max_rows, max_frames; /* limits of a window's tables; 0: the builder's defaults */
	struct unit_list units;      /* samples of others are not wanted; see sampler_refuse() */
};

/* Takes over @sampler, in any case. The thread runs when this returns. -errno and @fault. */
int collector_start(struct collector **ret, struct sampler *sampler,
		    const struct collector_settings *settings, struct fault *fault);

/* Stops the thread; the last, unfinished window can be taken after it. */
void collector_stop(struct collector *collector);
struct collector *collector_free(struct collector *collector);
DEFINE_CLEANUP(struct collector *, collector_free);

/* Readable when collector_take() has something, or when the thread has ended. */
int collector_fd(const struct collector *collector);

/* 1 and *@ret, 0 if nothing waits, or the errno and @fault that the thread ended with. */
int collector_take(struct collector *collector, struct window_profile *ret, struct fault *fault);

/*
 * Asks for what the open window holds so far: it comes by the queue as a part (window.open), and is
 * not in what the window holds when it is closed.
 */
void collector_cut(struct collector *collector);

void collector_get_counts(const struct collector *collector, struct sampler_counts *ret);
