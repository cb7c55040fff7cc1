/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the sampler is asked to do. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/sampler/event-spec.h"
#include "daemon/sampler/task-filter.h"

#define SAMPLER_CPUS_MAX 128

enum sampler_mode {
	SAMPLER_AUTO, /* the best that the machine offers */
	SAMPLER_SOFTWARE,
	SAMPLER_STACK,
	SAMPLER_BRANCH,
	SAMPLER_STACK_BRANCH,
	N_SAMPLER_MODES,
};

const char *sampler_mode_name(enum sampler_mode mode);
/* The mode with this name, or -EINVAL. */
int sampler_mode_parse(const char *name);

/* How the stacks of user space are found. */
enum sampler_user_stacks {
	SAMPLER_USER_AUTO,   /* by tables, if the kernel loads the program that copies stacks */
	SAMPLER_USER_TABLES, /* by frame pointers where branchd has no rules for the machine */
	SAMPLER_USER_FRAME_POINTERS,
	SAMPLER_USER_NONE,
	N_SAMPLER_USER_STACKS,
};

const char *sampler_user_stacks_name(enum sampler_user_stacks stacks);
/* The one with this name, or -EINVAL. */
int sampler_user_stacks_parse(const char *name);

struct sampler_settings {
	enum sampler_mode mode;
	struct event_spec event;
	uint64_t frequency; /* samples a second and CPU; of a PMU's event at full CPU speed */
	uint64_t period;    /* events between samples; 0: by frequency */
	char cpus[SAMPLER_CPUS_MAX]; /* the list of those to sample, see cpu-list.h; "": all */
	uint64_t branch_filter;      /* PERF_SAMPLE_BRANCH_*, see branch-filter.h; 0: any branch */
	uint32_t ring_pages;         /* per CPU; a power of two; 0: the default */
	bool kernel;                 /* sample the kernel, too */
	enum sampler_user_stacks user_stacks;
	double capture_share; /* of the samples, that are captured in full; 0: all */
	double hot_share;     /* of a process's samples, that make a function hot; 0: all are */
	struct task_filter only;
};
