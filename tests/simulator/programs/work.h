/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the simulated programs share: work that no compiler removes, and the size from the command
 * line. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#define _noinline_ __attribute__((noinline, noclone, noipa))

static inline unsigned size_argument(int argc, char **argv, unsigned size)
{
	return argc > 1 ? strtoul(argv[1], NULL, 0) : size;
}

/* A loop of n turns: 4 or 5 instructions and one branch each. */
static inline uint32_t work(uint32_t state, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		state = state * 1664525 + 1013904223;
		__asm__ volatile("" : "+r"(state));
	}
	return state;
}
