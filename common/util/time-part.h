/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A span of time in parts of equal length, and which of them has a window. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct time_parts {
	uint64_t start_us, end_us;
	size_t n; /* at least 1 */
};

/* The part that has the middle of the window; the first or the last one if none has it. */
static inline size_t time_part_of(const struct time_parts *parts, uint64_t start_us,
				  uint64_t length_us)
{
	double part = ((double)parts->end_us - (double)parts->start_us) / (double)parts->n;
	double middle = (double)start_us - (double)parts->start_us + (double)length_us / 2;

	if (!(part > 0) || !(middle > 0))
		return 0;
	return middle / part < (double)parts->n ? (size_t)(middle / part) : parts->n - 1;
}
