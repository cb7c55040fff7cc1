/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of functions against a recount, sample by sample, of random profiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/profile/function-counts.h"
#include "tests/support/profile-fixture.h"
#include "tests/support/random-profile.h"

#define N_PROFILES 300

static uint32_t function_of(const struct profile *p, struct location at)
{
	const struct profile_function *function = profile_find_function(p, at);

	return function ? (uint32_t)(function - p->functions) : PROFILE_NONE;
}

/* Is the place what the row is of? */
static bool is_of(const struct profile *p, const struct function_count *row, struct location at)
{
	uint32_t function = function_of(p, at);

	return function == row->function &&
	       (function != PROFILE_NONE || at.object == row->at.object);
}

/* Each sample's stack is gone through. */
static void recount_stacks(const struct profile *p, const struct function_count *row,
			   struct function_tally *ret)
{
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *leaf = &p->stacks[i];
		bool there = false;

		if (leaf->process != row->process)
			continue;
		if (is_of(p, row, profile_place_frame(p, leaf->frame)))
			ret->self += leaf->samples;
		for (uint32_t at = (uint32_t)i; at != PROFILE_NONE; at = p->stacks[at].parent)
			there |= is_of(p, row, profile_place_frame(p, p->stacks[at].frame));
		ret->total += there ? leaf->samples : 0;
	}
}

static void recount_rows(const struct profile *p, const struct function_count *row,
			 struct function_tally *ret)
{
	for (size_t i = 0; i < p->n_branches; i++) {
		const struct profile_branch *b = &p->branches[i];

		if (b->process == row->process && row->function != PROFILE_NONE &&
		    is_of(p, row, b->to) && b->to.offset == p->functions[row->function].start &&
		    !is_of(p, row, b->from))
			ret->calls += b->taken;
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct profile_block *b = &p->blocks[i];

		if (b->process != row->process || row->function == PROFILE_NONE ||
		    !is_of(p, row, (struct location){ b->object, b->start }))
			continue;
		ret->runs += b->runs;
		ret->cycles += b->cycles;
		ret->timed_runs += b->cycles_rows;
	}
}

static void assert_tally(const struct function_tally *a, const struct function_tally *b)
{
	assert_int_equal(a->self, b->self);
	assert_int_equal(a->total, b->total);
	assert_int_equal(a->calls, b->calls);
	assert_int_equal(a->runs, b->runs);
	assert_int_equal(a->cycles, b->cycles);
	assert_int_equal(a->timed_runs, b->timed_runs);
}

/* Is every sample, and every run, in a row? Returns how many rows were looked at. */
static size_t check_profile(const struct profile *p)
{
	struct function_counts counts;
	uint64_t self = 0, samples = 0, in_processes = 0;
	size_t n;

	assert_int_equal(function_counts_init(&counts, p), 0);
	for (size_t i = 0; i < counts.n_rows; i++) {
		struct function_tally tally = { 0 };

		recount_stacks(p, &counts.rows[i], &tally);
		recount_rows(p, &counts.rows[i], &tally);
		assert_tally(&counts.rows[i].tally, &tally);
		assert_true(is_of(p, &counts.rows[i], counts.rows[i].at));
		self += tally.self;
	}
	for (size_t i = 0; i < p->n_stacks; i++)
		samples += p->stacks[i].samples;
	assert_int_equal(self, samples);
	n = 0;
	for (size_t i = 0; i < counts.n_processes; i++) {
		const struct process_tally *process = &counts.processes[i];

		in_processes += process->samples;
		for (size_t k = 0; k < process->n; k++, n++)
			assert_int_equal(counts.rows[process->first + k].process, process->process);
	}
	assert_int_equal(in_processes, samples);
	assert_int_equal(n, counts.n_rows);
	function_counts_done(&counts);
	return n;
}

