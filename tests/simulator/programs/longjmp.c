/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* longjmp N: N times down 20 calls and, two times of three, out of them by longjmp; else by
 * returning. */
#include <setjmp.h>

#include "work.h"

static jmp_buf top;
static volatile unsigned n_jumps;

static _noinline_ uint32_t bottom(uint32_t state)
{
	state = work(state, 10);
	if (state % 3) {
		n_jumps++;
		longjmp(top, 1);
	}
	return state;
}

static _noinline_ uint32_t descend(unsigned depth, uint32_t state)
{
	state = work(state, 5);
	state += depth > 1 ? descend(depth - 1, state) : bottom(state);
	return work(state, 4);
}

static _noinline_ uint32_t attempt(volatile uint32_t *state)
{
	if (setjmp(top) == 0)
		return descend(20, *state);
	return work(*state, 30) + 1;
}

int main(int argc, char **argv)
{
	unsigned i, n = size_argument(argc, argv, 400);
	volatile uint32_t state = 1;

	for (i = 0; i < n; i++)
		state = attempt(&state);
	return state == 0;
}
