/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/ticks.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/util/clock.h"

#define RUN_NS 1000000 /* a program that began before the planned time has ended by then */

struct ticks {
	struct bpf_ticks *cpus;
	size_t n_bytes;
	uint32_t n_cpus;
	uint64_t half;      /* in use until the planned time */
	uint64_t turned_ns; /* when the other one came into use, at the latest; may be ahead */
	uint64_t hot_half;  /* of the ranges, in use */
	uint64_t hot_ns;    /* since when */
};

int ticks_new(struct ticks **ret, int fd, uint32_t n_cpus)
{
	_cleanup_(ticks_freep) struct ticks *t = calloc(1, sizeof(*t));
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *cpus;

	if (!t)
		return -ENOMEM;
	t->n_cpus = n_cpus;
	t->n_bytes = (n_cpus * sizeof(*t->cpus) + page - 1) & ~(page - 1);
	cpus = mmap(NULL, t->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (cpus == MAP_FAILED)
		return -errno;
	t->cpus = cpus;
	ticks_plan(t, UINT64_MAX);
	*ret = TAKE_PTR(t);
	return 0;
}

struct ticks *ticks_free(struct ticks *ticks)
{
	if (!ticks)
		return NULL;
	if (ticks->cpus)
		munmap(ticks->cpus, ticks->n_bytes);
	free(ticks);
	return NULL;
}

void ticks_plan(struct ticks *ticks, uint64_t ns)
{
	uint64_t turn = (ns & ~UINT64_C(1)) | !ticks->half;

	for (uint32_t i = 0; i < ticks->n_cpus; i++)
		__atomic_store_n(&ticks->cpus[i].turn, turn, __ATOMIC_RELAXED);
	ticks->turned_ns = MAX(ns, clock_ns(CLOCK_MONOTONIC));
}

static int take_half(struct bpf_ticks *cpu, uint64_t half, tick_handler handler, void *userdata)
{
	struct bpf_tick *from = &cpu->ticks[half * BPF_MAX_TICKS];
	int r = 0;

	if (__atomic_load_n(&cpu->n_used[half], __ATOMIC_ACQUIRE) == 0)
		return 0;
	for (size_t i = 0; i < BPF_MAX_TICKS && r >= 0; i++) {
		const struct tick tick = {
			.pid = (int32_t)from[i].pid,
			.space = from[i].space,
			.ip = from[i].ip,
			.n = from[i].n,
			.weight = from[i].weight,
		};

		if (tick.n > 0 && tick.ip != 0)
			r = handler(&tick, userdata);
		from[i].n = 0;
	}
	__atomic_store_n(&cpu->n_used[half], 0, __ATOMIC_RELEASE);
	return r;
}

/* Those that read what was in use until @ns. */
static void wait_for_programs(uint64_t ns)
{
	const struct timespec run = { .tv_nsec = RUN_NS };

	if (clock_ns(CLOCK_MONOTONIC) < ns + RUN_NS)
		nanosleep(&run, NULL);
}

int ticks_take(struct ticks *ticks, tick_handler handler, void *userdata)
{
	int r = 0;

	wait_for_programs(ticks->turned_ns);
	for (uint32_t i = 0; i < ticks->n_cpus && r >= 0; i++)
		r = take_half(&ticks->cpus[i], ticks->half, handler, userdata);
	ticks->half = !ticks->half;
	return r;
}

uint64_t ticks_count_used(const struct ticks *ticks)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < ticks->n_cpus; i++) {
		uint64_t n = __atomic_load_n(&ticks->cpus[i].n_used[ticks->half], __ATOMIC_RELAXED);

		most = MAX(most, n);
	}
	return most;
}

bool ticks_are_many(const struct ticks *ticks)
{
	return ticks_count_used(ticks) > BPF_MAX_TICKS / 2;
}

void ticks_set_hot(struct ticks *ticks, const struct ticks_hot *hot)
{
	uint64_t half = !ticks->hot_half;
	uint32_t users[BPF_MAX_COLD_USERS] = { 0 };

	assert(hot->n <= TICKS_MAX_HOT && hot->n_cold_users <= BPF_MAX_COLD_USERS);
	for (size_t i = 0; i < hot->n_cold_users; i++)
		users[i] = hot->cold_users[i] + 1;
	wait_for_programs(ticks->hot_ns);
	for (uint32_t i = 0; i < ticks->n_cpus; i++) {
		struct bpf_ticks *cpu = &ticks->cpus[i];

		memcpy(&cpu->ranges[half * BPF_MAX_HOT], hot->ranges,
		       hot->n * sizeof(*hot->ranges));
		memcpy(&cpu->cold_users[half * BPF_MAX_COLD_USERS], users, sizeof(users));
		__atomic_store_n(&cpu->hot, hot->n << 1 | half, __ATOMIC_RELEASE);
	}
	ticks->hot_half = half;
	ticks->hot_ns = clock_ns(CLOCK_MONOTONIC);
}
