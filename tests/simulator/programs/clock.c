/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock N: functions that the kernel's vDSO has. */
#include <sched.h>
#include <sys/time.h>
#include <time.h>

#include "sampled.h"
#include "work.h"

static _noinline_ uint32_t ask(void)
{
	struct timespec now;
	struct timeval then;
	uint32_t n = (uint32_t)time(NULL);

	clock_gettime(CLOCK_MONOTONIC, &now);
	n += (uint32_t)now.tv_nsec;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	clock_getres(CLOCK_REALTIME, &now);
	gettimeofday(&then, NULL);
	return n + (uint32_t)then.tv_usec + (uint32_t)sched_getcpu();
}

int main(int argc, char **argv)
{
	unsigned n = size_argument(argc, argv, 3);
	uint32_t state = ask(); /* binds the functions of libc */

	sample_as("sampled");
	for (unsigned i = 0; i < n; i++)
		state += ask();
	sample_no_more();
	return state == 0;
}
