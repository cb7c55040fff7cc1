/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program of 32 bits, of four functions that each have one caller. */
#define NOINLINE __attribute__((noinline, noclone, noipa))

static volatile unsigned int sum;

NOINLINE static void innermost(unsigned int n)
{
	while (n-- > 0)
		sum += n;
}

NOINLINE static void middle(unsigned int n)
{
	innermost(n);
	sum++; /* not a jump */
}

NOINLINE static void outermost(unsigned int n)
{
	middle(n);
	sum++;
}

void _start(void);

void _start(void)
{
	for (;;)
		outermost(100000);
}
