/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/periodic/wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

/* The first descriptor is that of the signals, the others are processes that run. */
struct wait {
	struct pollfd *fds;
	size_t n, cap;
	bool for_processes, ended;
	sigset_t before; /* the signals that were blocked */
};

static int add(struct wait *wait, int fd)
{
	if (ARRAY_RESERVE(&wait->fds, &wait->cap, wait->n + 1) < 0) {
		close(fd);
		return -ENOMEM;
	}
	wait->fds[wait->n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	return 0;
}

static int add_process(struct wait *wait, pid_t pid, struct fault *fault)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 && errno == ESRCH)
		return fault_set(fault, -ESRCH, "no process has the number %d: see ps -e", pid);
	if (fd < 0)
		return fault_set(fault, -errno, "cannot wait for process %d: %s", pid,
				 strerror(errno));
	return add(wait, fd) < 0 ? fault_set(fault, -ENOMEM, "out of memory") : 0;
}

static int add_processes(struct wait *wait, const char *pids, struct fault *fault)
{
	int r = 0;

	for (const char *at = pids; r >= 0 && at; at = strchr(at, ',')) {
		at += *at == ',';
		r = add_process(wait, (pid_t)strtol(at, NULL, 10), fault);
	}
	wait->for_processes = pids != NULL;
	return r;
}

struct wait *wait_free(struct wait *wait)
{
	if (!wait)
		return NULL;
	for (size_t i = 0; i < wait->n; i++)
		close(wait->fds[i].fd);
	free(wait->fds);
	pthread_sigmask(SIG_SETMASK, &wait->before, NULL);
	free(wait);
	return NULL;
}

DEFINE_CLEANUP(struct wait *, wait_free);

int wait_new(struct wait **ret, const char *pids, struct fault *fault)
{
	_cleanup_(wait_freep) struct wait *wait = calloc(1, sizeof(*wait));
	sigset_t signals;
	int fd, r;

	if (!wait)
		return fault_set(fault, -ENOMEM, "out of memory");
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, &wait->before);
	fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (fd < 0 || add(wait, fd) < 0)
		return fault_set(fault, -ENOMEM, "cannot wait for signals: %s", strerror(errno));
	r = add_processes(wait, pids, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(wait);
	return 0;
}

/* Processes that have ended are no longer asked. A signal that was read has done its work. */
static void note_ends(struct wait *wait)
{
	struct signalfd_siginfo signal;
	size_t n = 1;

	if (wait->fds[0].revents && read(wait->fds[0].fd, &signal, sizeof(signal)) > 0)
		wait->ended = true;

	for (size_t i = 1; i < wait->n; i++)
		if (wait->fds[i].revents)
			close(wait->fds[i].fd);
		else
			wait->fds[n++] = wait->fds[i];
	wait->n = n;
	wait->ended |= wait->for_processes && n == 1;
}

bool wait_until(struct wait *wait, uint64_t until_us)
{
	while (!wait->ended) {
		uint64_t now_us = clock_us(CLOCK_MONOTONIC);
		uint64_t us = until_us - now_us;
		const struct timespec left = { (time_t)(us / 1000000),
					       (long)(us % 1000000) * 1000 };

		if (now_us >= until_us)
			return false;
		if (ppoll(wait->fds, wait->n, &left, NULL) > 0)
			note_ends(wait);
	}
	return true;
}
