/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows that stand for others are nobody's code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/profile/filter.h"
#include "common/profile/function-counts.h"
#include "common/profile/other.h"
#include "common/profile/ranges.h"
#include "common/profile/redact.h"
#include "common/util/cleanup.h"

/* The kernel, with a function from its first byte on, a branch in it, and a row for others of each
 * table. */
static struct profile *make_profile(void)
{
	struct profile *p;
	struct profile_branch branch = other_branch(0, 0);
	struct profile_stream stream = other_stream(0, 0);
	struct profile_block block = other_block(0, 0);

	assert_int_equal(profile_new(&p), 0);
	assert_true(profile_add_process(p, &(struct profile_process){ .comm = "x" }) == 0);
	assert_true(profile_add_object(p, &(struct profile_object){ .kind = OBJECT_KERNEL,
								    .path = "[kernel]" }) == 0);
	assert_true(profile_add_function(p, &(struct profile_function){ 0, 0, 100, "first", 0 }) >=
		    0);
	branch.taken = p->counters.rows_counted = 5;
	stream.hits = p->counters.streams = 6;
	block.runs = p->counters.runs_counted = 7;
	block.cycles = block.cycles_rows = 70;
	assert_true(profile_add_branch(p, &branch) >= 0 && profile_add_stream(p, &stream) >= 0 &&
		    profile_add_block(p, &block) >= 0);
	branch.from.offset = 8;
	branch.to = (struct location){ 0, 4 };
	assert_true(profile_add_branch(p, &branch) >= 0);
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

static void test_they_are_summed_up(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make_profile();
	struct other_sums sums;

	assert_int_equal(profile_redact(&p), 0);
	sums = other_sum_up(p);
	assert_int_equal(sums.taken, 5);
	assert_int_equal(sums.hits, 6);
	assert_int_equal(sums.runs, 7);
	assert_int_equal(sums.cycles, 70);
}

static void test_they_are_in_no_function(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make_profile();
	struct function_counts counts;

	assert_int_equal(function_counts_init(&counts, p), 0);
	assert_int_equal(counts.n_rows, 0);
	assert_int_equal(counts.processes[0].runs, 7);
	assert_int_equal(counts.processes[0].taken, 10);
	assert_int_equal(counts.processes[0].hits, 6);
	function_counts_done(&counts);
}

static void test_they_are_in_no_range(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make_profile();
	_cleanup_free_ struct profile_range *ranges = NULL;
	size_t n = 1;

	assert_int_equal(profile_ranges(&ranges, &n, p, 0), 0);
	assert_int_equal(n, 0);
}

static void test_they_match_by_object_and_not_by_symbol(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make_profile(), *part = NULL,
						*of_symbol = NULL;
	struct profile_filter filter = PROFILE_FILTER_INIT;
	struct other_sums sums;

	filter.object = "[kernel]";
	assert_int_equal(profile_filter(&part, p, &filter), 0);
	sums = other_sum_up(part);
	assert_true(sums.taken == 5 && sums.hits == 6 && sums.runs == 7);
	filter.symbol = "first";
	assert_int_equal(profile_filter(&of_symbol, p, &filter), 0);
	sums = other_sum_up(of_symbol);
	assert_true(sums.taken == 0 && sums.hits == 0 && sums.runs == 0);
	assert_int_equal(of_symbol->n_branches, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_they_are_summed_up),
		cmocka_unit_test(test_they_are_in_no_function),
		cmocka_unit_test(test_they_are_in_no_range),
		cmocka_unit_test(test_they_match_by_object_and_not_by_symbol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
