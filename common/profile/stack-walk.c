/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/stack-walk.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int stack_walk_init(struct stack_walk *walk, const struct profile *profile)
{
	size_t n = profile->n_stacks;

	assert(profile->finalized);

	*walk = (struct stack_walk){ .profile = profile };
	walk->child = malloc((n + 1) * sizeof(*walk->child));
	walk->below = calloc(n + 1, sizeof(*walk->below));
	if (!walk->child || !walk->below)
		return -ENOMEM;

	for (size_t i = 0; i < n; i++)
		walk->child[i] = PROFILE_NONE;
	for (size_t i = n; i-- > 0;) {
		const struct profile_stack *stack = &profile->stacks[i];
		struct stack_sum *below = &walk->below[i];

		below->samples += stack->samples;
		below->variance += stack->variance;
		if (stack->parent == PROFILE_NONE)
			continue;
		walk->child[stack->parent] = (uint32_t)i; /* at last the first */
		walk->below[stack->parent].samples += below->samples;
		walk->below[stack->parent].variance += below->variance;
	}
	return 0;
}

void stack_walk_done(struct stack_walk *walk)
{
	free(walk->child);
	free(walk->below);
}

/* Of a finalized profile siblings are neighbours, roots too. */
static uint32_t next_sibling(const struct profile *profile, uint32_t node)
{
	uint32_t next = node + 1;

	if (next == profile->n_stacks)
		return PROFILE_NONE;
	return profile->stacks[next].parent == profile->stacks[node].parent ? next : PROFILE_NONE;
}

void stack_walk_run(const struct stack_walk *walk, stack_walk_visit enter, stack_walk_visit leave,
		    void *userdata)
{
	const struct profile *profile = walk->profile;
	uint32_t node = profile->n_stacks > 0 ? 0 : PROFILE_NONE, next;

	while (node != PROFILE_NONE) {
		enter(walk, node, userdata);
		if (walk->child[node] != PROFILE_NONE) {
			node = walk->child[node];
			continue;
		}
		leave(walk, node, userdata);
		while ((next = next_sibling(profile, node)) == PROFILE_NONE) {
			node = profile->stacks[node].parent;
			if (node == PROFILE_NONE)
				return;
			leave(walk, node, userdata);
		}
		node = next;
	}
}
