/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/profile/other.h"
#include "ship/fold.h"
#include "tests/synthetic/window.h"

struct sums {
	uint64_t samples, weight, taken, mispredicted, branch_cycles, runs, block_cycles;
};

static struct sums sum_up(const struct profile *p)
{
	struct sums sums = {};

	for (size_t i = 0; i < p->n_stacks; i++) {
		sums.samples += p->stacks[i].samples;
		sums.weight += p->stacks[i].weight;
	}
	for (size_t i = 0; i < p->n_branches; i++) {
		sums.taken += p->branches[i].taken;
		sums.mispredicted += p->branches[i].mispredicted;
		sums.branch_cycles += p->branches[i].cycles;
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		sums.runs += p->blocks[i].runs;
		sums.block_cycles += p->blocks[i].cycles;
	}
	return sums;
}

static uint64_t least_taken(const struct profile *p)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < p->n_branches; i++)
		if (!other_is_branch(&p->branches[i]) && p->branches[i].taken < least)
			least = p->branches[i].taken;
	return least;
}

static void test_sums_stay(void **state)
{
	struct profile *p = synthetic_profile(&synthetic_busy, 3);
	struct sums before = sum_up(p), after;
	size_t n_units = 10, n_other = 0;

	assert_int_equal(fold_profile(p), 0);
	after = sum_up(p);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(p->n_processes, n_units);
	for (size_t i = 0; i < p->n_branches; i++)
		n_other += other_is_branch(&p->branches[i]);
	assert_in_range(n_other, 1, n_units);
	assert_int_equal(p->n_branches - n_other, FOLD_MAX_ROWS);
	assert_in_range(p->n_blocks, FOLD_MAX_ROWS + 1, FOLD_MAX_ROWS + n_units);
	assert_in_range(p->n_stacks, 1, FOLD_MAX_ROWS + FOLD_MAX_ROWS / 2);
	profile_free(p);
}

static void test_the_most_frequent_rows_stay(void **state)
{
	struct profile *p = synthetic_profile(&synthetic_busy, 3), *folded;
	size_t n = 0;
	uint64_t least;

	assert_int_equal(fold_processes(p), 0);
	assert_int_equal(profile_merge(&folded, (const struct profile *[]){ p }, 1), 0);
	assert_int_equal(fold_profile(folded), 0);
	least = least_taken(folded);
	for (size_t i = 0; i < p->n_branches; i++)
		n += p->branches[i].taken > least;
	assert_true(n < FOLD_MAX_ROWS);
	profile_free(folded);
	profile_free(p);
}

static void test_few_rows_are_not_pruned(void **state)
{
	struct profile *p = synthetic_profile(&synthetic_idle, 0), *again;

	assert_int_equal(fold_processes(p), 0);
	assert_int_equal(profile_merge(&again, (const struct profile *[]){ p }, 1), 0);
	assert_int_equal(fold_profile(again), 0);
	assert_true(profile_equal(p, again));
	profile_free(again);
	profile_free(p);
}

/* A heavy one of the daemon, which has an object, is one of its unit. */
static void test_rows_other_have_no_place(void **state)
{
	struct profile *p = synthetic_profile(&synthetic_busy, 3);
	struct sums before, after;

	p->branches[0].from = (struct location){ 0, 0 };
	p->branches[0].to = (struct location){ PROFILE_NONE, 0 };
	p->branches[0].taken += 1 << 20;
	p->blocks[0].start = 1;
	p->blocks[0].end = 0;
	before = sum_up(p);
	assert_int_equal(fold_profile(p), 0);
	after = sum_up(p);
	assert_memory_equal(&before, &after, sizeof(before));
	for (size_t i = 0; i < p->n_branches; i++) {
		if (other_is_branch(&p->branches[i]))
			assert_int_equal(p->branches[i].from.object, PROFILE_NONE);
	}
	for (size_t i = 0; i < p->n_blocks; i++)
		if (other_is_block(&p->blocks[i]))
			assert_int_equal(p->blocks[i].object, PROFILE_NONE);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_stay),
		cmocka_unit_test(test_the_most_frequent_rows_stay),
		cmocka_unit_test(test_few_rows_are_not_pruned),
		cmocka_unit_test(test_rows_other_have_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
