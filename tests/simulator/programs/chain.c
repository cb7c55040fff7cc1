/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* chain N: N times a chain of 43 nested calls, with work before and after the call at each depth.
 */
#include "tests/support/chain-of-calls.h"
#include "work.h"

#define LINK(name, next)                                \
	static _noinline_ uint32_t name(uint32_t state) \
	{                                               \
		state = work(state, 3 + state % 5);     \
		state += next(state);                   \
		return work(state, 2);                  \
	}

static _noinline_ uint32_t f43(uint32_t state)
{
	return work(state, 40);
}

CHAIN_OF_CALLS(LINK)

int main(int argc, char **argv)
{
	unsigned i, n = size_argument(argc, argv, 200);
	uint32_t state = 1;

	for (i = 0; i < n; i++)
		state = f1(state);
	return state == 0;
}
