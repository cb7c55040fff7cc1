/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a share changed: series made up, with samples that stick together as those of programs do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/history/change.h"

#include <math.h>

#include "common/util/macro.h"
#include "tests/support/random.h"

#define N_POINTS  48
#define N_SAMPLES 6000 /* of a point: a window of ten seconds of six CPUs at 99 Hz */
#define RUN       3    /* samples in a row are of one function */
#define TRIES     100

static uint64_t take(uint64_t *state, double share)
{
	uint64_t n = 0;

	for (int i = 0; i < N_SAMPLES / RUN; i++)
		n += (double)random_below(state, 1000000) < share * 1e6 ? RUN : 0;
	return n;
}

struct made {
	uint64_t counts[N_POINTS], samples[N_POINTS];
};

/* From point @at on the share is @after. */
static struct history_series make(struct made *made, uint64_t *state, size_t at,
				  const double shares[2])
{
	for (size_t i = 0; i < N_POINTS; i++) {
		made->samples[i] = N_SAMPLES;
		made->counts[i] = take(state, shares[i >= at]);
	}
	return (struct history_series){ made->counts, made->samples, N_POINTS, 1 };
}

static void test_three_points_more_are_found(void **state)
{
	uint64_t random = 4711;
	int n_found = 0;

	for (int i = 0; i < TRIES; i++) {
		size_t at = 1 + random_below(&random, N_POINTS - 1), off;
		struct history_change change;
		struct made made;
		struct history_series series = make(&made, &random, at, (double[]){ 0.10, 0.13 });

		history_change_find(&change, &series);
		off = change.at > at ? change.at - at : at - change.at;
		n_found += change.at > 0 && off <= 2;
	}
	print_message("%d of %d found\n", n_found, TRIES);
	assert_true(n_found >= 95);
}

static void test_steady_series_have_no_change(void **state)
{
	uint64_t random = 4712;
	int n_found = 0;

	for (int i = 0; i < TRIES; i++) {
		struct history_change change;
		struct made made;
		struct history_series series = make(&made, &random, 0, (double[]){ 0, 0.10 });

		history_change_find(&change, &series);
		n_found += change.at > 0;
	}
	print_message("%d of %d found\n", n_found, TRIES);
	assert_true(n_found <= 5);
}

static void test_what_comes_and_goes(void **state)
{
	uint64_t counts[] = { 0, 0, 0, 0, 0, 0, 0, 500, 500, 500, 500, 500, 500, 500 };
	uint64_t samples[ARRAY_SIZE(counts)];
	struct history_series series = { counts, samples, ARRAY_SIZE(counts), 1 };
	struct history_change change;

	for (size_t i = 0; i < series.n; i++)
		samples[i] = 1000;
	history_change_find(&change, &series);
	assert_int_equal(change.at, 7);
	assert_true(fabs(change.test.difference - 0.5) < 1e-9);
	for (size_t i = 0; i < series.n; i++)
		counts[i] = 500 - counts[i];
	history_change_find(&change, &series);
	assert_int_equal(change.at, 7);
	assert_true(fabs(change.test.difference + 0.5) < 1e-9);
}

static void test_series_without_a_split(void **state)
{
	uint64_t counts[] = { 5, 5, 5 }, samples[] = { 10, 10, 10 }, none[] = { 0, 0, 0 };
	struct history_change change;

	for (size_t n = 0; n <= 3; n++) {
		history_change_find(&change, &(struct history_series){ counts, samples, n, 1 });
		assert_int_equal(change.at, 0);
		history_change_find(&change, &(struct history_series){ none, none, n, 1 });
		assert_int_equal(change.at, 0);
	}
}

/* What is a change if each sample was taken is none if each one taken counts as 40. */
static void test_estimated_samples_say_less(void **state)
{
	const uint64_t counts[] = { 360, 360, 440, 440 }, samples[] = { 4000, 4000, 4000, 4000 };
	struct history_series series = { counts, samples, ARRAY_SIZE(counts), 1 };
	struct history_change change;

	history_change_find(&change, &series);
	assert_int_equal(change.at, 2);
	series.unit = 40;
	history_change_find(&change, &series);
	assert_int_equal(change.at, 0);
	assert_int_equal(change.split, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_points_more_are_found),
		cmocka_unit_test(test_steady_series_have_no_change),
		cmocka_unit_test(test_what_comes_and_goes),
		cmocka_unit_test(test_series_without_a_split),
		cmocka_unit_test(test_estimated_samples_say_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
