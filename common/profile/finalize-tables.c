/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finalizing the long tables: stacks, streams, branches and blocks.
 *
 * With ranks instead of locations every key is three 32-bit words, which one radix sort puts in
 * order. Stacks and streams are sorted level by level, because the key of a node has the new index
 * of its parent. The rows, which are large, then move once, in place.
 */
#include "common/profile/finalize-internal.h"

#include <stddef.h>
#include <string.h>

#include "common/profile/add-counts.h"
#include "common/util/cleanup.h"

/* A table whose rows form a tree: each row begins with the index of its parent. */
struct tree {
	const void *rows;
	size_t n, size;
};

_Static_assert(offsetof(struct profile_stack, parent) == 0, "a stack begins with its parent");
_Static_assert(offsetof(struct profile_stream, parent) == 0, "a stream begins with its parent");

static inline uint32_t parent_of(const struct tree *tree, size_t i)
{
	uint32_t parent;

	memcpy(&parent, (const char *)tree->rows + i * tree->size, sizeof(parent));
	return parent;
}

/*
 * *@ret_order: the nodes, level by level, roots first. *@ret_levels: the first index of each level,
 * then the number of nodes.
 */
static int order_by_level(const struct tree *tree, uint32_t **ret_order, size_t **ret_levels,
			  size_t *ret_n_levels)
{
	_cleanup_free_ uint32_t *order = NULL, *level = NULL;
	_cleanup_free_ size_t *levels = NULL;
	size_t n_levels = 0;

	if (ARRAY_ALLOCATE(&order, tree->n) < 0 || ARRAY_ALLOCATE(&level, tree->n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < tree->n; i++) {
		uint32_t parent = parent_of(tree, i);

		level[i] = parent == PROFILE_NONE ? 0 : level[parent] + 1;
		n_levels = MAX(n_levels, (size_t)level[i] + 1);
	}

	/* a counting sort: levels[l + 1] is first the size, then the current end of level l */
	levels = calloc(n_levels + 2, sizeof(*levels));
	if (!levels)
		return -ENOMEM;
	for (size_t i = 0; i < tree->n; i++)
		levels[level[i] + 2]++;
	for (size_t l = 2; l <= n_levels; l++)
		levels[l] += levels[l - 1];
	for (size_t i = 0; i < tree->n; i++)
		order[levels[level[i] + 1]++] = (uint32_t)i;

	*ret_order = TAKE_PTR(order);
	*ret_levels = TAKE_PTR(levels);
	*ret_n_levels = n_levels;
	return 0;
}

/* The key of a node, whose parent has its new index already. */
typedef struct radix_key (*node_key)(const struct finalize *s, uint32_t i);

static struct radix_key stack_key(const struct finalize *s, uint32_t i)
{
	const struct profile_stack *stack = &s->p->stacks[i];
	uint32_t parent = stack->parent;

	return (struct radix_key){
		.word = { parent == PROFILE_NONE ? 0 : s->stack_map[parent],
			  finalize_map_process(s, stack->process), s->rank[i] },
		.index = i,
	};
}

/* A node has the process of its parent, so only roots need it; they are a level of their own. */
static struct radix_key stream_key(const struct finalize *s, uint32_t i)
{
	const struct profile_stream *stream = &s->p->streams[i];
	uint32_t parent = stream->parent;

	return (struct radix_key){
		.word = { parent == PROFILE_NONE ? finalize_map_process(s, stream->process) :
						   s->stream_map[parent],
			  s->rank[location_ref_stream_from(s->p) + i],
			  s->rank[location_ref_stream_to(s->p) + i] },
		.index = i,
	};
}

/*
 * Sorts the @n nodes of one level in @order and sets their new indices in @map. @n_before distinct
 * nodes precede them. Returns the number of distinct nodes so far.
 */
static size_t sort_level(struct finalize *s, node_key key_of, uint32_t *order, size_t n,
			 size_t n_before, uint32_t *map)
{
	size_t n_distinct = n_before;

	for (size_t i = 0; i < n; i++)
		s->keys[i] = key_of(s, order[i]);
	radix_sort(s->keys, s->keys + n, n);
	for (size_t i = 0; i < n; i++) {
		n_distinct += i == 0 || radix_compare(&s->keys[i - 1], &s->keys[i]) != 0;
		order[i] = s->keys[i].index;
		map[order[i]] = (uint32_t)(n_distinct - 1);
	}
	return n_distinct;
}

static int order_tree(struct finalize *s, const struct tree *tree, node_key key_of,
		      uint32_t **ret_order, uint32_t **ret_map)
{
	_cleanup_free_ size_t *levels = NULL;
	size_t n_levels, n = 0;

	if (ARRAY_ALLOCATE(ret_map, tree->n) < 0 ||
	    order_by_level(tree, ret_order, &levels, &n_levels) < 0)
		return -ENOMEM;
	for (size_t l = 0; l < n_levels; l++)
		n = sort_level(s, key_of, *ret_order + levels[l], levels[l + 1] - levels[l], n,
			       *ret_map);
	return 0;
}

int finalize_order_stacks(struct finalize *s)
{
	const struct tree tree = { s->p->stacks, s->p->n_stacks, sizeof(*s->p->stacks) };

	return order_tree(s, &tree, stack_key, &s->stack_order, &s->stack_map);
}

int finalize_order_streams(struct finalize *s)
{
	const struct tree tree = { s->p->streams, s->p->n_streams, sizeof(*s->p->streams) };

	return order_tree(s, &tree, stream_key, &s->stream_order, &s->stream_map);
}

/* Sorts the first @n keys and overwrites the ranks in them with the order of the rows. */
static uint32_t *order_rows(struct finalize *s, uint32_t *ranks, size_t n)
{
	radix_sort(s->keys, s->keys + n, n);
	for (size_t i = 0; i < n; i++)
		ranks[i] = s->keys[i].index;
	return ranks;
}

void finalize_order_branches(struct finalize *s)
{
	uint32_t *from = s->rank + location_ref_from(s->p), *to = s->rank + location_ref_to(s->p);
	const struct profile *p = s->p;

	for (size_t i = 0; i < p->n_branches; i++)
		s->keys[i] = (struct radix_key){
			.word = { finalize_map_process(s, p->branches[i].process), from[i], to[i] },
			.index = (uint32_t)i,
		};
	s->branch_order = order_rows(s, from, p->n_branches);
}

void finalize_order_blocks(struct finalize *s)
{
	uint32_t *start = s->rank + location_ref_start(s->p),
		 *end = s->rank + location_ref_end(s->p);
	const struct profile *p = s->p;

	for (size_t i = 0; i < p->n_blocks; i++)
		s->keys[i] = (struct radix_key){
			.word = { finalize_map_process(s, p->blocks[i].process), start[i], end[i] },
			.index = (uint32_t)i,
		};
	s->block_order = order_rows(s, start, p->n_blocks);
}

/*
 * Brings the @n rows of @size bytes into @order, in place, by following each cycle of the
 * permutation. Overwrites @order. Inlined, so that the size is a constant.
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
			__builtin_prefetch(rows + order[next] * size);
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

void finalize_apply_stacks(struct finalize *s, struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		s->draft.stack_places[s->stack_map[i]] = s->rank[i];
	permute(p->stacks, sizeof(*p->stacks), s->stack_order, p->n_stacks);
	for (size_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack row = p->stacks[i], *last = n > 0 ? &p->stacks[n - 1] : NULL;

		if (row.parent != PROFILE_NONE)
			row.parent = s->stack_map[row.parent];
		row.process = finalize_map_process(s, row.process);
		row.frame.object = finalize_map_object(s, row.frame.object);
		if (!last || row.parent != last->parent || row.process != last->process ||
		    !same_location(row.frame, last->frame)) {
			p->stacks[n++] = row;
			continue;
		}
		add_counts_of_stack(last, &row);
	}
	p->n_stacks = n;
}

void finalize_apply_streams(struct finalize *s, struct profile *p)
{
	size_t n = 0;

	permute(p->streams, sizeof(*p->streams), s->stream_order, p->n_streams);
	for (size_t i = 0; i < p->n_streams; i++) {
		struct profile_stream row = p->streams[i];
		struct profile_stream *last = n > 0 ? &p->streams[n - 1] : NULL;

		if (row.parent != PROFILE_NONE)
			row.parent = s->stream_map[row.parent];
		row.process = finalize_map_process(s, row.process);
		row.from.object = finalize_map_object(s, row.from.object);
		row.to.object = finalize_map_object(s, row.to.object);
		if (!last || row.parent != last->parent || row.process != last->process ||
		    !same_location(row.from, last->from) || !same_location(row.to, last->to)) {
			p->streams[n++] = row;
			continue;
		}
		add_counts_of_stream(last, &row);
	}
	p->n_streams = n;
}

void finalize_apply_branches(struct finalize *s, struct profile *p)
{
	size_t n = 0;

	permute(p->branches, sizeof(*p->branches), s->branch_order, p->n_branches);
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch row = p->branches[i];
		struct profile_branch *last = n > 0 ? &p->branches[n - 1] : NULL;

		row.process = finalize_map_process(s, row.process);
		row.from.object = finalize_map_object(s, row.from.object);
		row.to.object = finalize_map_object(s, row.to.object);
		if (!last || row.process != last->process || !same_location(row.from, last->from) ||
		    !same_location(row.to, last->to)) {
			p->branches[n++] = row;
			continue;
		}
		add_counts_of_branch(last, &row);
	}
	p->n_branches = n;
}

void finalize_apply_blocks(struct finalize *s, struct profile *p)
{
	size_t n = 0;

	permute(p->blocks, sizeof(*p->blocks), s->block_order, p->n_blocks);
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block row = p->blocks[i];
		struct profile_block *last = n > 0 ? &p->blocks[n - 1] : NULL;

		row.process = finalize_map_process(s, row.process);
		row.object = finalize_map_object(s, row.object);
		if (!last || row.process != last->process || row.object != last->object ||
		    row.start != last->start || row.end != last->end) {
			p->blocks[n++] = row;
			continue;
		}
		add_counts_of_block(last, &row);
	}
	p->n_blocks = n;
}
