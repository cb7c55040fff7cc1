/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows with the same fields are one when a profile is finalized: processes, and rows "other". */
#include "ship/fold.h"

#include <errno.h>
#include <stdlib.h>

#include "common/profile/add-counts.h"
#include "common/profile/limit/limit.h"
#include "common/profile/other.h"
#include "common/profile/tables.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

int fold_processes(struct profile *p)
{
	for (size_t i = 0; i < p->n_processes; i++) {
		struct profile_process *process = &p->processes[i];

		*process = (struct profile_process){
			.pid = -1, .comm = process->comm, .unit = process->unit, .uid = UINT32_MAX
		};
	}
	p->finalized = false;
	return profile_finalize(p);
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

/* Rows follow each other by process: those "other" of one are added up at once. */
static void unite_other_branches(struct profile *p)
{
	struct profile_branch *other = NULL;
	size_t n = 0;

	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch row = p->branches[i];
		bool is_other = other_is_branch(&row);

		if (is_other && other && other->process == row.process) {
			add_counts_of_branch(other, &row);
			continue;
		}
		p->branches[n] = row;
		if (is_other)
			other = &p->branches[n];
		n++;
	}
	p->n_branches = n;
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
	unite_other_branches(p);
}

static void unite_other_blocks(struct profile *p)
{
	struct profile_block *other = NULL;
	size_t n = 0;

	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block row = p->blocks[i];
		bool is_other = other_is_block(&row);

		if (is_other && other && other->process == row.process) {
			add_counts_of_block(other, &row);
			continue;
		}
		p->blocks[n] = row;
		if (is_other)
			other = &p->blocks[n];
		n++;
	}
	p->n_blocks = n;
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
	unite_other_blocks(p);
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

int fold_profile(struct profile *p)
{
	int r = fold_processes(p);

	r = r < 0 ? r : prune_runs(p);
	return r < 0 ? r : prune_trees(p);
}
