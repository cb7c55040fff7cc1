/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the probe: machines that are not there, and what their kernels answer. */
#pragma once

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/sampler/probe.h"

#define CALL_STACK PERF_SAMPLE_BRANCH_CALL_STACK
#define ANY        PERF_SAMPLE_BRANCH_ANY
#define USER       PERF_SAMPLE_BRANCH_USER
#define KERNEL     PERF_SAMPLE_BRANCH_KERNEL

/* A machine, and what its kernel answers. */
struct simulated {
	struct machine machine;
	int cycles;           /* to cycles without a branch stack: 0, or -errno */
	int rows;             /* ... with one of any branch */
	int calls;            /* ... with one of the call-stack mode */
	int clock;            /* to cpu-clock */
	uint64_t filters;     /* bits of branch_sample_type that it knows; 0: all */
	unsigned int precise; /* the highest precise_ip that it has; -EOPNOTSUPP to higher ones */
	uint64_t taken;       /* the one raw event that may have a branch stack; 0: any event may */
};

static int answer_rows(const struct simulated *s, const struct perf_event_attr *attr)
{
	if (s->taken && (attr->type != s->machine.pmus[0].type || attr->config != s->taken))
		return -EINVAL;
	if (s->filters && attr->branch_sample_type & ~s->filters)
		return -EINVAL;
	return attr->branch_sample_type & CALL_STACK ? s->calls : s->rows;
}

static int answer(const struct perf_event_attr *attr, int cpu, void *userdata)
{
	const struct simulated *s = userdata;
	const struct pmu *pmu = machine_pmu(&s->machine, (uint32_t)cpu);
	int r = s->clock;

	/* unless asked for: on AMD it would be another PMU, without rows */
	if (attr->precise_ip > s->precise)
		return -EOPNOTSUPP;
	if (attr->type != PERF_TYPE_SOFTWARE)
		r = attr->sample_type & PERF_SAMPLE_BRANCH_STACK ? answer_rows(s, attr) : s->cycles;
	if (attr->type == PERF_TYPE_HARDWARE && s->machine.n_pmus > 1 &&
	    attr->config >> PERF_PMU_TYPE_SHIFT != pmu->type)
		r = -ENOENT; /* an event of the other type of core */
	return r < 0 ? r : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static inline void machine_init(struct machine *m, const char *cpuid, const char *flags,
				uint32_t depth)
{
	*m = (struct machine){ .hz = 3000000000, .first_cpu = 3, .keeps_call_stacks = true };
	strcpy(m->cpuid, cpuid);
	strcpy(m->flags, flags);
	m->pmus[0] = (struct pmu){ .name = "cpu", .type = PERF_TYPE_RAW, .depth = depth };
	m->n_pmus = 1;
}

/* A Skylake, but for what differs. */
static inline void simulated_init(struct simulated *s)
{
	*s = (struct simulated){ 0 };
	machine_init(&s->machine, "GenuineIntel,6,85,4", " fpu ", 32);
}

static const struct sampler_settings usual = { .frequency = 99, .kernel = true };

static inline int probe(struct probe_result *ret, struct simulated *s,
			const struct sampler_settings *settings, struct fault *fault)
{
	return probe_run(ret, settings, &s->machine, answer, s, fault);
}
