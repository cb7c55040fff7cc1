/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks the tree of stacks of a profile, depth first, in linear time and without recursion. A
 * visitor that counts functions on entering and leaving knows which ones are on the path already.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"

struct stack_sum {
	uint64_t samples, variance;
};

struct stack_walk {
	const struct profile *profile;
	uint32_t *child;         /* the first */
	struct stack_sum *below; /* of each node and all nodes below it */
};

/* Borrows the finalized @profile. 0 or -ENOMEM; call stack_walk_done() in either case. */
int stack_walk_init(struct stack_walk *walk, const struct profile *profile);
void stack_walk_done(struct stack_walk *walk);

/* Calls @enter for each node before the nodes below it, and @leave after them. */
typedef void (*stack_walk_visit)(const struct stack_walk *walk, uint32_t node, void *userdata);
void stack_walk_run(const struct stack_walk *walk, stack_walk_visit enter, stack_walk_visit leave,
		    void *userdata);
