/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/cpu-events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

#include "common/util/cleanup.h"
#include "daemon/sampler/probe.h"

#define SMALL_RING (2u << 20) /* less is small; bytes */
#define MOST_READ  (1u << 20) /* bytes of a ring, for each of which its reader is woken */

/* An event that samples, by a PMU or the clock. */
struct sampling_event {
	int fd;                      /* -1: not used */
	struct perf_event_attr attr; /* as it was opened */
	uint64_t period;             /* now */
	uint64_t count, weight;      /* its count and bpf_counters.weight when this period began */
	uint64_t missed;             /* periods without a run, before this period */
	uint64_t enabled_ns;         /* at the last cpu_events_add_times() */
};

struct cpu_events {
	uint32_t cpu;
	struct program *program;
	struct ring *ring;
	int tasks_fd;
	struct sampling_event sampling[BPF_N_EVENTS];
	int active; /* the index of the one that samples; -1: none */
};

/*
 * All events write into one ring, and their records are sorted with those of other CPUs: so they
 * share one clock and one layout. The fewer wake-ups the less each sample costs: a ring wakes the
 * reader when it has a megabyte. A small one does it when a quarter of it is full, so that there is
 * room for whole stacks until the reader comes: see bpf/user-stack.h.
 */
static void set_common(struct perf_event_attr *attr, size_t n_pages)
{
	size_t n_bytes = n_pages * (size_t)sysconf(_SC_PAGESIZE);

	attr->size = sizeof(*attr);
	attr->sample_type |= CPU_EVENTS_SAMPLE_TYPE;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(n_bytes < SMALL_RING ? n_bytes / 4 : MOST_READ);
}

static int open_ring(struct cpu_events *e, const struct cpu_events_settings *settings,
		     struct fault *fault)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
	};
	struct ring_settings ring = {
		.n_pages = settings->ring_pages,
		.handler = settings->handler,
		.userdata = settings->userdata,
	};
	int r;

	set_common(&attr, settings->ring_pages);
	ring.fd = program_open_ring(e->program, &attr, e->cpu);
	if (ring.fd < 0)
		return ring.fd == -ENODEV ? ring.fd :
					    probe_explain(ring.fd, "cannot open a ring", fault);
	r = ring_open(&e->ring, &ring);
	if (r < 0)
		close(ring.fd);
	if (r == -EPERM)
		return fault_set(
			fault, r,
			"cannot lock the memory for a ring of %zu pages: raise LimitMEMLOCK= or "
			"kernel.perf_event_mlock_kb, or lower RingSize=",
			settings->ring_pages);
	if (r < 0 && r != -ENODEV)
		return probe_explain(r, "cannot open a ring", fault);
	return r;
}

/* Makes the event @fd write into the ring. */
static int redirect(const struct cpu_events *e, int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd(e->ring)) < 0 ? -errno : 0;
}

static int open_tasks(struct cpu_events *e, size_t n_pages, struct fault *fault)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,  /* mmap2 has no effect without it */
		.mmap2 = 1, /* without build_id: see build-ids.h */
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.disabled = 1,
	};
	int r;

	set_common(&attr, n_pages);
	e->tasks_fd = program_open_event(e->program, &attr, e->cpu);
	r = e->tasks_fd < 0 ? e->tasks_fd : redirect(e, e->tasks_fd);
	if (r >= 0 && ioctl(e->tasks_fd, PERF_EVENT_IOC_ENABLE) < 0)
		r = -errno;
	if (r < 0 && r != -ENODEV)
		return probe_explain(r, "cannot follow tasks", fault);
	return r;
}

static int open_sampling(struct cpu_events *e, enum bpf_event event,
			 const struct perf_event_attr *sampling, size_t n_pages,
			 struct fault *fault)
{
	struct sampling_event *se = &e->sampling[event];
	int r;

