/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/stack-walk.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int stack_walk_init(struct stack_walk *walk, const struct profile *profile)
{
	size_t n = profile->n_stacks;

	assert(profile->finalized);

	*walk = (struct stack_walk){ .profile = profile, .root = PROFILE_NONE };
	walk->child = malloc((n + 1) * sizeof(*walk->child));
	walk->next = malloc((n + 1) * sizeof(*walk->next));
	walk->below = calloc(n + 1, sizeof(*walk->below));
	walk->variance_below = calloc(n + 1, sizeof(*walk->variance_below));
	if (!walk->child || !walk->next || !walk->below || !walk->variance_below)
		return -ENOMEM;

	for (size_t i = 0; i < n; i++)
		walk->child[i] = PROFILE_NONE;
	for (size_t i = n; i-- > 0;) {
		uint32_t parent = profile->stacks[i].parent;
		uint32_t *first = parent == PROFILE_NONE ? &walk->root : &walk->child[parent];

		walk->next[i] = *first;
		*first = (uint32_t)i;
		walk->below[i] += profile->stacks[i].samples;
		walk->variance_below[i] += profile->stacks[i].variance;
		if (parent == PROFILE_NONE)
			continue;
		walk->below[parent] += walk->below[i];
		walk->variance_below[parent] += walk->variance_below[i];
	}
	return 0;
}

void stack_walk_done(struct stack_walk *walk)
{
	free(walk->child);
	free(walk->next);
	free(walk->below);
	free(walk->variance_below);
}

void stack_walk_run(const struct stack_walk *walk, stack_walk_visit enter, stack_walk_visit leave,
		    void *userdata)
{
	uint32_t node = walk->root;

	while (node != PROFILE_NONE) {
		enter(walk, node, userdata);
		if (walk->child[node] != PROFILE_NONE) {
			node = walk->child[node];
			continue;
		}
		leave(walk, node, userdata);
		while (walk->next[node] == PROFILE_NONE) {
			node = walk->profile->stacks[node].parent;
			if (node == PROFILE_NONE)
				return;
			leave(walk, node, userdata);
		}
		node = walk->next[node];
	}
}
