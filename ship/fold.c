/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What has the same fields is one when it is merged: processes, and rows "other". */
#include "ship/fold.h"

#include <errno.h>
#include <stdlib.h>

#include "common/profile/limit.h"
#include "common/profile/other.h"
#include "common/profile/tables.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

int fold_processes(struct profile **profile)
{
	const struct profile *parts[] = { *profile };
	struct profile *united;
	int r;

	for (size_t i = 0; i < (*profile)->n_processes; i++) {
		struct profile_process *process = &(*profile)->processes[i];

		*process = (struct profile_process){
			.pid = -1, .comm = process->comm, .unit = process->unit, .uid = UINT32_MAX
		};
	}
	r = profile_merge(&united, parts, 1);
	if (r < 0)
		return r;
	profile_free(*profile);
	*profile = united;
	return 0;
}

struct ranked {
	uint64_t weight;
	size_t row;
};

/* The heaviest first; of equal ones the first. */
static int compare(const void *p, const void *q)
{
	const struct ranked *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(b->weight, a->weight));
	return COMPARE(a->row, b->row);
}

static void prune_branches(struct profile *p, struct ranked *ranked)
{
	for (size_t i = 0; i < p->n_branches; i++)
		ranked[i] = (struct ranked){ p->branches[i].taken, i };
	if (p->n_branches > 0)
		qsort(ranked, p->n_branches, sizeof(*ranked), compare);
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch *branch = &p->branches[ranked[i].row];
		const struct profile_branch other = other_branch(branch->process, PROFILE_NONE);

		if (i < FOLD_MAX_ROWS && !other_is_branch(branch))
			continue;
		branch->from = other.from;
		branch->to = other.to;
	}
}

static void prune_blocks(struct profile *p, struct ranked *ranked)
{
	for (size_t i = 0; i < p->n_blocks; i++)
		ranked[i] = (struct ranked){ p->blocks[i].runs, i };
	if (p->n_blocks > 0)
		qsort(ranked, p->n_blocks, sizeof(*ranked), compare);
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block *block = &p->blocks[ranked[i].row];
		const struct profile_block other = other_block(block->process, PROFILE_NONE);

		if (i < FOLD_MAX_ROWS && !other_is_block(block))
			continue;
		block->object = other.object;
		block->start = other.start;
		block->end = other.end;
	}
}

static int prune_runs(struct profile *p)
{
	_cleanup_free_ struct ranked *ranked =
		calloc(MAX(p->n_branches, p->n_blocks) + 1, sizeof(*ranked));

	if (!ranked)
		return -ENOMEM;
	prune_branches(p, ranked);
	prune_blocks(p, ranked);
	p->finalized = false;
	return profile_finalize(p);
}

static uint64_t limit_of(uint32_t uid, void *userdata)
{
	return *(const uint64_t *)userdata;
}

static int prune_trees(struct profile *p)
{
	uint64_t max_stacks = FOLD_MAX_ROWS, max_streams = FOLD_MAX_STREAMS;
	int r = profile_limit_tables(p, PROFILE_TABLE(PROFILE_STACKS), limit_of, &max_stacks);

	r = r > 0 ? profile_finalize(p) : r;
	if (r < 0)
		return r;
	r = profile_limit_tables(p, PROFILE_TABLE(PROFILE_STREAMS), limit_of, &max_streams);
	return r > 0 ? profile_finalize(p) : r;
}

int fold_profile(struct profile **profile)
{
	int r = fold_processes(profile);

	r = r < 0 ? r : prune_runs(*profile);
	return r < 0 ? r : prune_trees(*profile);
}
