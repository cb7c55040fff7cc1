/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/thread.h"

#include <signal.h>
#include <time.h>

#include "common/util/clock.h"

int thread_start(pthread_t *ret, void *(*run)(void *userdata), void *userdata)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(ret, NULL, run, userdata);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

uint64_t thread_cpu_ns(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) == 0 ? clock_ns(clock) : 0;
}
