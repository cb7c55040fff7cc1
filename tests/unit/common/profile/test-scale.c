/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/profile/scale.h"
#include "common/util/cleanup.h"
#include "tests/support/random-profile.h"

#define N_SEEDS 100

/* A profile counted as three is the sum of three such profiles, but for what is counted once. */
static void test_as_a_sum(void **state)
{
	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *one = random_profile(seed, 0), *sum = NULL;
		_cleanup_(profile_freep) struct profile *scaled = random_profile(seed, 0);
		const struct profile *three[] = { one, one, one };
		uint64_t samples = one->counters.samples;

		assert_int_equal(profile_finalize(one), 0);
		assert_int_equal(profile_merge(&sum, three, 3), 0);
		assert_int_equal(profile_finalize(scaled), 0);
		profile_scale_samples(scaled, 3);
		assert_int_equal(scaled->counters.samples, 3 * samples);
		assert_int_equal(scaled->counters.samples_estimated,
				 one->counters.samples_estimated + 2 * samples);
		assert_int_equal(scaled->counters.rows, 3 * one->counters.rows);
		assert_int_equal(scaled->counters.runs_long, 3 * one->counters.runs_long);
		assert_int_equal(scaled->counters.lost_samples, 3 * one->counters.lost_samples);
		assert_int_equal(scaled->counters.skipped, 3 * one->counters.skipped);
		assert_int_equal(scaled->counters.lost_records, one->counters.lost_records);
		assert_int_equal(scaled->counters.throttled, one->counters.throttled);
		assert_int_equal(scaled->counters.weight, one->counters.weight);
		for (size_t i = 0; i < sum->n_stacks; i++)
			sum->stacks[i].weight = scaled->stacks[i].weight;
		for (size_t i = 0; i < sum->n_processes; i++)
			sum->processes[i].n_gone = scaled->processes[i].n_gone;
		sum->counters = scaled->counters;
		assert_true(profile_equal(sum, scaled));
	}
}

static void test_by_one(void **state)
{
	_cleanup_(profile_freep) struct profile *one = random_profile(1, 0);
	_cleanup_(profile_freep) struct profile *same = random_profile(1, 0);

	assert_int_equal(profile_finalize(one), 0);
	assert_int_equal(profile_finalize(same), 0);
	profile_scale_samples(one, 1);
	assert_true(profile_equal(one, same));
}

static void test_unit(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	struct profile_counters counters = { .samples = 100 }, part = { .samples = 10 };

	assert_true(profile_sample_unit(&counters) == 1);
	assert_true(profile_sample_unit(&(struct profile_counters){ 0 }) == 1);
	assert_int_equal(profile_new(&p), 0);
	p->counters.samples = 100;
	profile_scale_samples(p, 4);
	assert_true(profile_sample_unit(&p->counters) == 4);
	/* half of the samples were all taken: their variance is 400 + 4 * 400 */
	p->counters.samples += 400;
	assert_true(profile_sample_unit(&p->counters) == 2.5);
	profile_share_estimated(&part, &p->counters);
	assert_int_equal(part.samples_estimated, 3);
	assert_true(profile_sample_unit(&part) == 2.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_a_sum),
		cmocka_unit_test(test_by_one),
		cmocka_unit_test(test_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
