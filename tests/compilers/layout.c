/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program whose branches go the other way than a compiler guesses: rare work stands in its way,
 * and often called functions are small and far apart. What a profile is good for.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 4096

static uint32_t state = 1;

static uint32_t next(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

__attribute__((noinline)) uint64_t rare_work(uint64_t sum, uint32_t value)
{
	for (int i = 0; i < 3; i++)
		sum = sum * 31 + (value ^ (uint32_t)i);
	return sum;
}

__attribute__((noinline)) uint64_t step(uint64_t sum, uint32_t value)
{
	/* each of the first conditions holds once in many */
	if (value % 64 != 0) {
		if (value % 61 != 1)
			sum += value;
		else
			sum = rare_work(sum, value);
	} else {
		sum = rare_work(sum ^ value, value + 1);
	}
	if ((value & 0xff) == 7)
		sum = rare_work(sum, value);
	else if ((value & 0x7f) == 9)
		sum -= rare_work(value, value);
	else if ((value & 1) == 0 || (value & 6) != 0)
		sum ^= value << 1;
	return sum;
}

__attribute__((noinline)) uint64_t walk(const uint32_t *values)
{
	uint64_t sum = 0;

	for (int i = 0; i < N; i++) {
		switch (values[i] % 100) {
		case 3:
			sum = rare_work(sum, values[i]);
			break;
		case 5:
			sum -= values[i];
			break;
		case 17:
			sum = rare_work(sum, 17);
			break;
		default:
			sum = step(sum, values[i]);
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	static uint32_t values[N];
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	uint64_t sum = 0;

	for (int i = 0; i < N; i++)
		values[i] = next();
	for (int i = 0; i < rounds; i++) {
		values[i % N] = next(); /* so that no round is like the last */
		sum += walk(values);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
