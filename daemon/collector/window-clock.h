/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The boundaries of windows: multiples of their length by the wall clock, converted into
 * CLOCK_MONOTONIC, the clock of samples. The wall clock may be set meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct window_clock {
	uint64_t window_us;
	uint64_t start_us, end_us; /* of the window, CLOCK_REALTIME */
	uint64_t start_ns, end_ns; /* the same, CLOCK_MONOTONIC */
	int64_t offset_us;         /* CLOCK_REALTIME - CLOCK_MONOTONIC */
};

/* Begins a window now; it ends at the next boundary. */
void window_clock_start(struct window_clock *clock, uint64_t window_us, uint64_t mono_ns,
			uint64_t real_us);

/*
 * Follows a wall clock that is slewed. True if it has jumped: the caller ends the window now, and
 * begins another one with window_clock_start().
 */
bool window_clock_follow(struct window_clock *clock, uint64_t mono_ns, uint64_t real_us);

/* Goes on to the next window, which begins where this one ends. */
void window_clock_next(struct window_clock *clock);
