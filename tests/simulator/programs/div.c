/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * div N: N turns of a loop that computes a flag by a random remainder and divides in one of two
 * ways, after the example that perf's own notes on branch records use.
 */
#include "work.h"

static volatile int flag;
static volatile unsigned result;

static _noinline_ void compute_flag(void)
{
	flag = rand() % 2;
}

int main(int argc, char **argv)
{
	unsigned i, n = size_argument(argc, argv, 8000);
	volatile double x = 1212121212, y = 121212;

	srand(1);
	for (i = 0; i < n; i++) {
		compute_flag();
		if (flag)
			x += x / y + y / x;
		else
			result += i / 7;
	}
	return 0;
}
