/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odds N: branches of known shares, as in the program of Zijlstra's mail of 2016 on perf annotate.
 * A linear feedback shift register of maximal length gives bits that are as good as independent;
 * what is done in each round hangs on them: if one is 0 (1 of 2), if three are (1 of 8), if none of
 * four is (15 of 16). Each case calls nothing and does its own sum, so that the compiler keeps the
 * branches.
 */
#include "work.h"

static unsigned long sums[6];

/* Taps 64, 63, 61, 60: the period is 2^64 - 1. */
static inline unsigned long shift(unsigned long x)
{
	return x >> 1 ^ (-(x & 1) & 0xd800000000000000ul);
}

static _noinline_ unsigned long odds(unsigned long n)
{
	unsigned long x = 0x9e3779b97f4a7c15ul;

	for (unsigned long i = 0; i < n; i++) {
		/* eight bits that no round before has looked at */
		for (int k = 0; k < 8; k++)
			x = shift(x);
		if (x & 1)
			((volatile unsigned long *)sums)[0]++;
		else
			((volatile unsigned long *)sums)[1] += 3;
		if ((x & 14) == 0)
			((volatile unsigned long *)sums)[2]++;
		else
			((volatile unsigned long *)sums)[3] += 5;
		if (x & 240)
			((volatile unsigned long *)sums)[4]++;
		else
			((volatile unsigned long *)sums)[5] += 7;
	}
	return x;
}

int main(int argc, char **argv)
{
	return (int)(odds(size_argument(argc, argv, 1000)) >> 63) * 0;
}
