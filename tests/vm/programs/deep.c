/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A chain of 43 calls, more than there are registers, over and over: on its way down it works so long at each depth
 * that samples come before the registers have gone round. Built without frame pointers.
 */
#include <stdlib.h>

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

LINK(f42, f43)
LINK(f41, f42)
LINK(f40, f41)
LINK(f39, f40)
LINK(f38, f39)
LINK(f37, f38)
LINK(f36, f37)
LINK(f35, f36)
LINK(f34, f35)
LINK(f33, f34)
LINK(f32, f33)
LINK(f31, f32)
LINK(f30, f31)
LINK(f29, f30)
LINK(f28, f29)
LINK(f27, f28)
LINK(f26, f27)
LINK(f25, f26)
LINK(f24, f25)
LINK(f23, f24)
LINK(f22, f23)
LINK(f21, f22)
LINK(f20, f21)
LINK(f19, f20)
LINK(f18, f19)
LINK(f17, f18)
LINK(f16, f17)
LINK(f15, f16)
LINK(f14, f15)
LINK(f13, f14)
LINK(f12, f13)
LINK(f11, f12)
LINK(f10, f11)
LINK(f9, f10)
LINK(f8, f9)
LINK(f7, f8)
LINK(f6, f7)
LINK(f5, f6)
LINK(f4, f5)
LINK(f3, f4)
LINK(f2, f3)
LINK(f1, f2)

int main(int argc, char **argv)
{
	turns = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 20000;
	for (;;)
		f1();
}
