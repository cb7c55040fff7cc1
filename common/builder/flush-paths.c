/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Both trees hold parents before what is below them. Of the stacks' tree, memory is given back
 * while the table, as large as the tree, is made. */
#include "common/builder/flush-paths.h"

#include <errno.h>
#include <stdlib.h>

#include "common/builder/path-prune.h"
#include "common/builder/stream.h"
#include "common/util/cleanup.h"

int64_t flush_paths_add_stack(struct flush *f, struct profile_stack *stack, uint32_t context,
			      uint64_t address)
{
	struct profile *p = f->profile;
	uint64_t n = stack->samples + stack->ticks - stack->surplus; /* of others, modulo 2^64 */

	stack->process = f->builder->processes[context];
	if (flush_locate(f, context, address, &stack->frame) < 0)
		return -ENOMEM;
	if (stack->frame.object == PROFILE_NONE)
		p->counters.unmapped += n;
	p->counters.samples += n;
	p->counters.weight += stack->weight;
	p->processes[stack->process].samples += n;
	return f->sums_stacks ? flush_sums_add_stack(&f->stacks, p, stack) :
				profile_add_stack(p, stack);
}

#define DROP_EVERY (32u * 1024) /* nodes of stacks */

/* The index of each node in the profile; on the heap, or NULL. */
static uint32_t *make_map(const struct path_tree *tree)
{
	uint32_t *map = calloc(tree->n_nodes, sizeof(*map));

	if (map)
		map[PATH_ROOT] = PROFILE_NONE;
	return map;
}

int flush_paths_stacks(struct flush *f)
{
	struct path_tree *tree = &f->builder->stacks;
	_cleanup_free_ uint32_t *map = make_map(tree);
	struct profile_counters *c = &f->profile->counters;

	if (!map)
		return -ENOMEM;
	if (!f->sums_stacks &&
	    profile_reserve_stacks(f->profile, tree->n_nodes + f->builder->n_ticks) < 0)
		return -ENOMEM;
	path_tree_drop_index(tree);
	for (size_t i = 1; i < tree->n_nodes; i++) {
		const struct path_node *node = &tree->nodes[i];
		struct profile_stack stack = {
			.parent = map[node->parent],
			.samples = node->hits,
			.stitched = node->stitched,
			.weight = node->amount,
			.pruned = node->pruned,
		};
		int64_t index = flush_paths_add_stack(f, &stack, node->context, node->from);

		if (index < 0)
			return -ENOMEM;
		map[i] = (uint32_t)index;
		c->stacks_pruned += node->pruned;
		if (i % DROP_EVERY == 0)
			path_tree_drop_nodes(tree, i);
	}
	c->stacks_error += tree->rarest;
	return 0;
}

/* A run that lies in two objects or mappings, or in none, ends the stream. */
static bool is_run(const struct location *start, const struct location *end, uint64_t n_bytes)
{
	return start->object == end->object && start->object != PROFILE_NONE &&
	       end->offset - start->offset == n_bytes;
}

/* Sets map[i], to the index of the parent where the stream has ended. */
static int flush_stream(struct flush *f, uint32_t *map, bool *ended, size_t i)
{
	const struct path_tree *tree = &f->builder->streams;
	const struct path_node *node = &tree->nodes[i];
	struct profile_stream stream = {
		.parent = map[node->parent],
		.process = f->builder->processes[node->context],
		.hits = node->hits,
		.pruned = node->pruned,
		.cycles = node->amount,
		.surplus = flush_surplus(f, node->context, node->hits),
	};
	int64_t index;

	if (flush_locate(f, node->context, node->from, &stream.from) < 0 ||
	    flush_locate(f, node->context, node->to, &stream.to) < 0)
		return -ENOMEM;
	ended[i] = ended[node->parent] ||
		   (node->parent != PATH_ROOT &&
		    !is_run(&stream.to, &f->profile->streams[stream.parent].from,
			    tree->nodes[node->parent].from - node->to));
	f->profile->counters.streams += node->hits;
	if (ended[i]) {
		f->profile->streams[stream.parent].hits += node->hits;
		f->profile->streams[stream.parent].surplus += stream.surplus;
		map[i] = stream.parent;
		return 0;
	}
	f->profile->counters.streams_pruned += node->pruned;
	index = profile_add_stream(f->profile, &stream);
	map[i] = (uint32_t)index;
	return index < 0 ? -ENOMEM : 0;
}

int flush_paths_streams(struct flush *f)
{
	struct path_tree *tree = &f->builder->streams;
	struct profile_counters *c = &f->profile->counters;
	_cleanup_free_ uint32_t *map = NULL;
	_cleanup_free_ bool *ended = NULL;
	int r = stream_prune(tree, f->builder->settings.rare_streams);

	if (r < 0)
		return r;
	map = make_map(tree);
	ended = calloc(tree->n_nodes, sizeof(*ended));
	if (!map || !ended)
		return -ENOMEM;
	for (size_t i = 1; i < tree->n_nodes && r >= 0; i++)
		r = flush_stream(f, map, ended, i);
	c->streams_limit += tree->nodes[PATH_ROOT].hits;
	c->streams_error += path_prune_error(tree);
	return r;
}
