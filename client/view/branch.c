/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows are sorted by location, so that equal ones are neighbours and can be summed; then by heat.
 */
#include "client/view/branch.h"

#include <errno.h>
#include <stdlib.h>

#include "client/stats/interval.h"
#include "client/view/view.h"
#include "common/profile/add-counts.h"
#include "common/profile/other.h"
#include "common/profile/scale.h"
#include "common/util/array.h"
#include "common/util/compare.h"

static int compare_branch_places(const void *p, const void *q)
{
	const struct profile_branch *a = p, *b = q;
	int r = view_compare_locations(a->from, b->from);

	return r ? r : view_compare_locations(a->to, b->to);
}

static int compare_branches(const void *p, const void *q)
{
	const struct profile_branch *a = p, *b = q;

	return a->taken != b->taken ? COMPARE(b->taken, a->taken) : compare_branch_places(p, q);
}

static int compare_block_places(const void *p, const void *q)
{
	const struct profile_block *a = p, *b = q;

	if (a->object != b->object)
		return COMPARE(a->object, b->object);
	if (a->start != b->start)
		return COMPARE(a->start, b->start);
	return COMPARE(a->end, b->end);
}

/* Without cycles this is the order of runs. */
static int compare_blocks(const void *p, const void *q)
{
	const struct profile_block *a = p, *b = q;

	if (a->cycles != b->cycles)
		return COMPARE(b->cycles, a->cycles);
	if (a->runs != b->runs)
		return COMPARE(b->runs, a->runs);
	return compare_block_places(p, q);
}

/* Those that stand for others are none to show: see other.h. */
static size_t copy_branches(struct profile_branch *rows, const struct profile *profile)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->n_branches; i++)
		if (!other_is_branch(&profile->branches[i]))
			rows[n++] = profile->branches[i];
	return n;
}

static size_t copy_blocks(struct profile_block *rows, const struct profile *profile)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->n_blocks; i++)
		if (!other_is_block(&profile->blocks[i]))
			rows[n++] = profile->blocks[i];
	return n;
}

/* Adds up those with equal ends; the number of rows that are left. */
static size_t sum_branches(struct profile_branch *rows, size_t n_rows)
{
	size_t n = 0;

	if (n_rows > 1)
		qsort(rows, n_rows, sizeof(*rows), compare_branch_places);
	for (size_t i = 0; i < n_rows; i++)
		if (n > 0 && compare_branch_places(&rows[n - 1], &rows[i]) == 0)
			add_counts_of_branch(&rows[n - 1], &rows[i]);
		else {
			rows[n] = rows[i];
			rows[n++].process = PROFILE_NONE;
		}
	if (n > 1)
		qsort(rows, n, sizeof(*rows), compare_branches);
	return n;
}

int view_branches(struct profile_branch **ret, size_t *ret_n, const struct profile *profile)
{
	struct profile_branch *rows;

	if (ARRAY_ALLOCATE(&rows, profile->n_branches) < 0)
		return -ENOMEM;
	*ret = rows;
	*ret_n = sum_branches(rows, copy_branches(rows, profile));
	return 0;
}

size_t view_pair_functions(struct profile_branch *rows, size_t n, const struct profile *profile)
{
	struct location at = { 0 }, start = { 0 };

	for (size_t i = 0; i < n; i++) {
		/* the branches of an instruction are neighbours */
		if (i == 0 || view_compare_locations(rows[i].from, at) != 0) {
			at = rows[i].from;
			start = view_function_start(profile, at);
		}
		rows[i].from = start;
		rows[i].to = view_function_start(profile, rows[i].to);
	}
	return sum_branches(rows, n);
}

int view_branch_pairs(struct profile_branch **ret, size_t *ret_n, const struct profile *profile)
{
	struct profile_branch *rows;

	if (ARRAY_ALLOCATE(&rows, profile->n_branches) < 0)
		return -ENOMEM;
	*ret = rows;
	*ret_n = view_pair_functions(rows, copy_branches(rows, profile), profile);
	return 0;
}

int view_blocks(struct profile_block **ret, size_t *ret_n, const struct profile *profile)
{
	struct profile_block *rows;
	size_t n = 0, n_rows;

	if (ARRAY_ALLOCATE(&rows, profile->n_blocks) < 0)
		return -ENOMEM;
	n_rows = copy_blocks(rows, profile);
	qsort(rows, n_rows, sizeof(*rows), compare_block_places);
	for (size_t i = 0; i < n_rows; i++)
		if (n > 0 && compare_block_places(&rows[n - 1], &rows[i]) == 0)
			add_counts_of_block(&rows[n - 1], &rows[i]);
		else {
			rows[n] = rows[i];
			rows[n++].process = PROFILE_NONE;
		}
	qsort(rows, n, sizeof(*rows), compare_blocks);
	*ret = rows;
	*ret_n = n;
	return 0;
}

double view_branch_surely(const struct profile_counters *counters,
			  const struct profile_branch *branch)
{
	return interval_of_estimate(branch->mispredicted, branch->mispredicted + branch->predicted,
				    profile_row_unit(counters, branch->taken, branch->variance))
		.low;
}

uint64_t view_block_cycles(const struct profile *profile)
{
	uint64_t cycles = 0;

	for (size_t i = 0; i < profile->n_blocks; i++)
		cycles += profile->blocks[i].cycles;
	return cycles;
}
