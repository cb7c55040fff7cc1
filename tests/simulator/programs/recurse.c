/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recurse N: N times a recursion of varying depth, up to 100, with work at every depth on the way
 * down and up. */
#include "work.h"

static _noinline_ uint32_t descend(unsigned depth, uint32_t state)
{
	state = work(state, 2 + state % 7);
	if (depth > 1)
		state += descend(depth - 1, state);
	return work(state, 3 + state % 5);
}

int main(int argc, char **argv)
{
	unsigned i, n = size_argument(argc, argv, 120);
	uint32_t state = 1;

	for (i = 0; i < n; i++)
		state = descend(60 + i * 37 % 41, state);
	return state == 0;
}
