/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A range begins at the start of a run, at the target of a branch, or behind a branch. These
 * offsets are the boundaries. They are sorted, and equal ones merged. One pass over them then knows
 * at each the number of runs that started and did not end yet.
 */
#include "common/profile/ranges.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/profile/other.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* An offset where a range begins, with the counts of the branch right before it. */
struct boundary {
	uint64_t offset;
	bool is_target, is_branch;
	uint64_t starts, ends;
	uint64_t cycles, cycles_rows;
	uint64_t rows, mispredicted, predicted;
};

struct boundaries {
	struct boundary *boundaries;
	size_t n;
};

static bool is_sound(const struct profile_block *block)
{
	return block->start <= block->end && block->end < UINT64_MAX;
}

static void add(struct boundaries *boundaries, const struct boundary *boundary)
{
	boundaries->boundaries[boundaries->n++] = *boundary;
}

static void add_block(struct boundaries *boundaries, const struct profile_block *block)
{
	add(boundaries,
	    &(struct boundary){ .offset = block->start, .is_target = true, .starts = block->runs });
	add(boundaries, &(struct boundary){
				.offset = block->end + 1,
				.is_branch = true,
				.ends = block->runs,
				.cycles = block->cycles,
				.cycles_rows = block->cycles_rows,
			});
}

static void add_branch(struct boundaries *boundaries, const struct profile_branch *branch,
		       uint32_t object)
{
	if (branch->to.object == object)
		add(boundaries,
		    &(struct boundary){ .offset = branch->to.offset, .is_target = true });
	if (branch->from.object == object && branch->from.offset < UINT64_MAX)
		add(boundaries, &(struct boundary){
					.offset = branch->from.offset + 1,
					.is_branch = true,
					.rows = branch->taken,
					.mispredicted = branch->mispredicted,
					.predicted = branch->predicted,
				});
}

static int compare_boundaries(const void *p, const void *q)
{
	const struct boundary *a = p, *b = q;

	return COMPARE(a->offset, b->offset);
}

/* Sorts the boundaries and merges those with equal offsets. */
static void merge_equal(struct boundaries *boundaries)
{
	size_t n = 0;

	qsort(boundaries->boundaries, boundaries->n, sizeof(*boundaries->boundaries),
	      compare_boundaries);
	for (size_t i = 0; i < boundaries->n; i++) {
		const struct boundary *boundary = &boundaries->boundaries[i];
		struct boundary *last = n > 0 ? &boundaries->boundaries[n - 1] : NULL;

		if (!last || last->offset != boundary->offset) {
			boundaries->boundaries[n++] = *boundary;
			continue;
		}
		last->is_target |= boundary->is_target;
		last->is_branch |= boundary->is_branch;
		last->starts += boundary->starts;
		last->ends += boundary->ends;
		last->cycles += boundary->cycles;
		last->cycles_rows += boundary->cycles_rows;
		last->rows += boundary->rows;
		last->mispredicted += boundary->mispredicted;
		last->predicted += boundary->predicted;
	}
	boundaries->n = n;
}

static struct profile_range make_range(const struct boundary *from, const struct boundary *to,
				       uint64_t coverage)
{
	return (struct profile_range){
		.start = from->offset,
		.end = to->offset - 1,
		.is_target = from->is_target,
		.is_branch = to->is_branch,
		.coverage = coverage,
		.entry = from->starts,
		.taken = to->ends,
		.cycles = to->cycles,
		.cycles_rows = to->cycles_rows,
		.rows = to->rows,
		.mispredicted = to->mispredicted,
		.predicted = to->predicted,
	};
}

static int collect(struct boundaries *boundaries, const struct profile *p, uint32_t object)
{
	boundaries->boundaries =
		calloc(2 * (p->n_blocks + p->n_branches) + 1, sizeof(*boundaries->boundaries));
	if (!boundaries->boundaries)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].object == object && is_sound(&p->blocks[i]))
			add_block(boundaries, &p->blocks[i]);
	for (size_t i = 0; i < p->n_branches; i++)
		if (!other_is_branch(&p->branches[i]))
			add_branch(boundaries, &p->branches[i], object);
	merge_equal(boundaries);
	return 0;
}

int profile_ranges(struct profile_range **ret, size_t *ret_n, const struct profile *profile,
		   uint32_t object)
{
	struct boundaries boundaries = {};
	_cleanup_free_ struct boundary *owner = NULL;
	struct profile_range *ranges;
	uint64_t coverage = 0;
	size_t n = 0;

	assert(profile->finalized);

	if (collect(&boundaries, profile, object) < 0)
		return -ENOMEM;
	owner = boundaries.boundaries;
	ranges = calloc(boundaries.n + 1, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i + 1 < boundaries.n; i++) {
		coverage += owner[i].starts - owner[i].ends;
		if (coverage > 0)
			ranges[n++] = make_range(&owner[i], &owner[i + 1], coverage);
	}
	*ret = ranges;
	*ret_n = n;
	return 0;
}
