/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Made-up code with branches: functions of BRANCH_PATH_BYTES, each a loop of blocks with one call
 * site. A sample is taken somewhere in one, the hot ones (1/rank^2) more often, and its rows are
 * the way that led there: round the loop, now and then past a block or two, now and then into the
 * function called and not back.
 */
#pragma once

#include <linux/perf_event.h>

#include "tests/benchmark/population.h"

#define BRANCH_PATHS_N    64
#define BRANCH_PATH_BYTES 0x400
#define MAX_STEPS         24

/* A loop: blocks of code, each ending in a branch to the next; some have a second way out. */
struct branch_path {
	unsigned int n_steps;
	unsigned int callee, call_site;            /* a path, and the step that may call it */
	uint16_t start[MAX_STEPS], end[MAX_STEPS]; /* offsets in the function */
};

struct branch_paths {
	struct branch_path paths[BRANCH_PATHS_N];
	double zipf[BRANCH_PATHS_N]; /* cumulative */
};

/* All random numbers are @population's. */
void branch_paths_make(struct branch_paths *b, struct population *population);

/* @n rows of code that begins at @text, newest first; the address reached in the end. */
uint64_t branch_paths_walk(const struct branch_paths *b, struct population *population,
			   uint64_t text, struct perf_branch_entry *rows, unsigned int n);
