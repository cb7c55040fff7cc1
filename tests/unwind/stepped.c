/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What steps.c runs: signals, longjmp, callbacks, tail calls, alloca, an aligned stack, the vDSO.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf back;
static volatile int sink;

NOINLINE static int deep(int n, int jump)
{
	volatile char room[200];

	room[n] = (char)n;
	if (n == 0 && jump)
		longjmp(back, 1);
	return n == 0 ? 0 : deep(n - 1, jump) + room[n];
}

NOINLINE static int tail(int n)
{
	return n == 0 ? sink : tail(n - 1);
}

NOINLINE static int aligned(int n)
{
	alignas(64) volatile char room[128];

	room[n] = 1;
	return deep(n, 0) + room[n];
}

NOINLINE static int with_alloca(int n)
{
	volatile char *room = __builtin_alloca((size_t)n * 16 + 1);

	room[n] = (char)deep(2, 0);
	return room[n];
}

static void on_signal(int signal)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sink += deep(3, 0);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int numbers[] = { 5, 3, 9, 1, 7, 2 };
	char text[64];

	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	if (!setjmp(back))
		deep(5, 1);
	sink += tail(4) + aligned(3) + with_alloca(4);
	qsort(numbers, 6, sizeof(*numbers), compare);
	snprintf(text, sizeof(text), "%g %d", 3.5, numbers[0]);
	free(strdup(text));
	kill(getpid(), SIGUSR1);
	return 0;
}
