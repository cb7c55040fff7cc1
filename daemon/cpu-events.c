/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/cpu-events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

#include "common/util/cleanup.h"
#include "daemon/probe.h"

struct cpu_events {
	uint32_t cpu;
	struct program *program;
	struct ring *ring;
	int sampling_fd, tasks_fd;
};

/*
 * One clock and one layout for all events, for all write into one ring and are sorted with those of
 * other CPUs. A quarter of a ring is a reason to wake the reader before it comes by itself.
 */
static void set_common(struct perf_event_attr *attr, size_t n_pages)
{
	attr->size = sizeof(*attr);
	attr->sample_type |= CPU_EVENTS_SAMPLE_TYPE;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(n_pages * (size_t)sysconf(_SC_PAGESIZE) / 4);
}

static int open_ring(struct cpu_events *e, size_t n_pages, ring_handler handler, void *userdata,
		     struct fault *fault)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
	};
	int r;

	set_common(&attr, n_pages);
	r = ring_open(&e->ring, e->program, e->cpu, &attr, n_pages, handler, userdata);
	if (r == -EPERM)
		return fault_set(fault, r,
				 "no memory may be locked for a ring of %zu pages: raise "
				 "kernel.perf_event_mlock_kb, grant CAP_IPC_LOCK, or ask for less",
				 n_pages);
	if (r < 0 && r != -ENODEV)
		return probe_explain(r, "cannot open a ring", fault);
	return r;
}

/* Has @fd write into the ring. */
static int redirect(const struct cpu_events *e, int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd(e->ring)) < 0 ? -errno : 0;
}

static int open_tasks(struct cpu_events *e, size_t n_pages, struct fault *fault)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,  /* mmap2 alone gives nothing */
		.mmap2 = 1, /* without build_id: see file-ids.h */
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.disabled = 1,
	};
	int r;

	set_common(&attr, n_pages);
	e->tasks_fd = probe_open_event(&attr, (int)e->cpu, NULL);
	r = e->tasks_fd < 0 ? e->tasks_fd : redirect(e, e->tasks_fd);
	if (r >= 0 && ioctl(e->tasks_fd, PERF_EVENT_IOC_ENABLE) < 0)
		r = -errno;
	if (r < 0 && r != -ENODEV)
		return probe_explain(r, "cannot follow tasks", fault);
	return r;
}

static int open_sampling(struct cpu_events *e, const struct perf_event_attr *sampling,
			 size_t n_pages, struct fault *fault)
{
	struct perf_event_attr attr = *sampling;
	int r;

	set_common(&attr, n_pages);
	attr.disabled = 1;
	attr.exclude_guest = 1;
	e->sampling_fd = probe_open_event(&attr, (int)e->cpu, NULL);
	r = e->sampling_fd < 0 ? e->sampling_fd : redirect(e, e->sampling_fd);
	if (r >= 0 && ioctl(e->sampling_fd, PERF_EVENT_IOC_SET_BPF, program_fd(e->program)) < 0)
		r = -errno;
	if (r < 0 && r != -ENODEV)
		return probe_explain(r, "cannot sample", fault);
	return r;
}

int cpu_events_open(struct cpu_events **ret, uint32_t cpu, struct program *program,
		    const struct cpu_events_settings *settings, ring_handler handler,
		    void *userdata, struct fault *fault)
{
	_cleanup_(cpu_events_freep) struct cpu_events *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return -ENOMEM;
	e->cpu = cpu;
	e->program = program;
	e->sampling_fd = e->tasks_fd = -1;
	r = open_ring(e, settings->ring_pages, handler, userdata, fault);
	if (r >= 0)
		r = open_tasks(e, settings->ring_pages, fault);
	if (r >= 0)
		r = open_sampling(e, settings->sampling, settings->ring_pages, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(e);
	return 0;
}

struct cpu_events *cpu_events_free(struct cpu_events *events)
{
	if (!events)
		return NULL;
	if (events->sampling_fd >= 0)
		close(events->sampling_fd);
	if (events->tasks_fd >= 0)
		close(events->tasks_fd);
	ring_free(events->ring);
	free(events);
	return NULL;
}

int cpu_events_start(struct cpu_events *events)
{
	program_counters(events->program, events->cpu)->due_ns = 0;
	return ioctl(events->sampling_fd, PERF_EVENT_IOC_ENABLE) < 0 ? -errno : 0;
}

void cpu_events_stop(struct cpu_events *events)
{
	ioctl(events->sampling_fd, PERF_EVENT_IOC_DISABLE);
}

uint32_t cpu_events_cpu(const struct cpu_events *events)
{
	return events->cpu;
}

struct ring *cpu_events_ring(const struct cpu_events *events)
{
	return events->ring;
}
