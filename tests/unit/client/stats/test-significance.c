/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/stats/significance.h"

#include <math.h>
#include <string.h>

#include "common/util/macro.h"
#include "tests/support/random.h"

#define N_ROWS  300
#define N_PARTS 12
#define N_PAIRS 100

static void assert_near(double a, double b, double off)
{
	assert_true(fabs(a - b) <= off);
}

/* In a single window each count is worth SIGNIFICANCE_EXCESS times less. */
static struct significance_counts alone(uint64_t count, uint64_t total)
{
	return (struct significance_counts){ .count = count * (uint64_t)SIGNIFICANCE_EXCESS,
					     .total = total * (uint64_t)SIGNIFICANCE_EXCESS };
}

static struct significance compare(struct significance_counts a, struct significance_counts b)
{
	struct significance noise;

	significance_test(&noise, (struct significance_counts[N_SIDES]){ a, b });
	return noise;
}

/* The example of Newcombe's paper: 56 of 70 and 48 of 80, 0.2 with 0.0524 to 0.3339. */
static void test_interval_of_a_difference(void **state)
{
	struct significance noise = compare(alone(48, 80), alone(56, 70));

	assert_near(noise.difference, 0.2, 1e-12);
	assert_near(noise.interval.low, 0.0524, 5e-5);
	assert_near(noise.interval.high, 0.3339, 5e-5);
	noise = compare(alone(56, 70), alone(48, 80));
	assert_near(noise.interval.high, -0.0524, 5e-5);
}

/* The examples of Newcombe's paper on single proportions (1998): 81 of 263, 15 of 148, 0 of 20. */
static void test_interval_of_a_share(void **state)
{
	struct significance noise = compare(alone(81, 263), alone(15, 148));

	assert_near(noise.intervals[SIDE_OLD].low, 0.2553, 5e-5);
	assert_near(noise.intervals[SIDE_OLD].high, 0.3662, 5e-5);
	assert_near(noise.intervals[SIDE_NEW].low, 0.0624, 5e-5);
	assert_near(noise.intervals[SIDE_NEW].high, 0.1605, 5e-5);
	noise = compare(alone(0, 20), alone(1, 29));
	assert_near(noise.intervals[SIDE_OLD].low, 0, 0);
	assert_near(noise.intervals[SIDE_OLD].high, 0.1611, 5e-5);
}

static void test_p_value_is_that_of_the_exact_test(void **state)
{
	/* 8 and 2 of a total whose share is negligible */
	struct significance noise = compare(alone(2, 1u << 30), alone(8, 1u << 30));

	assert_near(noise.p_value, 2 * 56.0 / 1024, 1e-6);
	assert_true(noise.has_enough_data);
	/* the old window is ten times as long: 1 of 11 of its samples come by chance */
	noise = compare(alone(10, 10u << 24), alone(5, 1u << 24));
	assert_near(noise.p_value, 2 * 0.00856, 2e-4);
	assert_false(compare(alone(2, 1000), alone(2, 1000)).has_enough_data);
}

/* As for the difference of two large shares of independent samples: z = 2.37. */
static void test_a_large_share_varies_less(void **state)
{
	struct significance noise = compare(alone(90000, 100000), alone(90316, 100000));

	assert_near(noise.p_value, erfc(0.00316 / sqrt(0.90158 * 0.09842 * 2 / 100000) / M_SQRT2),
		    5e-4);
}

