/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A chain of 43 calls, more than there are registers, over and over: on its way down it works so
 * long at each depth that samples come before the registers have gone round. Built without frame
 * pointers.
 */
#include <stdlib.h>

#include "tests/support/chain-of-calls.h"

#define NOINLINE __attribute__((noinline, noclone, noipa))

static volatile unsigned int sink;
static unsigned int turns;

/* Inlined: a call of its own would push and pop. */
static inline __attribute__((always_inline)) void work(void)
{
	for (unsigned int i = 0; i < turns; i++)
		sink += i;
}

#define LINK(name, next)                 \
	NOINLINE static void name(void)  \
	{                                \
		work();                  \
		next();                  \
		sink++; /* not a jump */ \
	}

NOINLINE static void f43(void)
{
	work();
}

CHAIN_OF_CALLS(LINK)

int main(int argc, char **argv)
{
	turns = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 20000;
	for (;;)
		f1();
}
