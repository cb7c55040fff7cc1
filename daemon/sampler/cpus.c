/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/cpus.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/sampler/cpu-list.h"

#define FOLLOW_NS 1000000000ull /* between two looks for CPUs that came or went */
#define DEAD_NS   2000000000ull /* a clock without a tick for this time may be dead */
#define PHASE_NS  500000000ull  /* so that the shortest window holds both phases of each CPU */

/* Written by the thread that follows, read by any. */
struct shared_times {
	_Atomic uint64_t missed, enabled_ns, running_ns, phases_missed;
	_Atomic uint32_t n_open;
};

struct cpus {
	struct cpus_settings settings;
	struct cpu_events **events; /* by number of the CPU; NULL: off line */
	uint32_t n;
	int epoll_fd, online_fd;
	bool *online; /* by number of the CPU, when it was looked last */
	uint64_t followed_ns, phase_ns;
	uint32_t scale;                 /* of the periods, see cpus_slow() */
	unsigned int phase;             /* the number of phases that have ended */
	struct cpu_events_times closed; /* of events closed since */
	struct shared_times shared;
};

static bool by_pmu(const struct cpus *c)
{
	return c->settings.probe->what.period != 0;
}

/* Whether the CPU is to be sampled. Tasks are followed on all CPUs, because they move. */
static bool is_sampled(const struct cpus *c, uint32_t cpu)
{
	const struct pmu *only = c->settings.probe->only;

	if (only && only->cpus[0] && !cpu_list_has(only->cpus, cpu))
		return false;
	return !*c->settings.only || cpu_list_has(c->settings.only, cpu);
}

static int open_cpu(struct cpus *c, uint32_t cpu, struct fault *fault)
{
	struct cpu_events_settings settings = {
		.cpu = cpu,
		.program = c->settings.program,
		.ring_pages = c->settings.ring_pages,
		.handler = c->settings.handler,
		.userdata = c->settings.userdata,
	};
	_cleanup_(cpu_events_freep) struct cpu_events *events = NULL;
	struct epoll_event watch = { .events = EPOLLIN };
	struct perf_event_attr attrs[BPF_N_EVENTS];
	int r;

	for (int i = 0; i < BPF_N_EVENTS; i++) {
		const struct probe_event *e = &c->settings.probe->events[i];

		attrs[i] = e->attr;
		probe_adapt(c->settings.machine, cpu, &attrs[i]);
		settings.sampling[i] = e->used && is_sampled(c, cpu) ? &attrs[i] : NULL;
	}
	r = cpu_events_open(&events, &settings, fault);
	if (r >= 0)
		r = cpu_events_slow(events, c->scale);
	if (r < 0)
		return r;
	if (epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, ring_fd(cpu_events_ring(events)), &watch) < 0)
		return probe_explain(-errno, "cannot wait for a ring", fault);
	c->events[cpu] = TAKE_PTR(events);
	atomic_fetch_add(&c->shared.n_open, is_sampled(c, cpu));
	return 0;
}

static int close_cpu(struct cpus *c, uint32_t cpu)
{
	int r;

	cpu_events_stop(c->events[cpu]);
	if (by_pmu(c))
		cpu_events_add_times(c->events[cpu], &c->closed);
	r = ring_drain(cpu_events_ring(c->events[cpu]), SIZE_MAX);
	c->events[cpu] = cpu_events_free(c->events[cpu]);
	atomic_fetch_sub(&c->shared.n_open, is_sampled(c, cpu));
	return r;
}