/* What a row gains the rest loses; also if one window is much longer. */
static void test_a_share_and_the_rest_have_the_same_p_value(void **state)
{
	static const uint64_t counts[][4] = {
		{ 999990, 1000000, 999, 1000 }, { 999, 1000, 999990, 1000000 },
		{ 9000, 10000, 9100, 10000 },   { 700, 1000, 50000, 100000 },
		{ 20, 20, 1000, 1010 },         { 100, 100, 100, 100 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		const uint64_t *n = counts[i];
		struct significance share = compare(alone(n[0], n[1]), alone(n[2], n[3]));
		struct significance rest =
			compare(alone(n[1] - n[0], n[1]), alone(n[3] - n[2], n[3]));

		assert_near(share.difference, -rest.difference, 1e-12);
		assert_near(share.p_value / rest.p_value, 1, 1e-6);
	}
	/* 1 of 11 by a thousandth of all samples: (0.5) 2 * (1 - 0.999^11) */
	assert_near(compare(alone(999990, 1000000), alone(999, 1000)).p_value, 0.022, 1e-3);
}

static void test_all_and_nothing(void **state)
{
	struct significance noise = compare(alone(100, 100), alone(100, 100));

	assert_near(noise.difference, 0, 0);
	assert_near(noise.p_value, 1, 0);
	assert_true(noise.interval.low < 0 && noise.interval.high > 0);
	noise = compare(alone(0, 0), alone(5, 100));
	assert_near(noise.p_value, 1, 0);
	assert_near(noise.intervals[SIDE_OLD].high, 1, 0);
	noise = compare(alone(0, 0), alone(0, 0));
	assert_near(noise.p_value, 1, 0);
}

/* The same counts, with parts that are equal and with parts that are not. */
static void test_parts_show_the_noise(void **state)
{
	uint64_t even[N_PARTS], more[N_PARTS], uneven[N_PARTS], all[N_PARTS];
	struct significance_counts a = { .count = 1200,
					 .total = 12000,
					 .all = all,
					 .n_parts = N_PARTS,
					 .stride = 1,
					 .parts = even };
	struct significance_counts b = a, one = { .count = 1500, .total = 12000 };
	struct significance calm, wild;

	for (size_t i = 0; i < N_PARTS; i++) {
		all[i] = 1000;
		even[i] = 100;
		more[i] = 125;
		uneven[i] = i % 2 ? 200 : 0;
	}
	b.count = 1500;
	b.parts = more;
	calm = compare(a, b);
	a.parts = b.parts = uneven;
	wild = compare(a, b);
	assert_true(calm.p_value < 1e-5 && wild.p_value > 0.01);
	assert_true(wild.interval.high - wild.interval.low >
		    4 * (calm.interval.high - calm.interval.low));
	/* and of a window without parts */
	assert_true(compare(a, one).p_value > 0.01);
	assert_true(compare(one, a).p_value > 0.01);
	a.n_parts = SIGNIFICANCE_MIN_PARTS - 1; /* too few */
	assert_true(compare(a, one).p_value < 1e-4);
}

/* Benjamini and Hochberg's own example of 15 p_values, of which the first four are rejected at
 * 0.05. */
static void test_control(void **state)
{
	const double theirs[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
				  0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0 };
	double p_values[ARRAY_SIZE(theirs)], limit;

	for (size_t i = 0; i < ARRAY_SIZE(theirs); i++)
		p_values[ARRAY_SIZE(theirs) - 1 - i] = theirs[i] * SIGNIFICANCE_FALSE_SHARE / 0.05;
	assert_int_equal(significance_control(p_values, ARRAY_SIZE(theirs), &limit), 0);
	assert_near(limit, 0.0095 * SIGNIFICANCE_FALSE_SHARE / 0.05, 1e-12);
	p_values[0] = 1;
	assert_int_equal(significance_control(p_values, 1, &limit), 0);
	assert_true(limit < 0);
	assert_int_equal(significance_control(NULL, 0, &limit), 0);
	assert_true(limit < 0);
}

/* A load: rows with shares from large to small, as programs have them, that come in runs. */
struct load {
	double shares[N_ROWS];
	double stay;   /* the probability that the next sample is of the same row */
	double uneven; /* how much the shares of a part of time differ from the load's */
};

static double random_real(uint64_t *state)
{
	return (double)(next_random(state) >> 11) / 9007199254740992.0;
}

static size_t draw_row(const double *shares, uint64_t *state)
{
	double left = random_real(state);
	size_t row = 0;

	while (row + 1 < N_ROWS && left >= shares[row])
		left -= shares[row++];
	return row;
}

/* The shares for one part of time: some rows have more, others less. */
static void vary(const struct load *load, double *ret, uint64_t *state)
{
	double sum = 0;

	for (size_t i = 0; i < N_ROWS; i++) {
		ret[i] = load->shares[i] *
			 exp(load->uneven * (random_real(state) + random_real(state) - 1));
		sum += ret[i];
	}
	for (size_t i = 0; i < N_ROWS; i++)
		ret[i] /= sum;
}

/* What was sampled of a load: row i in part k is parts[i * N_PARTS + k]. */
struct window {
	uint64_t counts[N_ROWS], total;
	uint64_t parts[N_ROWS * N_PARTS], all[N_PARTS];
};

static void sample(struct window *window, const struct load *load, uint64_t n, uint64_t *state)
{
	double shares[N_ROWS];
	size_t row = 0;

	memset(window, 0, sizeof(*window));
	for (size_t part = 0; part < N_PARTS; part++) {
		vary(load, shares, state);
		for (uint64_t i = 0; i < n / N_PARTS; i++) {
			if (i == 0 || random_real(state) >= load->stay)
				row = draw_row(shares, state);
			window->counts[row]++;
			window->parts[row * N_PARTS + part]++;
			window->all[part]++;
			window->total++;
		}
	}
}

static struct significance_counts counts_of(const struct window *window, size_t row, bool in_parts)
{
	return (struct significance_counts){
		.count = window->counts[row],
		.total = window->total,
		.parts = &window->parts[row * N_PARTS],
		.stride = 1,
		.all = window->all,
		.n_parts = in_parts ? N_PARTS : 0,
	};
}

/* The number of rows that are significant; *@ret_first is the one that moved most. */
static size_t count_moved(const struct window *a, const struct window *b, bool a_in_parts,
			  bool b_in_parts, size_t *ret_first)
{
	struct significance noises[N_ROWS];
	double p_values[N_ROWS], limit, most = 0;
	size_t n = 0, moved = 0;

	for (size_t i = 0; i < N_ROWS; i++) {
		noises[i] = compare(counts_of(a, i, a_in_parts), counts_of(b, i, b_in_parts));
		if (noises[i].has_enough_data)
			p_values[n++] = noises[i].p_value;
	}
	assert_int_equal(significance_control(p_values, n, &limit), 0);
	for (size_t i = 0; i < N_ROWS; i++) {
		if (!noises[i].has_enough_data || noises[i].p_value > limit)
			continue;
		moved++;
		if (ret_first && fabs(noises[i].difference) > most) {
			most = fabs(noises[i].difference);
			*ret_first = i;
		}
	}
	return moved;
}

static void make_load(struct load *load, double stay, double uneven)
{
	double sum = 0;

	*load = (struct load){ .stay = stay, .uneven = uneven };
	for (size_t i = 0; i < N_ROWS; i++)
		sum += load->shares[i] = 1 / (double)(i + 1);
	for (size_t i = 0; i < N_ROWS; i++)
		load->shares[i] /= sum;
}

/* Of N_PAIRS pairs of the same load at most 5 in a hundred may show a row that moved. */
static void check_steady(double stay, double uneven, uint64_t n_old, uint64_t n_new, bool in_parts,
			 bool new_in_parts)
{
	uint64_t state = 1;
	struct window a, b;
	struct load load;
	size_t n = 0;

	make_load(&load, stay, uneven);
	for (size_t i = 0; i < N_PAIRS; i++) {
		sample(&a, &load, n_old, &state);
		sample(&b, &load, n_new, &state);
		n += count_moved(&a, &b, in_parts, new_in_parts, NULL) > 0;
	}
	print_message("%zu of %d pairs show a row that moved\n", n, N_PAIRS);
	assert_true(n <= N_PAIRS / 20);
}

static void test_nothing_moves_between_windows_of_independent_samples(void **state)
{
	check_steady(0, 0, 2000, 2000, false, false);
	check_steady(0, 0, 20000, 1000, false, false);
}

/* With a probability of s to stay the variance is (1 + s) / (1 - s) times as large. */
static void test_nothing_moves_between_windows_whose_samples_come_in_runs(void **state)
{
	check_steady((SIGNIFICANCE_EXCESS - 1) / (SIGNIFICANCE_EXCESS + 1), 0, 2000, 2000, false,
		     false);
	check_steady((SIGNIFICANCE_EXCESS - 1) / (SIGNIFICANCE_EXCESS + 1), 0, 500, 5000, false,
		     false);
}

static void test_nothing_moves_between_ranges_of_an_uneven_load(void **state)
{
	check_steady(0.8, 0.5, 12000, 12000, true, true);
	check_steady(0.5, 1, 12000, 24000, true, true);
	check_steady(0, 0, 12000, 12000, true, true);
}

static void test_a_change_is_found(void **state)
{
	const size_t changed = 4;
	uint64_t random = 7;
	struct load load, dearer;
	struct window a, b;
	size_t found = 0;

	make_load(&load, 0.3, 0.1);
	dearer = load;
	for (size_t i = 0; i < N_ROWS; i++) /* twice the cost, and less of all else */
		dearer.shares[i] *= (i == changed ? 2 : 1) / (1 + load.shares[changed]);
	for (size_t i = 0; i < N_PAIRS; i++) {
		size_t first = N_ROWS;

		sample(&a, &load, 12000, &random);
		sample(&b, &dearer, 12000, &random);
		count_moved(&a, &b, i % 2, i % 2, &first);
		found += first == changed;
	}
	print_message("found in %zu of %d pairs\n", found, N_PAIRS);
	assert_true(found >= N_PAIRS - 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interval_of_a_difference),
		cmocka_unit_test(test_interval_of_a_share),
		cmocka_unit_test(test_p_value_is_that_of_the_exact_test),
		cmocka_unit_test(test_a_large_share_varies_less),
		cmocka_unit_test(test_a_share_and_the_rest_have_the_same_p_value),
		cmocka_unit_test(test_all_and_nothing),
		cmocka_unit_test(test_parts_show_the_noise),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_nothing_moves_between_windows_of_independent_samples),
		cmocka_unit_test(test_nothing_moves_between_windows_whose_samples_come_in_runs),
		cmocka_unit_test(test_nothing_moves_between_ranges_of_an_uneven_load),
		cmocka_unit_test(test_a_change_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
