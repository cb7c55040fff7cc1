/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/benchmark/memory-cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/events/client.h"
#include "daemon/sampler/cpus.h"

static struct memory_cpus machine;

/* What the sampler asks of perf events by it, memory has no answer to. */
int ioctl(int fd, unsigned long request, ...)
{
	return 0;
}

static void *share(size_t n_bytes, int *ret_fd)
{
	void *shared;

	*ret_fd = memfd_create("memory-cpus", MFD_CLOEXEC);
	if (*ret_fd < 0 || ftruncate(*ret_fd, (off_t)n_bytes) < 0)
		return NULL;
	shared = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
	return shared == MAP_FAILED ? NULL : shared;
}

const struct memory_cpus *memory_cpus_make(uint32_t n_cpus, size_t ring_pages)
{
	struct memory_cpus *m = &machine;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int unused;

	if (n_cpus == 0 || n_cpus > MEMORY_CPUS_MAX)
		return NULL;
	m->n_cpus = n_cpus;
	m->ring_bytes = ring_pages * page;
	m->full_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	m->counters = share(n_cpus * sizeof(*m->counters) + page, &m->counters_fd);
	m->ticks = share(n_cpus * sizeof(*m->ticks) + page, &m->ticks_fd);
	m->is_sampling = share(page, &unused);
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		m->rings[cpu] = share(page + m->ring_bytes, &m->ring_fds[cpu]);
		if (!m->rings[cpu])
			return NULL;
	}
	return m->full_fd >= 0 && m->counters && m->ticks && m->is_sampling ? m : NULL;
}

/* daemon/events/client.h */

int events_client_new(struct events_client **ret, struct helpers *helpers)
{
	*ret = NULL;
	return 0;
}

struct events_client *events_client_free(struct events_client *client)
{
	return NULL;
}

int events_client_describe(struct events_client *client, struct events_machine *ret)
{
	*ret = (struct events_machine){ .n_cpus = machine.n_cpus, .keeps_call_stacks = 1 };
	return 0;
}

static int open_nothing(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int events_client_open(struct events_client *client, const struct perf_event_attr *attr,
		       uint32_t cpu, int rings_fd)
{
	return open_nothing();
}

int events_client_load(struct events_client *client, const struct events_program *program,
		       int ret_fds[EVENTS_LOADED], struct fault *fault)
{
	for (int i = 0; i < EVENTS_LOADED; i++)
		ret_fds[i] = i == EVENTS_COUNTERS ? machine.counters_fd :
			     i == EVENTS_TICKS    ? machine.ticks_fd :
						    open_nothing();
	return 0;
}

int events_client_refuse(struct events_client *client, int refused_fd, uint64_t cgroup)
{
	return 0;
}

int events_client_open_kallsyms(struct events_client *client)
{
	return open_nothing();
}

int events_client_open_modules(struct events_client *client)
{
	return open_nothing();
}

/* daemon/sampler/cpus.h */

struct cpus {
	struct ring *rings[MEMORY_CPUS_MAX];
};

int cpus_open(struct cpus **ret, const struct cpus_settings *settings, struct fault *fault)
{
	_cleanup_(cpus_freep) struct cpus *cpus = calloc(1, sizeof(*cpus));
	int r = cpus ? 0 : -ENOMEM;

	for (uint32_t cpu = 0; cpu < machine.n_cpus && r >= 0; cpu++) {
		const struct ring_settings ring = {
			.fd = machine.ring_fds[cpu],
			.n_pages = settings->ring_pages,
			.handler = settings->handler,
			.userdata = settings->userdata,
		};

		r = ring_open(&cpus->rings[cpu], &ring);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(cpus);
	return 0;
}

struct cpus *cpus_free(struct cpus *cpus)
{
	for (uint32_t cpu = 0; cpus && cpu < machine.n_cpus; cpu++)
		ring_free(cpus->rings[cpu]);
	free(cpus);
	return NULL;
}

int cpus_fd(const struct cpus *cpus)
{
	return machine.full_fd;
}

int cpus_start(struct cpus *cpus)
{
	atomic_store(machine.is_sampling, true);
	return 0;
}

void cpus_stop(struct cpus *cpus)
{
	atomic_store(machine.is_sampling, false);
}

int cpus_follow(struct cpus *cpus)
{
	uint64_t unused;

	(void)!read(machine.full_fd, &unused, sizeof(unused));
	return 0;
}

int cpus_slow(struct cpus *cpus, uint32_t scale)
{
	return 0;
}

struct ring *cpus_ring(const struct cpus *cpus, uint32_t cpu)
{
	return cpu < machine.n_cpus ? cpus->rings[cpu] : NULL;
}

uint32_t cpus_n_open(const struct cpus *cpus)
{
	return machine.n_cpus;
}

uint64_t cpus_phases_missed(const struct cpus *cpus)
{
	return 0;
}

void cpus_get_times(const struct cpus *cpus, struct cpu_events_times *ret)
{
	*ret = (struct cpu_events_times){ 0 };
}