static void assert_counts(const struct function_counts *a, const struct function_counts *b)
{
	assert_int_equal(a->n_rows, b->n_rows);
	assert_int_equal(a->n_processes, b->n_processes);
	for (size_t i = 0; i < a->n_rows; i++) {
		assert_int_equal(a->rows[i].process, b->rows[i].process);
		assert_int_equal(a->rows[i].function, b->rows[i].function);
		assert_int_equal(a->rows[i].at.object, b->rows[i].at.object);
		assert_int_equal(a->rows[i].at.offset, b->rows[i].at.offset);
		assert_int_equal(a->rows[i].tally.variance, b->rows[i].tally.variance);
		assert_tally(&a->rows[i].tally, &b->rows[i].tally);
	}
	for (size_t i = 0; i < a->n_processes; i++) {
		assert_int_equal(a->processes[i].samples, b->processes[i].samples);
		assert_int_equal(a->processes[i].first, b->processes[i].first);
		assert_int_equal(a->processes[i].n, b->processes[i].n);
	}
}

/* One walk for both tables gives what a walk for each gives. */
static void check_both(const struct profile *p)
{
	struct function_counts functions, objects, both[2];

	assert_int_equal(function_counts_init(&functions, p), 0);
	assert_int_equal(function_counts_init_objects(&objects, p), 0);
	assert_int_equal(function_counts_init_both(&both[0], &both[1], p), 0);
	assert_counts(&both[0], &functions);
	assert_counts(&both[1], &objects);
	function_counts_done(&functions);
	function_counts_done(&objects);
	function_counts_done(&both[0]);
	function_counts_done(&both[1]);
}

static void random_profiles(void **state)
{
	size_t n = 0;

	for (uint64_t seed = 1; seed <= N_PROFILES; seed++) {
		struct profile *profile = random_profile(seed, 0);

		n += check_profile(profile);
		check_both(profile);
		profile_free(profile);
	}
	assert_true(n > N_PROFILES);
}

/* main calls itself: its total is each sample once, and its lowest place stands for it. */
static void recursion_counts_once(void **state)
{
	struct profile *p = fixture_new();
	struct function_counts counts;
	uint32_t object = fixture_object(p, "/bin/demo", 1),
		 process = fixture_process(p, "demo", "/bin/demo");
	uint32_t stack = PROFILE_NONE;

	fixture_function(p, object, 0x1000, "main");
	for (int i = 0; i < 3; i++)
		stack = fixture_stack(p, process, stack, object, i == 1 ? 0x1008 : 0x1010,
				      i == 0 ? 0 : 5);
	fixture_finalized(p);
	assert_int_equal(function_counts_init(&counts, p), 0);
	assert_int_equal(counts.n_rows, 1);
	assert_int_equal(counts.rows[0].tally.self, 10);
	assert_int_equal(counts.rows[0].tally.total, 10);
	assert_int_equal(counts.rows[0].at.offset, 0x1008);
	function_counts_done(&counts);
	profile_free(p);
}

/* First many blocks of few functions, which are added up in between; then too many functions. */
static void long_tables(void **state)
{
	static const uint64_t per_function[] = { 0x100, 1 };

	for (size_t k = 0; k < ARRAY_SIZE(per_function); k++) {
		struct profile *p = fixture_new();
		struct function_counts counts;
		uint32_t object = fixture_object(p, "/bin/demo", 1),
			 process = fixture_process(p, "demo", "/bin/demo");
		uint64_t n = 0x10000;

		for (uint64_t at = 0; at < n; at++) {
			struct profile_block block = { .process = process,
						       .object = object,
						       .start = at / per_function[k] * 0x100 +
								at % per_function[k],
						       .end = 0x1000000 + at,
						       .runs = 3 };

			if (at % per_function[k] == 0)
				fixture_function(p, object, block.start, "f");
			assert_true(profile_add_block(p, &block) >= 0);
		}
		fixture_finalized(p);
		assert_int_equal(function_counts_init(&counts, p), 0);
		assert_int_equal(counts.n_rows, n / per_function[k]);
		for (size_t i = 0; i < counts.n_rows; i++) {
			assert_int_equal(counts.rows[i].tally.runs, 3 * per_function[k]);
			assert_int_equal(counts.rows[i].function, i);
		}
		function_counts_done(&counts);
		profile_free(p);
	}
}

static void nothing(void **state)
{
	struct profile *p = fixture_finalized(fixture_new());
	struct function_counts counts;

	assert_int_equal(function_counts_init(&counts, p), 0);
	assert_int_equal(counts.n_rows, 0);
	assert_int_equal(counts.n_processes, 1);
	function_counts_done(&counts);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_profiles),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(long_tables),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
