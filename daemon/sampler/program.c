/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/program.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/cleanup.h"

static_assert(sizeof(struct bpf_sample) % sizeof(uint64_t) == 0, "words follow the sample");

struct program {
	struct events_client *events;
	int fds[EVENTS_LOADED];
	struct bpf_counters *counters;
	uint32_t n_cpus;
	bool ticks;
	bool rows; /* else both events run one program */
};

/* Of 2^32 samples. Where some are cold there are ticks, so it is not all of them. */
static uint32_t captured(double share, bool by_heat)
{
	uint32_t all = by_heat ? UINT32_MAX - 1 : UINT32_MAX;

	return share > 0 && share < 1 ? (uint32_t)(share * UINT32_MAX) : all;
}

static struct events_program describe(const struct program_settings *settings)
{
	const struct lbr *lbr = settings->lbr;
	const struct task_filter *only = settings->only;
	struct events_program p = {
		.by_clock = settings->by_clock,
		.kernel = settings->kernel,
		.user = (uint8_t)settings->user,
		.capture = captured(settings->capture, settings->by_heat),
		.by_heat = settings->by_heat,
		.n_pids = only->pids.n,
		.n_uids = only->uids.n,
		.some_units = only->units.n > 0,
	};

	memcpy(p.pids, only->pids.ids, sizeof(p.pids));
	memcpy(p.uids, only->uids.ids, sizeof(p.uids));
	if (!lbr)
		return p;
	p.rows = true;
	p.depth = settings->depth;
	p.hw_idx = lbr->hw_idx;
	p.leave_wrong_path = lbr->wrong_path;
	p.some_kinds = settings->some_kinds;
	p.leave_kernel = settings->leave_kernel;
	return p;
}

static size_t counters_bytes(const struct program *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (p->n_cpus * sizeof(*p->counters) + page - 1) & ~(page - 1);
}

static int load(struct program *p, const struct program_settings *settings, struct fault *fault)
{
	const struct events_program program = describe(settings);
	void *counters;
	int r = events_client_load(p->events, &program, p->fds, fault);

	if (r < 0)
		return r;
	counters = mmap(NULL, counters_bytes(p), PROT_READ | PROT_WRITE, MAP_SHARED,
			p->fds[EVENTS_COUNTERS], 0);
	if (counters == MAP_FAILED)
		return fault_set(fault, -errno, "cannot map the counters of the BPF program: %s",
				 strerror(errno));
	p->counters = counters;
	p->ticks = program.capture != UINT32_MAX;
	p->rows = program.rows;
	return 0;
}

int program_load(struct program **ret, struct events_client *events, uint32_t n_cpus,
		 const struct program_settings *settings, struct fault *fault)
{
	_cleanup_(program_freep) struct program *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->events = events;
	p->n_cpus = n_cpus;
	for (int i = 0; i < EVENTS_LOADED; i++)
		p->fds[i] = -1;
	r = load(p, settings, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}

struct program *program_free(struct program *program)
{
	if (!program)
		return NULL;
	if (program->counters)
		munmap(program->counters, counters_bytes(program));
	for (int i = 0; i < EVENTS_LOADED; i++)
		if (program->fds[i] >= 0)
			close(program->fds[i]);
	free(program);
	return NULL;
}

int program_fd(const struct program *program, enum bpf_event event)
{
	return program->fds[EVENTS_PROGRAMS + event];
}

int program_open_event(const struct program *program, const struct perf_event_attr *attr,
		       uint32_t cpu)
{
	return events_client_open(program->events, attr, cpu, -1);
}

int program_open_ring(const struct program *program, const struct perf_event_attr *attr,
		      uint32_t cpu)
{
	return events_client_open(program->events, attr, cpu, program->fds[EVENTS_RINGS]);
}

void program_refuse(const struct program *program, uint64_t id)
{
	events_client_refuse(program->events, program->fds[EVENTS_REFUSED], id);
}

uint32_t program_n_cpus(const struct program *program)
{
	return program->n_cpus;
}

struct bpf_counters *program_counters(const struct program *program, uint32_t cpu)
{
	assert(cpu < program->n_cpus);
	return &program->counters[cpu];
}

int program_ticks_fd(const struct program *program)
{
	return program->ticks ? program->fds[EVENTS_TICKS] : -1;
}

/* Another CPU writes the counters meanwhile; each single one is consistent. */
static uint64_t read_counter(const __u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void add_cpu(struct sampler_counts *sum, const struct bpf_counters *b)
{
	sum->taken += read_counter(&b->taken);
	sum->filtered += read_counter(&b->filtered);
	sum->written += read_counter(&b->written);
	sum->ring_full += read_counter(&b->ring_full);
	sum->no_ring += read_counter(&b->no_ring);
	sum->ticked += read_counter(&b->ticked);
	sum->unticked += read_counter(&b->unticked);
	sum->snapshots += read_counter(&b->snapshots);
	sum->snapshots_empty += read_counter(&b->snapshots_empty);
	sum->snapshots_full += read_counter(&b->snapshots_full);
	sum->rows += read_counter(&b->rows);
	sum->rows_kernel += read_counter(&b->rows_kernel);
	sum->no_branch_stack += read_counter(&b->no_branch_stack);
	sum->run_ns += read_counter(&b->run_ns);
}

void program_add_counts(const struct program *program, struct sampler_counts *sum)
{
	for (uint32_t cpu = 0; cpu < program->n_cpus; cpu++)
		add_cpu(sum, &program->counters[cpu]);
}

/* bpf() itself takes privileges on most kernels. */
static void add_run_time(int fd, uint64_t *ns, uint64_t *runs)
{
	_cleanup_fclose_ FILE *f = NULL;
	unsigned long long value;
	char path[64], line[128];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "run_time_ns: %llu", &value) == 1)
			*ns += value;
		else if (sscanf(line, "run_cnt: %llu", &value) == 1)
			*runs += value;
}

void program_get_run_time(const struct program *program, uint64_t *ret_ns, uint64_t *ret_runs)
{
	*ret_ns = *ret_runs = 0;
	add_run_time(program_fd(program, BPF_EVENT_ANY), ret_ns, ret_runs);
	if (program->rows)
		add_run_time(program_fd(program, BPF_EVENT_CALLS), ret_ns, ret_runs);
	if (*ret_runs > 0)
		return;
	for (uint32_t cpu = 0; cpu < program->n_cpus; cpu++) {
		*ret_ns += __atomic_load_n(&program->counters[cpu].run_ns, __ATOMIC_RELAXED);
		*ret_runs += __atomic_load_n(&program->counters[cpu].runs, __ATOMIC_RELAXED);
	}
}
