/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that knows the shares of its functions and of their callers: known-stacks SECONDS. It
 * calls at random, so that nothing is in step with a sampling clock, measures each call by the
 * time on the CPU that it took, and prints the shares as JSON at the end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP     __asm__ volatile("") /* no tail call */

enum { N_PATHS = 5 };

static volatile uint64_t sink;
static uint64_t spent[N_PATHS], seed = 1;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static unsigned int next_random(unsigned int end)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)((seed >> 33) % end);
}

NOINLINE static void add(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sink += i;
}

NOINLINE static void mix(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sink ^= i;
}

NOINLINE static void turn(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sink = sink << 1 | sink >> 63;
}

NOINLINE static void first(unsigned int which, unsigned int n)
{
	(which == 0 ? add : which == 1 ? mix : turn)(n);
	KEEP;
}

NOINLINE static void second(unsigned int which, unsigned int n)
{
	(which == 0 ? add : mix)(n);
	KEEP;
}

/* Of ten calls: add() by first 4, by second 1; mix() by first 1, by second 3; turn() by first 1. */
static void step(void)
{
	static const unsigned int paths[10] = { 0, 0, 0, 0, 1, 2, 3, 3, 3, 4 };
	unsigned int path = paths[next_random(10)], n = 5000 + next_random(40000);
	uint64_t start = now_ns();

	if (path == 0 || path == 2 || path == 4)
		first(path / 2, n);
	else
		second(path / 2, n);
	spent[path] += now_ns() - start;
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 1));
	double all = 0;

	while (now_ns() < end)
		step();
	for (int i = 0; i < N_PATHS; i++)
		all += (double)spent[i];
	printf("{\"functions\": {\"add\": %.6f, \"mix\": %.6f, \"turn\": %.6f}, ",
	       (double)(spent[0] + spent[1]) / all, (double)(spent[2] + spent[3]) / all,
	       (double)spent[4] / all);
	printf("\"stacks\": {\"add<first\": %.6f, \"add<second\": %.6f, \"mix<first\": %.6f, "
	       "\"mix<second\": %.6f, \"turn<first\": %.6f}}\n",
	       (double)spent[0] / all, (double)spent[1] / all, (double)spent[2] / all,
	       (double)spent[3] / all, (double)spent[4] / all);
	return 0;
}