/* A CPU that goes off line meanwhile is no failure. */
static int open_online(struct cpus *c, struct fault *fault)
{
	int r = c->online_fd = cpu_list_open_online();

	if (r >= 0)
		r = cpu_list_read_online(c->online_fd, c->online, c->n);
	if (r < 0)
		return fault_set(fault, r, "cannot read which CPUs are on line: %s", strerror(-r));
	for (uint32_t cpu = 0; cpu < c->n; cpu++) {
		r = c->online[cpu] ? open_cpu(c, cpu, fault) : 0;
		if (r < 0 && r != -ENODEV)
			return r;
	}
	if (cpus_n_open(c) == 0)
		return fault_set(fault, -ENODEV, "CPUs=%s: no such CPU is on line%s%s",
				 c->settings.only, c->settings.probe->only ? " and has " : "",
				 c->settings.probe->only ? c->settings.probe->what.event : "");
	return 0;
}

int cpus_open(struct cpus **ret, const struct cpus_settings *settings, struct fault *fault)
{
	_cleanup_(cpus_freep) struct cpus *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->settings = *settings;
	c->scale = 1;
	c->online_fd = -1;
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll_fd < 0)
		return probe_explain(-errno, "cannot wait for the rings", fault);
	c->n = program_n_cpus(settings->program);
	c->events = calloc(c->n, sizeof(struct cpu_events *));
	c->online = calloc(c->n, sizeof(*c->online));
	if (!c->events || !c->online)
		return -ENOMEM;
	r = open_online(c, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

struct cpus *cpus_free(struct cpus *cpus)
{
	if (!cpus)
		return NULL;
	for (uint32_t cpu = 0; cpu < cpus->n && cpus->events; cpu++)
		cpu_events_free(cpus->events[cpu]);
	free(cpus->events);
	free(cpus->online);
	if (cpus->epoll_fd >= 0)
		close(cpus->epoll_fd);
	if (cpus->online_fd >= 0)
		close(cpus->online_fd);
	free(cpus);
	return NULL;
}

int cpus_fd(const struct cpus *cpus)
{
	return cpus->epoll_fd;
}

static bool has_phases(const struct cpus *c)
{
	return c->settings.probe->events[BPF_EVENT_ANY].used &&
	       c->settings.probe->events[BPF_EVENT_CALLS].used;
}

/* The event of @cpu in this phase. */
static enum bpf_event event_of(const struct cpus *c, uint32_t cpu)
{
	unsigned int turn = c->phase + (c->settings.together ? 0 : cpu);

	if (has_phases(c))
		return turn % 2 ? BPF_EVENT_CALLS : BPF_EVENT_ANY;
	return c->settings.probe->events[BPF_EVENT_CALLS].used ? BPF_EVENT_CALLS : BPF_EVENT_ANY;
}

/* A CPU that has just gone off line is closed later, by cpus_follow(). */
static int start_cpu(struct cpus *c, uint32_t cpu)
{
	int r = is_sampled(c, cpu) ? cpu_events_start(c->events[cpu], event_of(c, cpu)) : 0;

	if (r > 0)
		atomic_fetch_add(&c->shared.phases_missed, 1);
	return r == -ENODEV ? 0 : r;
}

int cpus_start(struct cpus *cpus)
{
	int r = 0;

	cpus->phase_ns = clock_ns(CLOCK_MONOTONIC);
	for (uint32_t cpu = 0; cpu < cpus->n && r >= 0; cpu++)
		if (cpus->events[cpu])
			r = start_cpu(cpus, cpu);
	return r;
}

/* Where all CPUs change at once, none may record call stacks while another records branches. */
static void stop_all(struct cpus *c)
{
	for (uint32_t cpu = 0; cpu < c->n; cpu++)
		if (c->events[cpu])
			cpu_events_stop(c->events[cpu]);
}

static int next_phase(struct cpus *c)
{
	c->phase++;
	if (c->settings.together)
		stop_all(c);
	return cpus_start(c);
}

static void update_times(struct cpus *c, const struct cpu_events_times *sum)
{
	atomic_store(&c->shared.missed, sum->missed);
	atomic_store(&c->shared.enabled_ns, sum->enabled_ns);
	atomic_store(&c->shared.running_ns, sum->running_ns);
}

void cpus_stop(struct cpus *cpus)
{
	struct cpu_events_times sum = cpus->closed;

	stop_all(cpus);
	if (!by_pmu(cpus))
		return;
	for (uint32_t cpu = 0; cpu < cpus->n; cpu++)
		if (cpus->events[cpu])
			cpu_events_add_times(cpus->events[cpu], &sum);
	update_times(cpus, &sum);
}

/*
 * Whether the sampling event still counts: it does not after its CPU went and came back. The kernel
 * reports the time it was enabled, which costs an interrupt of that CPU; the clock has ticked of
 * late, unless its CPU sleeps.
 */
static bool is_alive(struct cpus *c, uint32_t cpu, uint64_t now, struct cpu_events_times *sum)
{
	struct cpu_events_times unused = { 0 };
	uint64_t ran_ns;

	if (by_pmu(c))
		return cpu_events_add_times(c->events[cpu], sum);
	ran_ns = __atomic_load_n(&program_counters(c->settings.program, cpu)->ran_ns,
				 __ATOMIC_RELAXED);
	return ran_ns == 0 || now <= ran_ns + DEAD_NS ||
	       cpu_events_add_times(c->events[cpu], &unused);
}

static int follow_cpu(struct cpus *c, uint32_t cpu, bool online, uint64_t now,
		      struct cpu_events_times *sum)
{
	struct fault fault;
	int r = 0;

	if (c->events[cpu] && (!is_alive(c, cpu, now, sum) || !online))
		r = close_cpu(c, cpu);
	if (r < 0 || c->events[cpu] || !online)
		return r;
	if (open_cpu(c, cpu, &fault) < 0) /* it went again, or no descriptor is left: try later */
		return 0;
	return start_cpu(c, cpu);
}

static int follow_all(struct cpus *c, uint64_t now)
{
	struct cpu_events_times sum = c->closed;
	int r = 0;

	if (now - c->followed_ns < FOLLOW_NS)
		return 0;
	c->followed_ns = now;
	if (cpu_list_read_online(c->online_fd, c->online, c->n) < 0)
		return 0;
	for (uint32_t cpu = 0; cpu < c->n && r >= 0; cpu++)
		r = follow_cpu(c, cpu, c->online[cpu], now, &sum);
	update_times(c, &sum);
	return r;
}

int cpus_follow(struct cpus *cpus)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int r = follow_all(cpus, now);

	if (r < 0 || !has_phases(cpus) || now - cpus->phase_ns < PHASE_NS)
		return r;
	return next_phase(cpus);
}

