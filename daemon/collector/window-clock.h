/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When windows end: at multiples of their length by the wall clock, which may be set meanwhile,
 * told in the time of samples, which runs evenly.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct window_clock {
	uint64_t window_us;
	uint64_t start_us, end_us; /* of the window, CLOCK_REALTIME */
	uint64_t start_ns, end_ns; /* the same, CLOCK_MONOTONIC */
	int64_t ahead_us;          /* of CLOCK_REALTIME over CLOCK_MONOTONIC */
};

/* A first window, from now to the next boundary. */
void window_clock_start(struct window_clock *schedule, uint64_t window_us, uint64_t mono_ns,
			uint64_t real_us);

/*
 * Follows the wall clock where it is being slewed. True if it has jumped: then the window ends here
 * and now, and window_clock_start() begins another one.
 */
bool window_clock_follow(struct window_clock *schedule, uint64_t mono_ns, uint64_t real_us);

/* The window is at its end: the next one. */
void window_clock_next(struct window_clock *schedule);
