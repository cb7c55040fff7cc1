/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A chain of 43 calls, which the last one leaves by an exception. f8, f18 and f28 catch it in
 * turns, and call others then; every third function between has a destructor to run.
 */
#include "tests/vm/programs/one-caller.h"

#define LAST 43

static unsigned int n_thrown;

struct failure {
	unsigned int target;
};

template <unsigned int N> struct guard {
	NOINLINE ~guard()
	{
		work();
	}
};

template <unsigned int N> NOINLINE static void inner()
{
	work();
}

template <unsigned int N> NOINLINE static void outer()
{
	work();
	inner<N>();
	sink = sink + 1; /* not a jump */
}

template <unsigned int N> NOINLINE static void link()
{
	work();
	if constexpr (N == LAST) {
		throw failure{ 8 + 10 * (n_thrown++ % 3) };
	} else if constexpr (N % 10 == 8) {
		try {
			link<N + 1>();
		} catch (const failure &f) {
			if (f.target != N)
				throw;
			outer<N>();
		}
	} else if constexpr (N % 3 == 0) {
		guard<N> g;

		link<N + 1>();
	} else {
		link<N + 1>();
	}
	sink = sink + 1;
}

int main(int argc, char **argv)
{
	set_turns(argc, argv);
	for (;;)
		link<1>();
}
