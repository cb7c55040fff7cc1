/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/window-clock.h"

#define JUMP_US 500000 /* more than a clock is slewed by between two calls */

static void set_end(struct window_clock *clock, uint64_t end_us)
{
	clock->end_us = end_us;
	clock->end_ns = (uint64_t)((int64_t)end_us - clock->offset_us) * 1000;
}

void window_clock_start(struct window_clock *clock, uint64_t window_us, uint64_t mono_ns,
			uint64_t real_us)
{
	clock->window_us = window_us;
	clock->start_us = real_us;
	clock->start_ns = mono_ns;
	clock->offset_us = (int64_t)(real_us - mono_ns / 1000);
	set_end(clock, (real_us / window_us + 1) * window_us);
}

bool window_clock_follow(struct window_clock *clock, uint64_t mono_ns, uint64_t real_us)
{
	int64_t offset_us = (int64_t)(real_us - mono_ns / 1000);
	int64_t change_us = offset_us - clock->offset_us;

	if (change_us > JUMP_US || change_us < -JUMP_US)
		return true;
	clock->offset_us = offset_us;
	set_end(clock, clock->end_us);
	return false;
}

void window_clock_next(struct window_clock *clock)
{
	clock->start_us = clock->end_us;
	clock->start_ns = clock->end_ns;
	set_end(clock, clock->end_us + clock->window_us);
}
