/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time of a clock of the system, as one number. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_us(clockid_t id)
{
	return clock_ns(id) / 1000;
}
