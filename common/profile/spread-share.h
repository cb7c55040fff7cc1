/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts are integers. So that sums are exact, the rows of a group get what the running sum grows
 * by, in the order of the table: none is off by a sample or more.
 */
#pragma once

#include <stdint.h>

/* As many samples a captured sample of a cold function counts, of which fewer are captured. */
#define SPREAD_COLD_WEIGHT 8u

/* Of a process: samples, and what those of them that were captured count. */
struct spread_captured {
	uint64_t samples, captured;
};

/* Captured rows with the sum of what they count, and of its squares. */
struct spread_weights {
	uint64_t sum, squares;
};

/* w² = w + (w - 1) w */
static inline uint64_t spread_squares_of(uint64_t sum, uint64_t surplus)
{
	return sum + surplus * SPREAD_COLD_WEIGHT;
}

/* @part of @whole, of which there are @n now; rounded to the nearest. */
static inline uint64_t spread_share_of(uint64_t n, uint64_t part, uint64_t whole)
{
	return (uint64_t)(((unsigned __int128)n * part + whole / 2) / (whole ?: 1));
}

/* What is @sum of @whole is as large a part of @n: the difference to *@before, which is set to it.
 */
static inline uint64_t spread_grow(uint64_t n, uint64_t sum, uint64_t whole, uint64_t *before)
{
	uint64_t now = spread_share_of(n, sum, whole), more = now - *before;

	*before = now;
	return more;
}
