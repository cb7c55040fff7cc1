/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers at random, the same in every run: xorshift64* (Vigna, 2016). */
#pragma once

#include <stdint.h>

static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

/* One of 0 .. n - 1. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return (next_random(state) >> 11) % n;
}
