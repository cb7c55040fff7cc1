/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/collector/own-cost.h"

#define LIMIT   0.002
#define HZ      1000
#define SAMPLES 1000000000 /* more than are due while the test runs */

/* Two windows, with these counts at their ends. */
static void end_windows(struct own_cost *cost, const struct sampler_counts *first,
			const struct sampler_counts *second)
{
	own_cost_init(cost, LIMIT, 100, HZ);
	own_cost_end_window(cost, first);
	own_cost_end_window(cost, second);
}

/* The program runs for them as well. */
static void test_filtered_samples_show_that_cpus_are_busy(void **state)
{
	const struct sampler_counts first = { .n_cpus = 1 };
	const struct sampler_counts second = { .n_cpus = 1, .run_ns = 1000, .filtered = SAMPLES };
	struct own_cost cost;
	double assumed;

	own_cost_init(&cost, LIMIT, 100, HZ);
	assumed = cost.budget.busy;
	end_windows(&cost, &first, &second);
	assert_true(cost.budget.busy != assumed);
}

/* A sample that is refused later is filtered, and was taken before. */
static void test_refused_samples_do_not_hide_the_cost(void **state)
{
	const struct sampler_counts first = { .n_cpus = 1, .taken = 10 };
	const struct sampler_counts second = {
		.n_cpus = 1, .run_ns = 1000, .taken = 5, .filtered = 7
	};
	struct own_cost_report report;
	struct own_cost cost;

	end_windows(&cost, &first, &second);
	own_cost_get(&cost, &report);
	assert_true(report.share > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filtered_samples_show_that_cpus_are_busy),
		cmocka_unit_test(test_refused_samples_do_not_hide_the_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
