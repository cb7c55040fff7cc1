/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree of stacks of a profile, walked depth first: what is counted on the path from the root to
 * a node tells who is on it twice, in a time linear in the nodes, however deep they are.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"

struct stack_walk {
	const struct profile *profile;
	uint32_t *child, *next; /* children of a node are linked through @next */
	uint64_t *below;        /* samples at and below each node */
	uint32_t root;
};

/* Of the sealed @profile, which has to stay. 0 or -ENOMEM, and then too stack_walk_done() is due.
 */
int stack_walk_init(struct stack_walk *walk, const struct profile *profile);
void stack_walk_done(struct stack_walk *walk);

/* Calls @enter for each node before, and @leave after those below it. */
typedef void (*stack_walk_visit)(const struct stack_walk *walk, uint32_t node, void *userdata);
void stack_walk_run(const struct stack_walk *walk, stack_walk_visit enter, stack_walk_visit leave,
		    void *userdata);
