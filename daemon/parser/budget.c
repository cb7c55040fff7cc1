/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel counts the CPU time (ITIMER_PROF, in ticks, so the exact time is looked at once more)
 * and the time by the clock (alarm). Their handlers only send a message and end the process.
 */
#include "daemon/parser/budget.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/parser/message.h"
#include "common/util/clock.h"

#define WORDS_US  100000
#define HANG_S    60 /* by the clock, whatever the CPU budget */
#define STACK     (64u << 10)
#define SECOND_US 1000000

static int words_fd = -1;
static uint64_t given_us, accounted_us; /* CPU of the process */
static char signal_stack[STACK];

static enum message_reason reason_of(int signal)
{
	switch (signal) {
	case SIGPROF:
	case SIGXCPU:
		return REASON_CPU;
	case SIGALRM:
		return REASON_HANG;
	case SIGBUS:
		return REASON_SHRUNK;
	default:
		return REASON_CRASH;
	}
}

static void on_signal(int signal)
{
	uint32_t reason = reason_of(signal);
	const struct channel_message words = {
		.type = PARSER_LAST_WORDS,
		.bytes = &reason,
		.n_bytes = sizeof(reason),
	};

	channel_send(words_fd, &words, channel_deadline(WORDS_US));
	_exit(EXIT_FAILURE);
}

int budget_init(int fd)
{
	static const int signals[] = { SIGPROF, SIGXCPU, SIGALRM, SIGBUS,
				       SIGSEGV, SIGILL,  SIGFPE,  SIGABRT };
	const stack_t stack = { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	words_fd = fd;
	accounted_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	if (sigaltstack(&stack, NULL) < 0)
		return -errno;
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], &action, NULL) < 0)
			return -errno;
	/* the terminal's signals are for the client; the parser ends with its connection */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	return 0;
}

static struct itimerval in_us(uint64_t us)
{
	return (struct itimerval){ .it_value = { .tv_sec = (time_t)(us / SECOND_US),
						 .tv_usec = (suseconds_t)(us % SECOND_US) } };
}

void budget_start(uint64_t cpu_us)
{
	const struct itimerval timer = in_us(cpu_us ?: 1);

	given_us = cpu_us;
	setitimer(ITIMER_PROF, &timer, NULL);
	alarm(HANG_S);
}

void budget_exclude(void (*work)(void))
{
	uint64_t begun_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);

	work();
	accounted_us += clock_us(CLOCK_PROCESS_CPUTIME_ID) - begun_us;
}

uint64_t budget_stop(void)
{
	const struct itimerval none = in_us(0);
	uint64_t now_us, used_us;

	setitimer(ITIMER_PROF, &none, NULL);
	alarm(0);
	/* the kernel may know of short work only later, so all since the last time counts */
	now_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	used_us = now_us - accounted_us;
	accounted_us = now_us;
	if (used_us > given_us)
		on_signal(SIGPROF);
	return given_us - used_us;
}
