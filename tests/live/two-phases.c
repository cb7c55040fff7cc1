/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program whose shares are known by construction: red() and blue() take turns on the CPU clock,
 * red() with half of it in the first phase and three quarters in the second. So red() has got
 * dearer, and over both phases has 62.5 % of the time.
 *
 *     two-phases [SECONDS-OF-A-PHASE]
 *     two-phases calls CALLS-OF-A-PHASE SECONDS-OF-A-PHASE
 *
 * By calls instead of the clock where that runs on while the CPU is somewhere else: in an emulator.
 * A phase then lasts at least this number of calls and of seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS  10000000u /* of both together, in the mean */
#define ROUNDS    50000     /* of each call: looking at the clock costs next to nothing beside */
#define NOINLINE  __attribute__((noinline, noclone))
#define SECOND_NS 1000000000ull

static volatile unsigned long sink;

static unsigned long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (unsigned long long)t.tv_sec * SECOND_NS + (unsigned long long)t.tv_nsec;
}

NOINLINE static void red(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++)
		sink += i;
}

NOINLINE static void blue(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++)
		sink ^= i;
}

/* Calls @work until @ns of CPU time are gone; how many really were. */
static unsigned long long spend(void (*work)(void), unsigned long long ns)
{
	unsigned long long start = cpu_ns(), spent;

	do {
		work();
		spent = cpu_ns() - start;
	} while (spent < ns);
	return spent;
}

static unsigned long long next_random(unsigned int end)
{
	static unsigned int random = 1;

	random = random * 1103515245u + 12345u; /* as C11 has rand() */
	return (unsigned long long)end * (random >> 16 & 0xfff) / 0x1000;
}

/* No two alike: or they and the samples, taken by the same clock, would keep step. */
static unsigned long long next_slice(void)
{
	return SLICE_NS / 2 + next_random(SLICE_NS);
}

static void report(const char *name, unsigned long long red_part, unsigned long long blue_part)
{
	double all = (double)(red_part + blue_part);

	printf("%s phase: red %.1f %%, blue %.1f %%\n", name, 100.0 * (double)red_part / all,
	       100.0 * (double)blue_part / all);
	fflush(stdout);
}

static void phase_of_calls(const char *name, unsigned int red_percent, unsigned long long least,
			   time_t seconds)
{
	unsigned long long n = 0, n_red = 0;
	struct timespec t;
	time_t end;

	clock_gettime(CLOCK_REALTIME, &t);
	for (end = t.tv_sec + seconds; n < least || t.tv_sec < end; n++) {
		if (next_random(100) < red_percent) {
			red();
			n_red++;
		} else {
			blue();
		}
		clock_gettime(CLOCK_REALTIME, &t);
	}
	printf("until %lld.%09ld, ", (long long)t.tv_sec, t.tv_nsec);
	report(name, n_red, n - n_red);
}

static void phase(const char *name, unsigned int red_percent, unsigned long long ns)
{
	unsigned long long start = cpu_ns(), spent_red = 0, spent_blue = 0;

	while (cpu_ns() - start < ns) {
		unsigned long long slice = next_slice();

		spent_red += spend(red, slice * red_percent / 100);
		spent_blue += spend(blue, slice * (100 - red_percent) / 100);
	}
	report(name, spent_red, spent_blue);
}

int main(int argc, char **argv)
{
	unsigned long long ns, n;

	if (argc == 4 && strcmp(argv[1], "calls") == 0) {
		time_t seconds = strtol(argv[3], NULL, 10);

		n = strtoull(argv[2], NULL, 10);
		phase_of_calls("first", 50, n, seconds);
		phase_of_calls("second", 75, n, seconds);
		return 0;
	}
	ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 5) * SECOND_NS;

	phase("first", 50, ns);
	phase("second", 75, ns);
	return 0;
}
