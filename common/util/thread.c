/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/thread.h"

#include <signal.h>

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
