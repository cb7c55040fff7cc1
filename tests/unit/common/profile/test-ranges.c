/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/profile/ranges.h"
#include "common/util/cleanup.h"
#include "tests/support/random.h"

#include <string.h>

#define N_OFFSETS 48

static struct profile *new_profile(uint32_t *ret_object)
{
	struct profile_process process = { .pid = 1, .comm = "x", .uid = UINT32_MAX };
	struct profile_object object = { .path = "/bin/x" };
	struct profile *p;

	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(profile_add_process(p, &process), 0);
	process.pid = 2;
	assert_int_equal(profile_add_process(p, &process), 1);
	*ret_object = (uint32_t)profile_add_object(p, &object);
	object.path = "/lib/l.so";
	assert_int_equal(profile_add_object(p, &object), *ret_object + 1);
	return p;
}

static void add_run(struct profile *p, uint32_t process, uint32_t object, uint64_t start,
		    uint64_t end, uint64_t runs)
{
	struct profile_block block = {
		.process = process,
		.object = object,
		.start = start,
		.end = end,
		.runs = runs,
		.cycles = 3 * runs,
		.cycles_rows = runs,
	};

	assert_true(profile_add_block(p, &block) >= 0);
}

static void add_row(struct profile *p, struct location from, struct location to, uint64_t taken,
		    uint64_t mispredicted)
{
	struct profile_branch branch = {
		.from = from,
		.to = to,
		.taken = taken,
		.mispredicted = mispredicted,
		.predicted = taken - mispredicted,
	};

	assert_true(profile_add_branch(p, &branch) >= 0);
}

static void check(const struct profile_range *range, uint64_t start, uint64_t end,
		  uint64_t coverage, uint64_t entry, uint64_t taken)
{
	assert_int_equal(range->start, start);
	assert_int_equal(range->end, end);
	assert_int_equal(range->coverage, coverage);
	assert_int_equal(range->entry, entry);
	assert_int_equal(range->taken, taken);
}

/* A loop from 0x10 to 0x30 with a way out in it, at 0x20, to 0x40. */
static void test_a_loop_with_a_way_out(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_free_ struct profile_range *ranges = NULL;
	uint32_t o;
	size_t n;

	p = new_profile(&o);
	add_run(p, 0, o, 0x10, 0x30, 70);
	add_run(p, 1, o, 0x10, 0x30, 20);
	add_run(p, 0, o, 0x10, 0x20, 10);
	add_run(p, 0, o, 0x40, 0x44, 9);
	add_row(p, (struct location){ o, 0x30 }, (struct location){ o, 0x10 }, 95, 5);
	add_row(p, (struct location){ o, 0x20 }, (struct location){ o, 0x40 }, 10, 10);
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(profile_ranges(&ranges, &n, p, 0), 0);
	assert_int_equal(n, 3);
	check(&ranges[0], 0x10, 0x20, 100, 100, 10);
	assert_true(ranges[0].is_target && ranges[0].is_branch);
	assert_int_equal(ranges[0].cycles, 30);
	assert_int_equal(ranges[0].rows, 10);
	assert_int_equal(ranges[0].mispredicted, 10);
	assert_int_equal(ranges[0].predicted, 0);
	check(&ranges[1], 0x21, 0x30, 90, 0, 90);
	assert_true(!ranges[1].is_target && ranges[1].is_branch);
	assert_int_equal(ranges[1].cycles_rows, 90);
	assert_int_equal(ranges[1].rows, 95);
	assert_int_equal(ranges[1].predicted, 90);
	check(&ranges[2], 0x40, 0x44, 9, 9, 9);
}

/* A branch of which only oldest rows were seen, and a target nobody runs from, are told
 * nevertheless. */
static void test_branches_without_runs_cut(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_free_ struct profile_range *ranges = NULL;
	uint32_t o;
	size_t n;

	p = new_profile(&o);
	add_run(p, 0, o, 0x10, 0x30, 5);
	add_row(p, (struct location){ o, 0x18 }, (struct location){ o, 0x24 }, 2, 1);
	add_row(p, (struct location){ o + 1, 0x18 }, (struct location){ o + 1, 0x14 }, 2, 0);
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(profile_ranges(&ranges, &n, p, 0), 0);
	assert_int_equal(n, 3);
	check(&ranges[0], 0x10, 0x18, 5, 5, 0);
	assert_true(ranges[0].is_branch);
	assert_int_equal(ranges[0].rows, 2);
	check(&ranges[1], 0x19, 0x23, 5, 0, 0);
	assert_false(ranges[1].is_target || ranges[1].is_branch);
	check(&ranges[2], 0x24, 0x30, 5, 0, 5);
	assert_true(ranges[2].is_target);
}

static void test_runs_that_cannot_be(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_free_ struct profile_range *ranges = NULL;
	uint32_t o;
	size_t n;

	p = new_profile(&o);
	add_run(p, 0, o, 0x30, 0x10, 5);
	add_run(p, 0, o, UINT64_MAX, UINT64_MAX, 5);
	add_row(p, (struct location){ o, UINT64_MAX }, (struct location){ o, UINT64_MAX }, 5, 0);
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(profile_ranges(&ranges, &n, p, 0), 0);
	assert_int_equal(n, 0);
}

