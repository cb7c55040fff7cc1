/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sealing the long tables: stacks, branches and blocks.
 *
 * With ranks for places the key of every one of them is three 32-bit words, which one radix sort
 * puts in order. Stacks are sorted level by level, since the key of a node holds the new index of
 * its parent. The rows, which are large, then move once, where they are.
 */
#include "common/profile/seal.h"

#include <string.h>

#include "common/util/cleanup.h"

/*
 * *@ret_order is the nodes level by level, the roots first; *@ret_levels where each level begins
 * and, after the last one, the number of nodes.
 */
static int order_by_level(const struct profile *p, uint32_t **ret_order, size_t **ret_levels,
			  size_t *ret_n_levels)
{
	_cleanup_free_ uint32_t *order = NULL, *level = NULL;
	_cleanup_free_ size_t *levels = NULL;
	size_t n_levels = 0;

	if (ALLOCATE(&order, p->n_stacks) < 0 || ALLOCATE(&level, p->n_stacks) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++) {
		uint32_t parent = p->stacks[i].parent;

		level[i] = parent == PROFILE_NONE ? 0 : level[parent] + 1;
		n_levels = MAX(n_levels, (size_t)level[i] + 1);
	}

	/* a counting sort: levels[l + 1] is first the size, then the running end of level l */
	levels = calloc(n_levels + 2, sizeof(*levels));
	if (!levels)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++)
		levels[level[i] + 2]++;
	for (size_t l = 2; l <= n_levels; l++)
		levels[l] += levels[l - 1];
	for (size_t i = 0; i < p->n_stacks; i++)
		order[levels[level[i] + 1]++] = (uint32_t)i;

	*ret_order = TAKE_PTR(order);
	*ret_levels = TAKE_PTR(levels);
	*ret_n_levels = n_levels;
	return 0;
}

/* The node's key; its parent has its new index already. */
static struct radix_key stack_key(const struct seal *s, uint32_t i)
{
	const struct profile_stack *stack = &s->p->stacks[i];
	uint32_t parent = stack->parent;

	return (struct radix_key){
		.word = { parent == PROFILE_NONE ? 0 : s->stack_map[parent],
			  map_process(s, stack->process), s->rank[i] },
		.index = i,
	};
}

/* Puts the nodes of one level, the @n of @order, in order; @n_before distinct ones precede them. */
static size_t sort_level(struct seal *s, uint32_t *order, size_t n, size_t n_before)
{
	size_t n_distinct = n_before;

	for (size_t i = 0; i < n; i++)
		s->keys[i] = stack_key(s, order[i]);
	radix_sort(s->keys, s->spare, n);
	for (size_t i = 0; i < n; i++) {
		n_distinct += i == 0 || radix_compare(&s->keys[i - 1], &s->keys[i]) != 0;
		order[i] = s->keys[i].index;
		s->stack_map[order[i]] = (uint32_t)(n_distinct - 1);
	}
	return n_distinct;
}

int order_stacks(struct seal *s)
{
	_cleanup_free_ size_t *levels = NULL;
	size_t n_levels, n = 0;

	if (ALLOCATE(&s->stack_map, s->p->n_stacks) < 0 ||
	    order_by_level(s->p, &s->stack_order, &levels, &n_levels) < 0)
		return -ENOMEM;
	for (size_t l = 0; l < n_levels; l++)
		n = sort_level(s, s->stack_order + levels[l], levels[l + 1] - levels[l], n);
	return 0;
}

/* Sorts the first @n keys; *@ret is the order of their rows. */
static int order_rows(struct seal *s, size_t n, uint32_t **ret)
{
	uint32_t *order;

	if (ALLOCATE(&order, n) < 0)
		return -ENOMEM;
	radix_sort(s->keys, s->spare, n);
	for (size_t i = 0; i < n; i++)
		order[i] = s->keys[i].index;
	*ret = order;
	return 0;
}

