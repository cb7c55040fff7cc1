/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the programs share whose calls are left without returning. Each of their functions has one
 * caller, which its name says: so the function that is running tells the whole stack. Each works
 * for a while itself, so that it is sampled.
 */
#pragma once

#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

static volatile unsigned int sink;
static unsigned int turns;

static inline void set_turns(int argc, char **argv)
{
	turns = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 5000;
}

/* Inlined: a call of its own would push and pop. */
static inline __attribute__((always_inline)) void work(void)
{
	for (unsigned int i = 0; i < turns; i++)
		sink = sink + i;
}
