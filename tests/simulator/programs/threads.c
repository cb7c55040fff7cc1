/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* threads N: four threads, each N times down a recursion of 24 to 40 calls through two functions by
 * turns. */
#include <pthread.h>

#include "work.h"

#define N_THREADS 4

struct job {
	pthread_t thread;
	unsigned n;
	uint32_t state;
};

static uint32_t even(unsigned depth, uint32_t state);

static _noinline_ uint32_t odd(unsigned depth, uint32_t state)
{
	state = work(state, 4);
	if (depth > 1)
		state += even(depth - 1, state);
	return work(state, 2 + state % 6);
}

static _noinline_ uint32_t even(unsigned depth, uint32_t state)
{
	state = work(state, 1 + state % 8);
	if (depth > 1)
		state += odd(depth - 1, state);
	return work(state, 3);
}

static void *run(void *arg)
{
	struct job *job = arg;
	unsigned i;

	for (i = 0; i < job->n; i++)
		job->state = even(24 + i % 17, job->state);
	return NULL;
}

int main(int argc, char **argv)
{
	struct job jobs[N_THREADS];
	unsigned i, n = size_argument(argc, argv, 100);
	uint32_t sum = 0;

	for (i = 0; i < N_THREADS; i++) {
		jobs[i] = (struct job){ .n = n, .state = i + 1 };
		if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]))
			return 1;
	}
	for (i = 0; i < N_THREADS; i++) {
		pthread_join(jobs[i].thread, NULL);
		sum += jobs[i].state;
	}
	return sum == 0;
}
