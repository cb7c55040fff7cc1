/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When windows end: at multiples of their length by the wall clock, which may be set meanwhile, told in
 * the time of samples, which runs evenly.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct schedule {
	uint64_t window_us;
	uint64_t start_us, end_us; /* of the window, CLOCK_REALTIME */
	uint64_t start_ns, end_ns; /* the same, CLOCK_MONOTONIC */
	int64_t ahead_us;          /* of CLOCK_REALTIME over CLOCK_MONOTONIC */
};

/* A first window, from now to the next boundary. */
void schedule_start(struct schedule *schedule, uint64_t window_us, uint64_t mono_ns,
		    uint64_t real_us);

/*
 * Follows the wall clock where it is being slewed. True if it has jumped: then the window ends here and now,
 * and schedule_start() begins another one.
 */
bool schedule_follow(struct schedule *schedule, uint64_t mono_ns, uint64_t real_us);

/* The window is at its end: the next one. */
void schedule_next(struct schedule *schedule);
