/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a window says of its own quality: what was lost while it was open, and how complete its
 * stacks are. The sampler and the unwinder count from the start of sampling on; each window gets
 * the growth since the one before, so that the windows add up to these counts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/sampler/report.h"
#include "daemon/unwind/live-unwinder.h"

struct window_losses {
	uint64_t samples, skipped, records, out_of_order;
};

/* Zeroed it begins at the start of sampling, except for @accounted_ns. */
struct window_quality {
	struct window_losses accounted; /* the part of the sampler's counts that is in windows */
	uint64_t accounted_ns;          /* until when losses are accounted for */
	struct window_losses losses;    /* of the open window */
	uint64_t n_truncated;           /* its call chains truncated at an invalid frame pointer */
	uint64_t n_depth_limit;         /* ... and at the depth limit */
	uint64_t n_since_switch;        /* its stacks of records that a task switch has emptied */
	struct live_unwinder_counts unwound; /* the stacks that are in windows */
};

/*
 * Adds to the open window what was lost until @end_ns, by @now, the sampler's counts. The time of a
 * single loss is not known: the window gets the share of the new losses that it has of the time
 * since the last accounting.
 */
void window_quality_add_losses(struct window_quality *quality, const struct sampler_counts *now,
			       uint64_t end_ns);

/*
 * The window closes: its counters go to @ret, and the next window begins. @stacks: the unwinder's
 * counts.
 */
void window_quality_take(struct window_quality *quality, const struct live_unwinder_counts *stacks,
			 struct profile_counters *ret);
