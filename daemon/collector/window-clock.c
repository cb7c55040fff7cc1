/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/window-clock.h"

#define JUMP_US 500000 /* more than a clock is slewed by between two looks at it */

static void set_end(struct window_clock *s, uint64_t end_us)
{
	s->end_us = end_us;
	s->end_ns = (uint64_t)((int64_t)end_us - s->ahead_us) * 1000;
}

void window_clock_start(struct window_clock *schedule, uint64_t window_us, uint64_t mono_ns,
			uint64_t real_us)
{
	schedule->window_us = window_us;
	schedule->start_us = real_us;
	schedule->start_ns = mono_ns;
	schedule->ahead_us = (int64_t)(real_us - mono_ns / 1000);
	set_end(schedule, (real_us / window_us + 1) * window_us);
}

bool window_clock_follow(struct window_clock *schedule, uint64_t mono_ns, uint64_t real_us)
{
	int64_t ahead_us = (int64_t)(real_us - mono_ns / 1000);
	int64_t change_us = ahead_us - schedule->ahead_us;

	if (change_us > JUMP_US || change_us < -JUMP_US)
		return true;
	schedule->ahead_us = ahead_us;
	set_end(schedule, schedule->end_us);
	return false;
}

void window_clock_next(struct window_clock *schedule)
{
	schedule->start_us = schedule->end_us;
	schedule->start_ns = schedule->end_ns;
	set_end(schedule, schedule->end_us + schedule->window_us);
}
