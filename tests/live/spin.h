/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes for a given time of the CPU, in the function that this is put into. */
#pragma once

#include <stdint.h>
#include <time.h>

#define NOT_INLINED __attribute__((noinline, noclone))

/* Keeps a call from becoming a jump, so that the caller stays on the stack. */
#define HERE asm volatile("" ::: "memory")

static inline uint64_t spin_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Looks at the clock so seldom that next to no time is spent in it. */
static inline __attribute__((always_inline)) void spin_us(uint64_t us)
{
	uint64_t end = spin_now_us() + us;
	volatile uint64_t x = 1;

	do {
		for (unsigned int i = 0; i < 50000; i++)
			x = x * 6364136223846793005u + 1442695040888963407u;
	} while (spin_now_us() < end);
}
