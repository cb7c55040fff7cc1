/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes as many different call stacks as there are samples: each call goes one of eight ways, and a
 * hundred calls deep. One process per CPU:
 *
 *     deep-stacks N-PROCESSES SECONDS
 */
#include <err.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEPTH    110u
#define ROUNDS   20000u
#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;
static unsigned long random_state = 1;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static unsigned int next_way(void)
{
	random_state = random_state * 6364136223846793005ul + 1442695040888963407ul;
	return random_state >> 61;
}

static void descend(unsigned int depth);

#define WAY(i)                                           \
	static NOINLINE void way_##i(unsigned int depth) \
	{                                                \
		descend(depth);                          \
		sink += i;                               \
	}
WAY(0)
WAY(1)
WAY(2)
WAY(3)
WAY(4)
WAY(5)
WAY(6)
WAY(7)

static NOINLINE void descend(unsigned int depth)
{
	static void (*const ways[])(unsigned int) = { way_0, way_1, way_2, way_3,
						      way_4, way_5, way_6, way_7 };

	if (depth)
		ways[next_way()](depth - 1);
	else
		for (unsigned int i = 0; i < ROUNDS; i++)
			sink ^= i;
	sink++;
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[1]) : 0;
	double end;

	if (n < 1)
		errx(2, "usage: deep-stacks N-PROCESSES SECONDS");
	end = now() + strtod(argv[2], NULL);
	for (int i = 1; i < n; i++)
		if (fork() == 0)
			break;
	random_state = (unsigned long)getpid();
	while (now() < end)
		descend(DEPTH / 2);
	while (wait(NULL) > 0)
		;
	return 0;
}
