/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * changed N: N turns through functions of which a compiler makes other code at -O3 than at -O2,
 * loops that it unrolls or writes in vectors, and others that stay as they are.
 */
#include "work.h"

#define N_NUMBERS 512

static int numbers[N_NUMBERS], others[N_NUMBERS];
static volatile int sink;

static _noinline_ void fill(unsigned seed)
{
	unsigned state = seed;

	for (int i = 0; i < N_NUMBERS; i++) {
		state = state * 1103515245 + 12345;
		numbers[i] = (int)(state >> 16);
	}
}

static _noinline_ int sum_of_some(void)
{
	int sum = 0;

	for (int i = 0; i < N_NUMBERS; i++)
		if (numbers[i] & 1)
			sum += numbers[i] * 3;
	return sum;
}

static _noinline_ void mix(int n)
{
	for (int i = 0; i < n; i++)
		others[i] = others[i] * 5 + numbers[i] / 3;
}

static _noinline_ int search(int wanted)
{
	int low = 0, high = N_NUMBERS;

	while (low < high) {
		int middle = (low + high) / 2;

		if (others[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static _noinline_ int recurse(int n)
{
	return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}

static _noinline_ int choose(int kind)
{
	switch (kind % 5) {
	case 0:
		return search(100);
	case 1:
		return recurse(8);
	case 2:
		return sum_of_some();
	case 3:
		mix(N_NUMBERS);
		return others[7];
	default:
		fill((unsigned)kind);
		return numbers[3];
	}
}

int main(int argc, char **argv)
{
	unsigned n = size_argument(argc, argv, 100);

	for (unsigned i = 0; i < n; i++)
		sink += choose((int)i);
	return 0;
}