	se->attr = *sampling;
	set_common(&se->attr, n_pages);
	se->attr.disabled = 1;
	se->attr.exclude_guest = 1;
	se->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	se->fd = program_open_event(e->program, &se->attr, e->cpu);
	se->weight = program_counters(e->program, e->cpu)->weight[event];
	se->period = se->attr.sample_period;
	r = se->fd < 0 ? se->fd : redirect(e, se->fd);
	if (r >= 0 && ioctl(se->fd, PERF_EVENT_IOC_SET_BPF, program_fd(e->program, event)) < 0)
		r = -errno;
	if (r < 0 && r != -ENODEV)
		return probe_explain(r, "cannot sample", fault);
	return r;
}

static int open_all_sampling(struct cpu_events *e, const struct cpu_events_settings *settings,
			     struct fault *fault)
{
	int r = 0;

	for (enum bpf_event event = 0; event < BPF_N_EVENTS && r >= 0; event++)
		if (settings->sampling[event])
			r = open_sampling(e, event, settings->sampling[event], settings->ring_pages,
					  fault);
	return r;
}

int cpu_events_open(struct cpu_events **ret, const struct cpu_events_settings *settings,
		    struct fault *fault)
{
	_cleanup_(cpu_events_freep) struct cpu_events *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return -ENOMEM;
	e->cpu = settings->cpu;
	e->program = settings->program;
	e->tasks_fd = e->active = -1;
	for (int i = 0; i < BPF_N_EVENTS; i++)
		e->sampling[i].fd = -1;
	r = open_ring(e, settings, fault);
	if (r >= 0)
		r = open_tasks(e, settings->ring_pages, fault);
	if (r >= 0)
		r = open_all_sampling(e, settings, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(e);
	return 0;
}

struct cpu_events *cpu_events_free(struct cpu_events *events)
{
	if (!events)
		return NULL;
	for (int i = 0; i < BPF_N_EVENTS; i++)
		if (events->sampling[i].fd >= 0)
			close(events->sampling[i].fd);
	if (events->tasks_fd >= 0)
		close(events->tasks_fd);
	ring_free(events->ring);
	free(events);
	return NULL;
}

/* The format of read(), by the read_format of the events. */
struct reading {
	uint64_t count, enabled_ns, running_ns;
};

static bool read_event(int fd, struct reading *ret)
{
	return read(fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret);
}

/* Whether two events take turns. */
static bool takes_turns(const struct cpu_events *e)
{
	return e->sampling[BPF_EVENT_ANY].fd >= 0 && e->sampling[BPF_EVENT_CALLS].fd >= 0;
}

/*
 * Opens an event that clears the branch records of the CPU. When the filter changes, the hardware
 * keeps the old records: they would stay below the new ones, in a call stack for good. A context
 * switch clears them or restores the task's own, but may not come for long. A new event with branch
 * records also clears them if it starts to count while no other one does (Linux,
 * intel_pmu_lbr_add() in arch/x86/events/intel/lbr.c). It has the filter of @event. The caller
 * closes it once @event is enabled, so that no call is missed in between. A descriptor, or -1.
 */
static int open_wiper(const struct cpu_events *e, enum bpf_event event)
{
	struct perf_event_attr attr = e->sampling[event].attr;
	struct reading reading;
	int fd;

	attr.disabled = 0;
	attr.sample_period = 1ull << 40; /* never */
	fd = program_open_event(e->program, &attr, e->cpu);
	if (fd < 0 || (read_event(fd, &reading) && reading.running_ns > 0))
		return fd < 0 ? -1 : fd;
	close(fd);
	return -1;
}

static int enable(struct cpu_events *e, enum bpf_event event)
{
	if (ioctl(e->sampling[event].fd, PERF_EVENT_IOC_ENABLE) < 0)
		return -errno;
	e->active = (int)event;
	return 0;
}

int cpu_events_start(struct cpu_events *events, enum bpf_event event)
{
	struct bpf_counters *counters = program_counters(events->program, events->cpu);
	_cleanup_close_ int wiper = -1;

	cpu_events_stop(events);
	counters->due_ns = counters->ran_ns = 0;
	counters->period_ns = events->sampling[event].period;
	if (!takes_turns(events))
		return enable(events, event);
	wiper = open_wiper(events, event);
	if (wiper >= 0 || event == BPF_EVENT_ANY)
		return enable(events, event);
	return enable(events, BPF_EVENT_ANY) ?: 1;
}

void cpu_events_stop(struct cpu_events *events)
{
	if (events->active >= 0)
		ioctl(events->sampling[events->active].fd, PERF_EVENT_IOC_DISABLE);
	events->active = -1;
}

static uint64_t read_weight(const struct cpu_events *e, enum bpf_event event)
{
	return __atomic_load_n(&program_counters(e->program, e->cpu)->weight[event],
			       __ATOMIC_RELAXED);
}

/*
 * The periods without a run. The count is read before the weight, so that a run in between makes
 * the difference smaller. A remainder below one period is not due yet.
 */
static uint64_t count_missed(const struct sampling_event *se, uint64_t count, uint64_t weight)
{
	count -= se->count;
	weight -= se->weight;
	return se->missed + (count > weight ? (count - weight) / se->period : 0);
}

/* By the clock there is no count: the BPF program counts periods itself. */
static int set_period(struct cpu_events *e, enum bpf_event event, uint32_t scale)
{
	struct sampling_event *se = &e->sampling[event];
	uint64_t period = se->attr.sample_period, weight;
	struct reading reading;

	if (scale > 1) /* odd, so that it runs in step with few things */
		period = (period * scale) | 1;
	if (se->fd < 0 || period == se->period)
		return 0;
	if (read_event(se->fd, &reading)) {
		weight = read_weight(e, event);
		se->missed = count_missed(se, reading.count, weight);
		se->count = reading.count;
		se->weight = weight;
	}
	se->period = period;
	return ioctl(se->fd, PERF_EVENT_IOC_PERIOD, &period) < 0 ? -errno : 0;
}

int cpu_events_slow(struct cpu_events *events, uint32_t scale)
{
	struct bpf_counters *counters = program_counters(events->program, events->cpu);
	uint64_t ran_ns = counters->ran_ns;
	int active = events->active, r = 0;

	cpu_events_stop(events); /* the BPF program counts by the old period no more */
	for (enum bpf_event event = 0; event < BPF_N_EVENTS && r >= 0; event++)
		r = set_period(events, event, scale);
	if (active >= 0)
		r = r < 0 ? r : cpu_events_start(events, (enum bpf_event)active);
	if (counters->ran_ns == 0)
		counters->ran_ns = ran_ns; /* a CPU that has died is found by that */
	return r == -ENODEV ? 0 : r;       /* the CPU has gone */
}

static bool add_times(const struct cpu_events *e, struct sampling_event *se, enum bpf_event event,
		      struct cpu_events_times *sum)
{
	struct reading reading;
	bool alive;

	if (!read_event(se->fd, &reading))
		return true;
	sum->missed += count_missed(se, reading.count, read_weight(e, event));
	sum->enabled_ns += reading.enabled_ns;
	sum->running_ns += reading.running_ns;
	alive = e->active != (int)event || reading.enabled_ns != se->enabled_ns;
	se->enabled_ns = reading.enabled_ns;
	return alive;
}

bool cpu_events_add_times(struct cpu_events *events, struct cpu_events_times *sum)
{
	bool alive = true;

	for (enum bpf_event event = 0; event < BPF_N_EVENTS; event++)
		if (events->sampling[event].fd >= 0)
			alive &= add_times(events, &events->sampling[event], event, sum);
	return alive;
}

struct ring *cpu_events_ring(const struct cpu_events *events)
{
	return events->ring;
}
