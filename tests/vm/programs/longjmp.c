/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A chain of 43 calls, which the last one leaves by longjmp: to f8, f18 and f28 in turns. Those
 * call others then, above the calls that were left, which stay in the registers.
 */
#include <setjmp.h>

#include "tests/support/chain-of-calls.h"
#include "tests/vm/programs/one-caller.h"

static jmp_buf *targets[3];
static unsigned int n_jumps;

NOINLINE static void f43(void)
{
	work();
	longjmp(*targets[n_jumps++ % 3], 1);
}

#define LINK(name, next)                       \
	static jmp_buf name##_place;           \
                                               \
	NOINLINE static void name##_2(void)    \
	{                                      \
		work();                        \
	}                                      \
                                               \
	NOINLINE static void name##_1(void)    \
	{                                      \
		work();                        \
		name##_2();                    \
		sink++; /* not a jump */       \
	}                                      \
                                               \
	NOINLINE static void name(void)        \
	{                                      \
		work();                        \
		if (setjmp(name##_place) == 0) \
			next();                \
		else                           \
			name##_1();            \
		sink++;                        \
	}

CHAIN_OF_CALLS(LINK)

int main(int argc, char **argv)
{
	set_turns(argc, argv);
	targets[0] = &f8_place;
	targets[1] = &f18_place;
	targets[2] = &f28_place;
	for (;;)
		f1();
}
