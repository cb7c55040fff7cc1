/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's stream of samples as text, for who wants to look at each of them: samples the
 * machine while a command runs, and prints what the sampler hands over, a line a sample:
 *
 *   cpu=1 time=NS pid=3 tid=3 ip=0x.. calls=0 zero=0 wrong=0 hw_idx=7 rows=0xFROM/0xTO/0xFLAGS,...
 *
 * "zero" and "wrong" are rows that were left out; hw_idx is "-" where there is none.
 *
 *   dump-samples MODE COMMAND [ARGUMENT...]
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/sampler/sampler.h"

#define RING_PAGES 2048 /* nothing may be lost here */

static int print_sample(const struct event *event, void *userdata)
{
	const struct sample *s = &event->sample;

	if (event->kind != EVENT_SAMPLE)
		return 0;
	printf("cpu=%" PRIu32 " time=%" PRIu64 " pid=%" PRId32 " tid=%" PRId32 " ip=0x%" PRIx64
	       " calls=%d zero=%u wrong=%u hw_idx=",
	       event->cpu, event->time_ns, event->pid, event->tid, s->ip, s->call_stack, s->n_zero,
	       s->n_wrong_path);
	if (s->has_hw_idx)
		printf("%" PRIu64, s->hw_idx);
	else
		putchar('-');
	fputs(" rows=", stdout);
	for (uint32_t i = 0; i < s->n_rows; i++)
		printf("%s0x%" PRIx64 "/0x%" PRIx64 "/0x%" PRIx64, i > 0 ? "," : "",
		       s->rows[i].from, s->rows[i].to, s->rows[i].flags);
	putchar('\n');
	return 0;
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	execvp(command[0], command);
	fprintf(stderr, "dump-samples: %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

/* Until the command has ended: its status. Negative: -errno. */
static int follow(struct sampler *sampler, char **command)
{
	int r = sampler_drain(sampler, print_sample, NULL); /* sampling begins */
	int status = 0;
	pid_t pid;

	if (r < 0)
		return r;
	fflush(stdout);
	pid = start(command);
	while (pid > 0 && r >= 0 && waitpid(pid, &status, WNOHANG) == 0) {
		usleep(100000);
		r = sampler_drain(sampler, print_sample, NULL);
	}
	if (r >= 0)
		r = sampler_finish(sampler, print_sample, NULL);
	if (r < 0)
		return r;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

static bool is_complete(const struct sampler *sampler)
{
	struct sampler_counts counts;

	sampler_get_counts(sampler, &counts);
	if (counts.ring_full == 0 && counts.no_ring == 0 && counts.undecodable == 0)
		return true;
	fprintf(stderr,
		"dump-samples: lost: %" PRIu64 " ring full, %" PRIu64 " no ring, %" PRIu64
		" undecodable\n",
		counts.ring_full, counts.no_ring, counts.undecodable);
	return false;
}

int main(int argc, char **argv)
{
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	_cleanup_(sampler_freep) struct sampler *sampler = NULL;
	struct sampler_settings settings = {
		.frequency = 499,
		.kernel = true,
		.ring_pages = RING_PAGES,
	};
	struct fault fault = { "" };
	int r = argc > 2 ? sampler_mode_parse(argv[1]) : -EINVAL;

	if (r >= 0) {
		settings.mode = (enum sampler_mode)r;
		r = helpers_new(&helpers, NULL);
	}
	if (r >= 0)
		r = sampler_open(&sampler, &settings, helpers, &fault);
	if (r >= 0)
		r = follow(sampler, argv + 2);
	if (r < 0)
		fprintf(stderr, "dump-samples: %s\n", fault.text[0] ? fault.text : strerror(-r));
	if (r != 0)
		return EXIT_FAILURE;
	return is_complete(sampler) ? EXIT_SUCCESS : EXIT_FAILURE;
}
