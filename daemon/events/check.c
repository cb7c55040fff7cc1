/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything that is not allowed is forbidden: the fields that an event of its kind may use are
 * copied into an empty attr, which then must equal the given one.
 */
#include "daemon/events/check.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define SAMPLE_TYPES (PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)
#define READ_FORMATS (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define BRANCHES     (PERF_SAMPLE_BRANCH_MAX - 1)

enum kind { SAMPLING, TASKS, RING, FORBIDDEN };

static enum kind kind_of_software(uint64_t config)
{
	switch (config) {
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_CONTEXT_SWITCHES:
	case PERF_COUNT_SW_CPU_MIGRATIONS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
	case PERF_COUNT_SW_ALIGNMENT_FAULTS:
	case PERF_COUNT_SW_EMULATION_FAULTS:
		return SAMPLING;
	case PERF_COUNT_SW_DUMMY:
		return TASKS;
	case PERF_COUNT_SW_BPF_OUTPUT:
		return RING;
	default:
		return FORBIDDEN;
	}
}

/* A cache, what is done with it, and with what result, a byte each. */
static bool is_cache(uint32_t config)
{
	return (config & 0xff) < PERF_COUNT_HW_CACHE_MAX &&
	       (config >> 8 & 0xff) < PERF_COUNT_HW_CACHE_OP_MAX &&
	       config >> 16 < PERF_COUNT_HW_CACHE_RESULT_MAX;
}

/* The upper half of a generic event's config is the type of a hybrid processor's PMU. */
static enum kind kind_of(const struct perf_event_attr *attr, bool is_core)
{
	switch (attr->type) {
	case PERF_TYPE_SOFTWARE:
		return kind_of_software(attr->config);
	case PERF_TYPE_HARDWARE:
		return (uint32_t)attr->config < PERF_COUNT_HW_MAX ? SAMPLING : FORBIDDEN;
	case PERF_TYPE_HW_CACHE:
		return is_cache((uint32_t)attr->config) ? SAMPLING : FORBIDDEN;
	case PERF_TYPE_RAW:
		return SAMPLING;
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return FORBIDDEN;
	default:
		return is_core ? SAMPLING : FORBIDDEN;
	}
}

/* The fields that all kinds may use. */
static struct perf_event_attr copy_common(const struct perf_event_attr *attr)
{
	return (struct perf_event_attr){
		.type = attr->type,
		.size = sizeof(*attr),
		.config = attr->config,
		.sample_period = attr->sample_period,
		.sample_type = attr->sample_type & SAMPLE_TYPES,
		.read_format = attr->read_format & READ_FORMATS,
		.disabled = attr->disabled,
		.sample_id_all = attr->sample_id_all,
		.use_clockid = attr->use_clockid,
		.clockid = attr->use_clockid ? CLOCK_MONOTONIC : 0,
		.watermark = attr->watermark,
		.wakeup_watermark = attr->wakeup_watermark,
	};
}

static void copy_sampling(struct perf_event_attr *copy, const struct perf_event_attr *attr)
{
	copy->exclude_kernel = attr->exclude_kernel;
	copy->exclude_guest = attr->exclude_guest;
	if (attr->type != PERF_TYPE_SOFTWARE)
		copy->precise_ip = attr->precise_ip;
	if (attr->type == PERF_TYPE_RAW || attr->type >= PERF_TYPE_MAX) {
		copy->config1 = attr->config1;
		copy->config2 = attr->config2;
	}
	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
		return;
	copy->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	copy->branch_sample_type = attr->branch_sample_type & BRANCHES;
}

static void copy_tasks(struct perf_event_attr *copy, const struct perf_event_attr *attr)
{
	copy->mmap = attr->mmap;
	copy->mmap2 = attr->mmap2;
	copy->comm = attr->comm;
	copy->comm_exec = attr->comm_exec;
	copy->task = attr->task;
	copy->ksymbol = attr->ksymbol;
}

int check_event(const struct perf_event_attr *attr, bool is_core)
{
	struct perf_event_attr copy = copy_common(attr);

	switch (kind_of(attr, is_core)) {
	case SAMPLING:
		copy_sampling(&copy, attr);
		if (attr->sample_period == 0)
			return -EPERM;
		break;
	case TASKS:
		copy_tasks(&copy, attr);
		break;
	case RING:
		break;
	case FORBIDDEN:
		return -EPERM;
	}
	return memcmp(&copy, attr, sizeof(copy)) == 0 ? 0 : -EPERM;
}

int check_program(const struct events_program *program)
{
	bool ok = program->n_pids <= BPF_MAX_WANTED && program->n_uids <= BPF_MAX_WANTED &&
		  program->user <= BPF_USER_COPY;

	return ok ? 0 : -EINVAL;
}
