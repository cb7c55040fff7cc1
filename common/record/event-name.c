/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/record/event-name.h"

#include <stdio.h>

static const char *const hardware[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = "cycles",
	[PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
	[PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
	[PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
	[PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
	[PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

static const char *const software[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = "cpu-clock",
	[PERF_COUNT_SW_TASK_CLOCK] = "task-clock",
	[PERF_COUNT_SW_PAGE_FAULTS] = "page-faults",
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = "context-switches",
	[PERF_COUNT_SW_CPU_MIGRATIONS] = "cpu-migrations",
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = "minor-faults",
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "major-faults",
	[PERF_COUNT_SW_ALIGNMENT_FAULTS] = "alignment-faults",
	[PERF_COUNT_SW_EMULATION_FAULTS] = "emulation-faults",
	[PERF_COUNT_SW_DUMMY] = "dummy",
	[PERF_COUNT_SW_BPF_OUTPUT] = "bpf-output",
};

void event_name_format(char *ret, size_t n, const struct perf_event_attr *attr)
{
	const char *name = NULL;

	if (attr->type == PERF_TYPE_HARDWARE && attr->config < ARRAY_SIZE(hardware))
		name = hardware[attr->config];
	else if (attr->type == PERF_TYPE_SOFTWARE && attr->config < ARRAY_SIZE(software))
		name = software[attr->config];

	if (name)
		snprintf(ret, n, "%s", name);
	else if (attr->type == PERF_TYPE_RAW)
		snprintf(ret, n, "r%llx", (unsigned long long)attr->config);
	else
		snprintf(ret, n, "type %u config 0x%llx", attr->type,
			 (unsigned long long)attr->config);
}
