/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ranges begin where a run starts or a branch leads, and after the branches. So these places are
 * sorted, what begins and what ended at each is added up, and one walk over them has at any time
 * the number of runs under way.
 */
#include "common/profile/ranges.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* Where a range may begin; what is said of branches is of the one that ends there. */
struct cut {
	uint64_t offset;
	bool is_target, is_branch;
	uint64_t starts, ends;
	uint64_t cycles, cycles_rows;
	uint64_t rows, mispredicted, predicted;
};

struct cuts {
	struct cut *cuts;
	size_t n;
};

static bool is_sound(const struct profile_block *block)
{
	return block->start <= block->end && block->end < UINT64_MAX;
}

static void add(struct cuts *cuts, const struct cut *cut)
{
	cuts->cuts[cuts->n++] = *cut;
}

static void add_block(struct cuts *cuts, const struct profile_block *block)
{
	add(cuts,
	    &(struct cut){ .offset = block->start, .is_target = true, .starts = block->runs });
	add(cuts, &(struct cut){
			  .offset = block->end + 1,
			  .is_branch = true,
			  .ends = block->runs,
			  .cycles = block->cycles,
			  .cycles_rows = block->cycles_rows,
		  });
}

static void add_branch(struct cuts *cuts, const struct profile_branch *branch, uint32_t object)
{
	if (branch->to.object == object)
		add(cuts, &(struct cut){ .offset = branch->to.offset, .is_target = true });
	if (branch->from.object == object && branch->from.offset < UINT64_MAX)
		add(cuts, &(struct cut){
				  .offset = branch->from.offset + 1,
				  .is_branch = true,
				  .rows = branch->taken,
				  .mispredicted = branch->mispredicted,
				  .predicted = branch->predicted,
			  });
}

static int compare_cuts(const void *p, const void *q)
{
	const struct cut *a = p, *b = q;

	return COMPARE(a->offset, b->offset);
}

/* Sorts them, and makes one of those at one place. */
static void fold(struct cuts *cuts)
{
	size_t n = 0;

	qsort(cuts->cuts, cuts->n, sizeof(*cuts->cuts), compare_cuts);
	for (size_t i = 0; i < cuts->n; i++) {
		const struct cut *cut = &cuts->cuts[i];
		struct cut *last = n > 0 ? &cuts->cuts[n - 1] : NULL;

		if (!last || last->offset != cut->offset) {
			cuts->cuts[n++] = *cut;
			continue;
		}
		last->is_target |= cut->is_target;
		last->is_branch |= cut->is_branch;
		last->starts += cut->starts;
		last->ends += cut->ends;
		last->cycles += cut->cycles;
		last->cycles_rows += cut->cycles_rows;
		last->rows += cut->rows;
		last->mispredicted += cut->mispredicted;
		last->predicted += cut->predicted;
	}
	cuts->n = n;
}

static struct profile_range make_range(const struct cut *from, const struct cut *to,
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

static int collect(struct cuts *cuts, const struct profile *p, uint32_t object)
{
	cuts->cuts = calloc(2 * (p->n_blocks + p->n_branches) + 1, sizeof(*cuts->cuts));
	if (!cuts->cuts)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].object == object && is_sound(&p->blocks[i]))
			add_block(cuts, &p->blocks[i]);
	for (size_t i = 0; i < p->n_branches; i++)
		add_branch(cuts, &p->branches[i], object);
	fold(cuts);
	return 0;
}

int profile_ranges(struct profile_range **ret, size_t *ret_n, const struct profile *profile,
		   uint32_t object)
{
	struct cuts cuts = {};
	_cleanup_free_ struct cut *owner = NULL;
	struct profile_range *ranges;
	uint64_t coverage = 0;
	size_t n = 0;

	assert(profile->finalized);

	if (collect(&cuts, profile, object) < 0)
		return -ENOMEM;
	owner = cuts.cuts;
	ranges = calloc(cuts.n + 1, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i + 1 < cuts.n; i++) {
		coverage += owner[i].starts - owner[i].ends;
		if (coverage > 0)
			ranges[n++] = make_range(&owner[i], &owner[i + 1], coverage);
	}
	*ret = ranges;
	*ret_n = n;
	return 0;
}