/* Each offset by itself, in the slow way. */
struct naive {
	uint64_t coverage, entry, taken, rows, mispredicted, predicted, cycles, cycles_rows;
	bool is_target, is_branch;
};

static void count_naively(struct naive *all, const struct profile *p, uint32_t object)
{
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct profile_block *b = &p->blocks[i];

		if (b->object != object)
			continue;
		for (uint64_t k = b->start; k <= b->end; k++)
			all[k].coverage += b->runs;
		all[b->start].entry += b->runs;
		all[b->start].is_target = true;
		all[b->end].taken += b->runs;
		all[b->end].cycles += b->cycles;
		all[b->end].cycles_rows += b->cycles_rows;
		all[b->end].is_branch = true;
	}
	for (size_t i = 0; i < p->n_branches; i++) {
		const struct profile_branch *b = &p->branches[i];

		if (b->to.object == object)
			all[b->to.offset].is_target = true;
		if (b->from.object != object)
			continue;
		all[b->from.offset].is_branch = true;
		all[b->from.offset].rows += b->taken;
		all[b->from.offset].mispredicted += b->mispredicted;
		all[b->from.offset].predicted += b->predicted;
	}
}

static void check_range(const struct profile_range *range, const struct naive *all)
{
	const struct naive *first = &all[range->start], *last = &all[range->end];

	assert_true(range->start <= range->end);
	for (uint64_t k = range->start; k <= range->end; k++) {
		assert_int_equal(all[k].coverage, range->coverage);
		assert_true(k == range->start || !all[k].is_target);
		assert_true(k == range->end || !all[k].is_branch);
	}
	assert_int_equal(range->is_target, first->is_target);
	assert_int_equal(range->entry, first->entry);
	assert_int_equal(range->is_branch, last->is_branch);
	assert_int_equal(range->taken, last->taken);
	assert_int_equal(range->cycles, last->cycles);
	assert_int_equal(range->cycles_rows, last->cycles_rows);
	assert_int_equal(range->rows, last->rows);
	assert_int_equal(range->mispredicted, last->mispredicted);
	assert_int_equal(range->predicted, last->predicted);
}

static struct profile *random_runs(uint64_t *state, uint32_t *ret_object)
{
	struct profile *p = new_profile(ret_object);

	for (int i = 0; i < 12; i++) {
		uint32_t object = *ret_object + random_below(state, 2);
		uint64_t start = random_below(state, N_OFFSETS / 2);

		add_run(p, random_below(state, 2), object, start,
			start + random_below(state, N_OFFSETS / 2), 1 + random_below(state, 5));
		add_row(p, (struct location){ object, random_below(state, N_OFFSETS) },
			(struct location){ *ret_object, random_below(state, N_OFFSETS) },
			1 + random_below(state, 5), random_below(state, 2));
	}
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

static void test_against_a_naive_count(void **state)
{
	uint64_t random = 1;

	for (int round = 0; round < 500; round++) {
		_cleanup_(profile_freep) struct profile *p = NULL;
		_cleanup_free_ struct profile_range *ranges = NULL;
		struct naive all[N_OFFSETS] = {};
		uint64_t covered = 0, expected = 0;
		uint32_t object;
		size_t n;

		p = random_runs(&random, &object);
		count_naively(all, p, 0);
		assert_int_equal(profile_ranges(&ranges, &n, p, 0), 0);
		for (size_t i = 0; i < n; i++) {
			check_range(&ranges[i], all);
			assert_true(i == 0 || ranges[i - 1].end < ranges[i].start);
			covered += ranges[i].end - ranges[i].start + 1;
		}
		for (size_t k = 0; k < N_OFFSETS; k++)
			expected += all[k].coverage > 0;
		assert_int_equal(covered, expected);
	}
}

/* Windows added up have the ranges of all that is in them. */
static void test_merged_windows(void **state)
{
	uint64_t random = 7;

	for (int round = 0; round < 100; round++) {
		_cleanup_(profile_freep) struct profile *a = NULL, *b = NULL, *sum = NULL;
		_cleanup_free_ struct profile_range *ranges = NULL;
		struct naive all[N_OFFSETS] = {};
		uint32_t object;
		size_t n;

		a = random_runs(&random, &object);
		b = random_runs(&random, &object);
		count_naively(all, a, 0);
		count_naively(all, b, 0);
		assert_int_equal(profile_merge(&sum, (const struct profile *[]){ a, b }, 2), 0);
		assert_int_equal(profile_ranges(&ranges, &n, sum, 0), 0);
		assert_true(n > 0);
		for (size_t i = 0; i < n; i++)
			check_range(&ranges[i], all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_loop_with_a_way_out),
		cmocka_unit_test(test_branches_without_runs_cut),
		cmocka_unit_test(test_runs_that_cannot_be),
		cmocka_unit_test(test_against_a_naive_count),
		cmocka_unit_test(test_merged_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
