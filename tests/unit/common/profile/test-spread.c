/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/profile/scale.h"
#include "common/profile/spread.h"
#include "common/util/cleanup.h"

/* Two functions of a process, hot() at 100 to 199 and rare() at 200 to 299; main() at 0 to 99. */
static struct profile *make(void)
{
	struct profile *p;
	struct profile_object object = { .path = "/app", .inode = 1 };
	struct profile_process process = { .pid = 1, .comm = "app" };
	static const struct profile_function functions[] = {
		{ .start = 0, .size = 100, .name = "main" },
		{ .start = 100, .size = 100, .name = "hot" },
		{ .start = 200, .size = 100, .name = "rare" },
	};

	assert_int_equal(profile_new(&p), 0);
	profile_add_object(p, &object);
	profile_add_process(p, &process);
	for (size_t i = 0; i < 3; i++)
		profile_add_function(p, &functions[i]);
	return p;
}

static uint32_t add(struct profile *p, uint32_t parent, uint64_t offset, uint64_t samples,
		    uint64_t ticks)
{
	struct profile_stack stack = { .parent = parent,
				       .frame = { 0, offset },
				       .samples = samples,
				       .weight = 10 * (samples + ticks),
				       .ticks = ticks };

	p->processes[0].samples += samples + ticks;
	p->counters.samples += samples + ticks;
	p->counters.samples_ticked += ticks;
	return (uint32_t)profile_add_stack(p, &stack);
}

static uint64_t samples_at(const struct profile *p, uint64_t caller, uint64_t offset)
{
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		if (s->frame.offset != offset)
			continue;
		if (s->parent == PROFILE_NONE ? caller == 0 :
						p->stacks[s->parent].frame.offset == caller)
			return s->samples;
	}
	return 0;
}

static void test_a_function_keeps_its_samples(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make();
	uint32_t one = add(p, PROFILE_NONE, 10, 0, 0), other = add(p, PROFILE_NONE, 20, 0, 0);
	uint64_t sum = 0, weight = 0;

	add(p, one, 110, 3, 0);
	add(p, other, 120, 1, 0);
	add(p, PROFILE_NONE, 150, 0, 36); /* hot: 4 of 40 were captured */
	add(p, PROFILE_NONE, 250, 0, 5);  /* rare: none */
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(profile_spread_ticks(p), 0);
	assert_int_equal(samples_at(p, 10, 110), 30);
	assert_int_equal(samples_at(p, 20, 120), 10);
	assert_int_equal(samples_at(p, 0, 150), 0);
	assert_int_equal(samples_at(p, 0, 250), 5);
	for (size_t i = 0; i < p->n_stacks; i++) {
		sum += p->stacks[i].samples;
		weight += p->stacks[i].weight;
		assert_int_equal(p->stacks[i].ticks, 0);
	}
	assert_int_equal(sum, 45);
	assert_int_equal(weight, 450);
	assert_int_equal(p->counters.samples, 45);
	assert_int_equal(p->counters.samples_ticked, 41);
	/* of 45 samples, those of 40 stand for 10 each: each adds 9 to the variance */
	assert_int_equal(p->counters.stacks_variance, 360);
	assert_true(profile_sample_unit(&p->counters) == 1);
	assert_true(profile_row_unit(&p->counters, 0, 0) == 9);
	for (size_t i = 0; i < p->n_stacks; i++)
		assert_int_equal(p->stacks[i].variance,
				 p->stacks[i].samples % 10 == 0 ? 9 * p->stacks[i].samples : 0);
}

/* Whatever the numbers are, no sample is lost to rounding. */
static void test_sums_are_exact(void **state)
{
	for (uint64_t seed = 1; seed < 200; seed++) {
		_cleanup_(profile_freep) struct profile *p = make();
		uint64_t sum = 0, all;

		for (uint64_t i = 0; i < 20; i++)
			add(p, PROFILE_NONE, 100 + i, seed * i % 7, seed * 31 * i % 11);
		all = p->counters.samples;
		assert_int_equal(profile_finalize(p), 0);
		assert_int_equal(profile_spread_ticks(p), 0);
		for (size_t i = 0; i < p->n_stacks; i++)
			sum += p->stacks[i].samples;
		assert_int_equal(sum, all);
	}
}

static void test_branches_stand_for_their_process(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make();
	struct profile_branch branch = { .from = { 0, 150 },
					 .to = { 0, 110 },
					 .taken = 30,
					 .mispredicted = 10,
					 .predicted = 20,
					 .cycles = 90,
					 .cycles_rows = 30 };
	struct profile_stream stream = {
		.parent = PROFILE_NONE, .from = { 0, 150 }, .to = { 0, 110 }, .hits = 4
	};

	add(p, PROFILE_NONE, 110, 4, 0);
	add(p, PROFILE_NONE, 150, 0, 36);
	profile_add_branch(p, &branch);
	profile_add_stream(p, &stream);
	p->counters.rows = 33;
	p->counters.rows_counted = 30;
	p->counters.rows_zero = 3;
	p->counters.streams = 4;
	p->counters.lost_samples = 7;
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(profile_spread_ticks(p), 0);
	assert_int_equal(p->branches[0].taken, 300);
	assert_int_equal(p->branches[0].mispredicted, 100);
	assert_int_equal(p->branches[0].predicted, 200);
	assert_int_equal(p->branches[0].cycles, 900);
	assert_int_equal(p->streams[0].hits, 40);
	assert_int_equal(p->counters.rows_counted, 300);
	assert_int_equal(p->counters.rows, 330);
	assert_int_equal(p->counters.streams, 40);
	assert_int_equal(p->counters.lost_samples, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_function_keeps_its_samples),
		cmocka_unit_test(test_sums_are_exact),
		cmocka_unit_test(test_branches_stand_for_their_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
