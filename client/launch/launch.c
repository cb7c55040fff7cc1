/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The child waits for a byte before it executes the command, so that its events are open by then.
 */
#include "client/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define MIN_PAUSES 5 /* a report takes at most this part of the time */
#define N_OWN_FDS  2 /* signals, the end of the command */

struct start {
	int go[2];    /* to the child: a byte, or nothing if it must not go on */
	int error[2]; /* from it: errno, or nothing if the command runs */
	sigset_t mask;
};

static _Noreturn void execute(struct start *start, char *const *argv)
{
	char byte;
	int error;

	close(start->go[1]);
	sigprocmask(SIG_SETMASK, &start->mask, NULL);
	if (read(start->go[0], &byte, 1) == 1) {
		execvp(argv[0], argv);
		error = errno;
		if (write(start->error[1], &error, sizeof(error)) < 0)
			_exit(126);
	}
	_exit(127);
}

/* Lets the command begin. The error of its execution, or 0. */
static int let_go(struct start *start)
{
	int error = 0;

	if (write(start->go[1], "", 1) != 1)
		return -errno;
	close(start->error[1]);
	start->error[1] = -1;
	return read(start->error[0], &error, sizeof(error)) == sizeof(error) ? -error : 0;
}

static void close_pipe(int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

static int follow_family(struct launch *launch, char *const *argv,
			 const struct family_moment *forked, struct fault *fault)
{
	int r = family_new(&launch->family, launch->pid, forked);

	if (r < 0)
		return fault_set(fault, r, "cannot follow the processes of %s: %s", argv[0],
				 strerror(-r));
	return 0;
}

static int start_command(struct launch *launch, struct start *start, char *const *argv,
			 bool by_daemon, struct fault *fault)
{
	struct family_moment forked;
	int r;

	if (pipe2(start->go, O_CLOEXEC) < 0 || pipe2(start->error, O_CLOEXEC) < 0)
		return fault_set(fault, -errno, "%s: %s", argv[0], strerror(errno));
	launch->began_us = clock_us(CLOCK_REALTIME);
	forked.earliest_ns = clock_ns(CLOCK_MONOTONIC);
	launch->pid = fork();
	if (launch->pid < 0)
		return fault_set(fault, -errno, "%s: %s", argv[0], strerror(errno));
	if (launch->pid == 0)
		execute(start, argv);
	forked.latest_ns = clock_ns(CLOCK_MONOTONIC);
	if (!by_daemon)
		r = recorder_new(&launch->recorder, launch->pid, fault);
	else
		r = follow_family(launch, argv, &forked, fault);
	if (r < 0)
		return r;
	launch->refused = r = let_go(start);
	return r < 0 ? fault_set(fault, r, "cannot run %s: %s", argv[0], strerror(-r)) : 0;
}

static int take_forks(struct launch *launch, struct fault *fault)
{
	return family_update(launch->family) < 0 ? fault_set(fault, -ENOMEM, "out of memory") : 0;
}

/* A terminal has sent it to the command as well, unless that left our process group. */
static void forward(const struct launch *launch, const struct signalfd_siginfo *signal)
{
	if (signal->ssi_code == SI_KERNEL && getpgid(launch->pid) == getpgrp())
		return;
	kill(launch->pid, (int)signal->ssi_signo);
	kill(launch->pid, SIGCONT); /* it may be stopped */
}

/* 1 when the observation is to end. */
static int take_events(struct launch *launch, struct pollfd *fds, struct fault *fault)
{
	struct signalfd_siginfo signal;
	int r;

	if (fds[0].revents && read(fds[0].fd, &signal, sizeof(signal)) == sizeof(signal)) {
		forward(launch, &signal);
		return 1;
	}
	if (fds[1].revents)
		return 1;
	if (launch->family)
		return take_forks(launch, fault);
	r = recorder_drain(launch->recorder, fault);
	launch->limited = r == -EFBIG;
	return launch->limited ? 1 : r;
}

/* The time until the next report, and at most until the family is to be looked at. */
static int wait_ms(const struct launch *launch, uint64_t report_us)
{
	int family_ms = launch->family ? family_wait_ms(launch->family) : -1;
	uint64_t now_us = clock_us(CLOCK_MONOTONIC), ms;

	if (launch->reports.every_us == 0)
		return family_ms;
	ms = report_us > now_us ? (report_us - now_us + 999) / 1000 : 0;
	return family_ms < 0 || ms < (uint64_t)family_ms ? (int)MIN(ms, (uint64_t)INT_MAX) :
							   family_ms;
}

/* Reports if it is time, and sets when it is next. */
static int report(struct launch *launch, uint64_t *next_us, struct fault *fault)
{
	const struct launch_reports *reports = &launch->reports;
	uint64_t began_us = clock_us(CLOCK_MONOTONIC), took_us;
	int r;

	if (reports->every_us == 0 || began_us < *next_us)
		return 0;
	r = reports->write(launch, reports->userdata, fault);
	took_us = clock_us(CLOCK_MONOTONIC) - began_us;
	*next_us = MAX(*next_us + reports->every_us, began_us + took_us * MIN_PAUSES);
	return r;
}

static int follow(struct launch *launch, int signals, int ended, struct fault *fault)
{
	uint64_t report_us = clock_us(CLOCK_MONOTONIC) + launch->reports.every_us;
	const struct rings *rings =
		launch->family ? family_rings(launch->family) : recorder_rings(launch->recorder);
	size_t n = rings->n + N_OWN_FDS;
	_cleanup_free_ struct pollfd *fds = calloc(n, sizeof(*fds));
	int r = 0;

	if (!fds)
		return fault_set(fault, -ENOMEM, "out of memory");
	fds[0] = (struct pollfd){ signals, POLLIN, 0 };
	fds[1] = (struct pollfd){ ended, POLLIN, 0 };
	for (size_t i = N_OWN_FDS; i < n; i++)
		fds[i] = (struct pollfd){ rings->rows[i - N_OWN_FDS].fd, POLLIN, 0 };
	while (r == 0) {
		if (poll(fds, n, wait_ms(launch, report_us)) < 0 && errno != EINTR)
			return fault_set(fault, -errno, "poll: %s", strerror(errno));
		r = take_events(launch, fds, fault);
		if (r == 0)
			r = report(launch, &report_us, fault);
		for (size_t i = N_OWN_FDS; i < n; i++)
			if (fds[i].revents & POLLHUP)
				fds[i].fd = -1; /* its task has ended */
	}
	return r;
}

static uint64_t time_us(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

/* What it has used of the CPU, whether it has ended or goes on. */
static void take_usage(struct launch *launch)
{
	struct rusage usage;
	clockid_t clock;

	launch->ended = wait4(launch->pid, &launch->status, WNOHANG, &usage) == launch->pid;
	if (launch->ended) {
		launch->user_us = time_us(&usage.ru_utime);
		launch->cpu_us = launch->user_us + time_us(&usage.ru_stime);
	} else if (clock_getcpuclockid(launch->pid, &clock) == 0) {
		launch->cpu_us = clock_us(clock);
	}
}

static int observe(struct launch *launch, int signals, char *const *argv, struct fault *fault)
{
	int ended, r;

	ended = (int)syscall(SYS_pidfd_open, launch->pid, 0);
	if (ended < 0)
		return fault_set(fault, -errno, "%s: %s", argv[0], strerror(errno));
	r = follow(launch, signals, ended, fault);
	close(ended);
	if (r >= 0 && launch->family)
		r = take_forks(launch, fault);
	take_usage(launch);
	return r;
}

/* Those that end a command, but for what whoever started branchctl wants ignored. */
static void take_signals(sigset_t *ret)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;

	sigemptyset(ret);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(ret, signals[i]);
}

int launch_run(struct launch *launch, char *const *argv, bool by_daemon, struct fault *fault)
{
	struct start start = { .go = { -1, -1 }, .error = { -1, -1 } };
	sigset_t ours;
	int signals, r;

	take_signals(&ours);
	sigprocmask(SIG_BLOCK, &ours, &start.mask);
	signals = signalfd(-1, &ours, SFD_CLOEXEC);
	r = signals < 0 ? fault_set(fault, -errno, "signalfd: %s", strerror(errno)) :
			  start_command(launch, &start, argv, by_daemon, fault);
	if (r >= 0)
		r = observe(launch, signals, argv, fault);
	close_pipe(start.go);
	close_pipe(start.error);
	if (signals >= 0)
		close(signals);
	sigprocmask(SIG_SETMASK, &start.mask, NULL);
	return r < 0 ? r : 0;
}

int launch_wait(struct launch *launch)
{
	while (launch->pid > 0 && !launch->ended)
		launch->ended = waitpid(launch->pid, &launch->status, 0) >= 0 || errno != EINTR;
	return WIFSIGNALED(launch->status) ? 128 + WTERMSIG(launch->status) :
					     WEXITSTATUS(launch->status);
}

void launch_done(struct launch *launch)
{
	launch_wait(launch);
	launch->recorder = recorder_free(launch->recorder);
	launch->family = family_free(launch->family);
}