int order_branches(struct seal *s)
{
	const uint32_t *from = s->rank + mention_from(s->p), *to = s->rank + mention_to(s->p);
	const struct profile *p = s->p;

	for (size_t i = 0; i < p->n_branches; i++)
		s->keys[i] = (struct radix_key){
			.word = { map_process(s, p->branches[i].process), from[i], to[i] },
			.index = (uint32_t)i,
		};
	return order_rows(s, p->n_branches, &s->branch_order);
}

int order_blocks(struct seal *s)
{
	const uint32_t *start = s->rank + mention_start(s->p), *end = s->rank + mention_end(s->p);
	const struct profile *p = s->p;

	for (size_t i = 0; i < p->n_blocks; i++)
		s->keys[i] = (struct radix_key){
			.word = { map_process(s, p->blocks[i].process), start[i], end[i] },
			.index = (uint32_t)i,
		};
	return order_rows(s, p->n_blocks, &s->block_order);
}

/*
 * Brings the @n rows of @size bytes into @order in place, following each cycle of the permutation
 * once round; @order is used up. Inlined, so that the size is a constant.
 */
static inline __attribute__((always_inline)) void permute(void *table, size_t size, uint32_t *order,
							  size_t n)
{
	unsigned char *rows = table, held[128];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i, next;

		if (order[i] == i)
			continue;
		memcpy(held, rows + i * size, size);
		for (; (next = order[at]) != i; at = next) {
			memcpy(rows + at * size, rows + next * size, size);
			order[at] = at;
		}
		memcpy(rows + at * size, held, size);
		order[at] = at;
	}
}

static inline bool same_location(struct location a, struct location b)
{
	return a.object == b.object && a.offset == b.offset;
}

void apply_stacks(struct seal *s, struct profile *p)
{
	size_t n = 0;

	permute(p->stacks, sizeof(*p->stacks), s->stack_order, p->n_stacks);
	for (size_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack row = p->stacks[i], *last = n > 0 ? &p->stacks[n - 1] : NULL;

		if (row.parent != PROFILE_NONE)
			row.parent = s->stack_map[row.parent];
		row.process = map_process(s, row.process);
		row.frame.object = map_object(s, row.frame.object);
		if (!last || row.parent != last->parent || row.process != last->process ||
		    !same_location(row.frame, last->frame)) {
			p->stacks[n++] = row;
			continue;
		}
		last->samples += row.samples;
		last->stitched += row.stitched;
		last->weight += row.weight;
	}
	p->n_stacks = n;
}

void apply_branches(struct seal *s, struct profile *p)
{
	size_t n = 0;

	permute(p->branches, sizeof(*p->branches), s->branch_order, p->n_branches);
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch row = p->branches[i];
		struct profile_branch *last = n > 0 ? &p->branches[n - 1] : NULL;

		row.process = map_process(s, row.process);
		row.from.object = map_object(s, row.from.object);
		row.to.object = map_object(s, row.to.object);
		if (!last || row.process != last->process || !same_location(row.from, last->from) ||
		    !same_location(row.to, last->to)) {
			p->branches[n++] = row;
			continue;
		}
		last->taken += row.taken;
		last->mispredicted += row.mispredicted;
		last->aborted += row.aborted;
		last->cycles += row.cycles;
		last->cycles_rows += row.cycles_rows;
	}
	p->n_branches = n;
}

void apply_blocks(struct seal *s, struct profile *p)
{
	size_t n = 0;

	permute(p->blocks, sizeof(*p->blocks), s->block_order, p->n_blocks);
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block row = p->blocks[i];
		struct profile_block *last = n > 0 ? &p->blocks[n - 1] : NULL;

		row.process = map_process(s, row.process);
		row.object = map_object(s, row.object);
		if (!last || row.process != last->process || row.object != last->object ||
		    row.start != last->start || row.end != last->end) {
			p->blocks[n++] = row;
			continue;
		}
		last->runs += row.runs;
		last->cycles += row.cycles;
		last->cycles_rows += row.cycles_rows;
	}
	p->n_blocks = n;
}
