/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches of a made-up host, as branchd-ship would put them into its spool: synthetic windows of
 * 10 s, each @WINDOWS of them one sum and one batch.
 *
 *     fleet-batches SPOOL HOST START FIRST WINDOWS BATCHES
 *
 * The windows follow each other from START (seconds since 1970) on, those of synthetic/window.h
 * from number FIRST. Prints for each batch the start and what its windows count: samples, taken,
 * runs. These are added up before anything is pruned.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "ship/spool.h"
#include "tests/synthetic/window.h"

#define WINDOW_US 10000000
#define N_AT_ONCE 60u

struct fleet {
	struct spool *spool;
	struct batch_sender sender;
	uint64_t start_us;
	uint32_t first, n_windows;
};

static void check(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "fleet-batches: %s: %s\n", what, strerror(-r));
	exit(1);
}

/* The sum so far and up to N_AT_ONCE further windows. */
static struct profile *add_windows(struct profile *sum, uint32_t first, uint32_t n)
{
	struct profile *parts[N_AT_ONCE + 1], *ret;
	size_t n_parts = 0;

	if (sum)
		parts[n_parts++] = sum;
	for (uint32_t i = 0; i < n; i++)
		parts[n_parts++] = synthetic_profile(&synthetic_busy, first + i);
	check(profile_merge(&ret, (const struct profile *const *)parts, n_parts), "merge");
	for (size_t i = 0; i < n_parts; i++)
		profile_free(parts[i]);
	return ret;
}

static struct profile *sum_windows(const struct fleet *fleet, uint32_t first)
{
	struct profile *sum = NULL;

	for (uint32_t i = 0; i < fleet->n_windows; i += N_AT_ONCE)
		sum = add_windows(sum, first + i, MIN(N_AT_ONCE, fleet->n_windows - i));
	return sum;
}

static void print_truth(const struct profile *profile, uint64_t start_us)
{
	uint64_t samples = 0, taken = 0, runs = 0;

	for (size_t i = 0; i < profile->n_stacks; i++)
		samples += profile->stacks[i].samples;
	for (size_t i = 0; i < profile->n_branches; i++)
		taken += profile->branches[i].taken;
	for (size_t i = 0; i < profile->n_blocks; i++)
		runs += profile->blocks[i].runs;
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", start_us, samples, taken, runs);
}

static void make_batch(const struct fleet *fleet, uint32_t number)
{
	uint64_t length_us = (uint64_t)fleet->n_windows * WINDOW_US;
	int64_t id = 1 + (int64_t)number * fleet->n_windows, last = id + fleet->n_windows - 1;
	struct window_info window = { .id = id,
				      .start_us = fleet->start_us + number * length_us,
				      .length_us = length_us,
				      .mode = "stack+branch" };
	const struct spool_mark mark = { last, window.start_us + length_us - WINDOW_US, WINDOW_US };
	_cleanup_(profile_freep) struct profile *profile =
		sum_windows(fleet, fleet->first + number * fleet->n_windows);
	_cleanup_(batch_freep) struct batch *batch = NULL;
	struct fault fault = {};

	print_truth(profile, window.start_us);
	window.samples = profile->counters.samples;
	check(batch_new(&batch), "batch");
	check(batch_add(batch, &fleet->sender, &window, last, profile), "batch");
	batch->n_windows = fleet->n_windows;
	check(batch_finish(batch), "batch");
	check(spool_put(fleet->spool, batch, &mark, &fault), fault.text);
}

int main(int argc, char **argv)
{
	struct fleet fleet = {};
	struct fault fault = {};

	if (argc != 7) {
		fprintf(stderr, "usage: fleet-batches SPOOL HOST START FIRST WINDOWS BATCHES\n");
		return 2;
	}
	check(spool_open(&fleet.spool, argv[1], UINT64_C(1) << 32, &fault), fault.text);
	check(names_seen_new(&fleet.sender.seen), "names");
	fleet.sender.host = argv[2];
	fleet.start_us = strtoull(argv[3], NULL, 10) * 1000000;
	fleet.first = (uint32_t)strtoul(argv[4], NULL, 10);
	fleet.n_windows = (uint32_t)strtoul(argv[5], NULL, 10);
	for (uint32_t i = 0; i < (uint32_t)atoi(argv[6]); i++)
		make_batch(&fleet, i);
	names_seen_free(fleet.sender.seen);
	spool_free(fleet.spool);
	return 0;
}