static int slow_cpu(struct cpus *c, uint32_t cpu)
{
	int r = cpu_events_slow(c->events[cpu], c->scale);

	atomic_fetch_add(&c->shared.phases_missed, r > 0);
	return r;
}

int cpus_slow(struct cpus *cpus, uint32_t scale)
{
	int r = 0;

	if (scale == cpus->scale)
		return 0;
	cpus->scale = scale;
	for (uint32_t cpu = 0; cpu < cpus->n && r >= 0; cpu++)
		if (cpus->events[cpu])
			r = slow_cpu(cpus, cpu);
	return r;
}

struct ring *cpus_ring(const struct cpus *cpus, uint32_t cpu)
{
	return cpu < cpus->n && cpus->events[cpu] ? cpu_events_ring(cpus->events[cpu]) : NULL;
}

uint64_t cpus_phases_missed(const struct cpus *cpus)
{
	return atomic_load(&cpus->shared.phases_missed);
}

uint32_t cpus_n_open(const struct cpus *cpus)
{
	return atomic_load(&cpus->shared.n_open);
}

void cpus_get_times(const struct cpus *cpus, struct cpu_events_times *ret)
{
	ret->missed = atomic_load(&cpus->shared.missed);
	ret->enabled_ns = atomic_load(&cpus->shared.enabled_ns);
	ret->running_ns = atomic_load(&cpus->shared.running_ns);
}
