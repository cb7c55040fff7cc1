/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ticks: the samples that the BPF programs count by process and address, where not all are captured
 * with their stacks. The table of each CPU has two halves: the programs use the one, until a time
 * that was planned, and then the other, so that ticks belong to windows exactly.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/sample.h"
#include "common/util/macro.h"

#define TICKS_MAX_HOT (BPF_MAX_HOT - 1u)

struct ticks;

/* Samples of an address of a process; some address may come several times. */
struct tick {
	int32_t pid;
	uint32_t space; /* as in the samples of the process, and in what introduces its ticks */
	uint64_t ip;
	uint64_t n;
	uint64_t weight; /* the sum of their periods */
};

/* Maps @fd, the tables of @n_cpus CPUs. 0 or -errno. */
int ticks_new(struct ticks **ret, int fd, uint32_t n_cpus);
struct ticks *ticks_free(struct ticks *ticks);
DEFINE_CLEANUP(struct ticks *, ticks_free);

/* Ticks from @ns (CLOCK_MONOTONIC) on are apart from those that were counted since the last
 * ticks_take(). */
void ticks_plan(struct ticks *ticks, uint64_t ns);

/*
 * Hands over the ticks until the planned time, which has come, or waits a millisecond for programs
 * that run. Ends at the first negative answer of @handler, and returns it.
 */
typedef int (*tick_handler)(const struct tick *tick, void *userdata);
int ticks_take(struct ticks *ticks, tick_handler handler, void *userdata);

/* Entries of the half in use, of the CPU with the most. */
uint64_t ticks_count_used(const struct ticks *ticks);
/* Whether the half in use should be taken before the planned time, lest it fills up. */
bool ticks_are_many(const struct ticks *ticks);

struct ticks_hot {
	size_t n, n_cold_users;
	struct bpf_hot_range ranges[TICKS_MAX_HOT]; /* in the order of pid and start */
	/* Whose processes without any range are cold; those of others are hot. */
	uint32_t cold_users[BPF_MAX_COLD_USERS];
};

/* From now on samples are hot as @hot says. At first all are. */
void ticks_set_hot(struct ticks *ticks, const struct ticks_hot *hot);
