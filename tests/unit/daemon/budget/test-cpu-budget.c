/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "common/util/macro.h"
#include "daemon/budget/cpu-budget.h"

#define WINDOW_NS 10000000000ull
#define N_CPUS    4
#define LIMIT     0.002
#define BEFORE    40 /* windows */
#define HZ        1000
#define ASSUMED   0.008 /* of each CPU, before anything is measured: 8 us a sample */

/* A machine: what sampling costs on it, in shares of each CPU. */
struct machine {
	double fixed, by_rate; /* the latter with every sample taken and all CPUs busy */
	double busy;           /* of the CPUs */
	struct cpu_cost used;
	struct cpu_budget budget;
	double shares; /* of all windows since reset */
	double taken;  /* samples, of those due, likewise */
};

static void begin(struct machine *m, double fixed, double by_rate)
{
	*m = (struct machine){
		.fixed = fixed,
		.by_rate = by_rate,
		.busy = 1,
		.used = { .n_cpus = N_CPUS, .at_ns = WINDOW_NS },
	};
	cpu_budget_begin(&m->budget, LIMIT, 100, HZ);
	cpu_budget_update(&m->budget, &m->used);
	assert_true(m->budget.scale > 4 &&
		    m->budget.scale < 4.5); /* as a sample is assumed to cost */
}

static uint64_t cpu_ns(double share)
{
	return (uint64_t)(share * (double)WINDOW_NS * N_CPUS);
}

/* A window's cost: of samples half in the kernel, and of the rest half in the thread that counts.
 */
static void add_cost(struct machine *m, double noise)
{
	double samples = m->busy * m->by_rate / m->budget.one_in * noise, rest = m->fixed * noise;
	uint64_t n = (uint64_t)(m->busy * HZ * N_CPUS * WINDOW_NS / 1e9 / m->budget.one_in);

	m->used.at_ns += WINDOW_NS;
	m->used.program_ns += cpu_ns(samples / 2);
	m->used.counting_ns += cpu_ns(samples / 2 + rest / 2);
	m->used.rest_ns += cpu_ns(rest / 2);
	m->used.n_samples += n;
	m->used.n_taken += n;
	/* one takes a quarter of what a sample takes */
	m->used.n_others += samples > 0 ? (uint64_t)((double)n * 4 * rest / samples) : 0;
}

/* @n windows, and the averages over them. Costs vary from window to window by @noise of them. */
static void run(struct machine *m, unsigned int n, double noise)
{
	m->shares = m->taken = 0;
	for (unsigned int i = 0; i < n; i++) {
		double now = 1 + (i % 2 ? noise : -noise);

		m->shares += (m->fixed + m->busy * m->by_rate / m->budget.one_in) * now / n;
		m->taken += 1.0 / m->budget.one_in / n;
		add_cost(m, now);
		cpu_budget_update(&m->budget, &m->used);
		assert_true(m->budget.one_in >= 1);
		assert_true(m->budget.one_in <= m->budget.max_scale + 1);
	}
}

static void assert_holds(const struct machine *m)
{
	assert_true(m->shares <= 1.05 * LIMIT);
	assert_true(m->shares >= 0.8 * LIMIT);
	assert_true(fabs(m->budget.share - m->shares) < 0.25 * LIMIT);
}

static void test_cheap(void **state)
{
	struct machine m;

	begin(&m, 0.0005, 0.001);
	run(&m, BEFORE, 0.2);
	run(&m, BEFORE, 0.2);
	assert_true(m.taken > 0.999);
}

/* CPUs that become busy hold the budget from the first window on, but for the first time, when the
 * cost of a sample is not known; while they idle the rate stays what it would be if they were not.
 */
static void test_busy_at_once(void **state)
{
	struct machine m;

	begin(&m, 0.0002, 0.05);
	for (int i = 0; i < 3; i++) {
		double before = m.budget.scale;

		m.busy = 0.01;
		run(&m, BEFORE, 0.1);
		assert_true(m.shares < 0.2 * LIMIT);
		assert_true(i == 0 || fabs(m.budget.scale / before - 1) < 0.2);
		m.busy = 1;
		run(&m, 1, 0);
		assert_true(i == 0 || m.shares <= 1.2 * LIMIT);
		run(&m, 5, 0.1);
		assert_true(i == 0 || m.shares <= 1.2 * LIMIT);
		run(&m, BEFORE, 0.1);
	}
	run(&m, BEFORE, 0.1);
	assert_holds(&m);
}

/* What was dear once, as somebody may have made it, does not lower the rate for good; what is cheap
 * is not forgotten. */
static void test_idle_for_long(void **state)
{
	struct machine m;
	double assumed;

	begin(&m, 0.0002, 0.05);
	assumed = m.budget.scale;
	run(&m, BEFORE, 0.1);
	assert_true(m.budget.scale > 3 * assumed);
	m.busy = 0.01;
	run(&m, 3000, 0.1);
	assert_true(m.budget.scale < 1.3 * assumed);
	begin(&m, 0.0002, 0.001);
	run(&m, BEFORE, 0.1);
	m.busy = 0.01;
	run(&m, 3000, 0.1);
	assert_true(m.taken > 0.999);
}

/* What is assumed of a sample holds in the first window. */
static void test_first_window(void **state)
{
	struct machine m;

	begin(&m, 0.0001, ASSUMED);
	run(&m, 1, 0);
	assert_true(m.shares <= 1.2 * LIMIT);
	cpu_budget_begin(&m.budget, LIMIT, 100, 0); /* nothing is known of the rate */
	assert_int_equal(m.budget.one_in, 1);
	cpu_budget_begin(&m.budget, 0, 100, HZ);
	assert_int_equal(m.budget.one_in, 1);
	cpu_budget_begin(&m.budget, LIMIT, 100, 100 * HZ);
	assert_true(m.budget.scale == m.budget.max_scale);
}

/* From a load that is a little too dear to one that is fifty times so. */
static void test_dear(void **state)
{
	for (double by_rate = 0.0021; by_rate < 0.1; by_rate *= 1.3) {
		struct machine m;

		begin(&m, 0.0003, by_rate);
		run(&m, BEFORE, 0);
		run(&m, 60, 0);
		assert_holds(&m);
		run(&m, 60, 0.1);
		assert_holds(&m);
	}
}

static void test_changing_load(void **state)
{
	struct machine m;

	begin(&m, 0.0001, 0.0002);
	run(&m, BEFORE, 0);
	run(&m, 5, 0);
	assert_true(m.taken > 0.999);
	for (int i = 0; i < 3; i++) {
		m.fixed = 0.0006;
		m.by_rate = 0.02;
		run(&m, 8, 0); /* quickly down */
		run(&m, 20, 0);
		assert_holds(&m);
		m.fixed = 0.0001;
		m.by_rate = 0.0002;
		run(&m, BEFORE, 0); /* slowly up */
		run(&m, 5, 0);
		assert_true(m.taken > 0.999);
	}
}

static void test_lowest_rate(void **state)
{
	struct machine m;

	begin(&m, 0.001, 1);
	run(&m, BEFORE, 0);
	run(&m, 10, 0);
	assert_true(m.budget.scale == m.budget.max_scale);
	assert_true(fabs(m.taken - 0.01) < 0.0001);
}

/* Processes that start and end all the time take more than the budget: samples have a quarter of
 * it.
 */
static void test_what_samples_have_left(void **state)
{
	struct machine m;

	begin(&m, 0.02, 0.00045);
	run(&m, BEFORE, 0);
	run(&m, 20, 0.1);
	assert_true(m.taken > 0.95);
	begin(&m, 0.02, 0.004);
	run(&m, BEFORE, 0);
	run(&m, 60, 0);
	assert_true(m.taken > 0.1 && m.taken < 0.15);
}

static void test_no_limit(void **state)
{
	struct machine m;

	begin(&m, 0.0001, 0.02);
	run(&m, BEFORE, 0);
	assert_true(m.budget.one_in > 1);
	m.budget.limit = 0; /* the configuration was changed */
	run(&m, 2, 0);
	assert_int_equal(m.budget.one_in, 1);
	assert_true(m.budget.share > 0);
}

static void test_throttled(void **state)
{
	struct machine m;

	begin(&m, 0.0001, 0.0002);
	run(&m, BEFORE, 0);
	m.used.throttled = 3;
	run(&m, 1, 0);
	assert_int_equal(m.budget.one_in, 2);
	assert_true(m.budget.wanted <= 1); /* it is not for the limit */
	run(&m, 4, 0);
	assert_int_equal(m.budget.one_in, 2);
	run(&m, 10, 0);
	assert_int_equal(m.budget.one_in, 1);
}

/* Clocks that stand, counters that shrink, CPUs that have all gone. */
static void test_no_sense(void **state)
{
	struct machine m;

	begin(&m, 0.0001, 0.02);
	run(&m, 3, 0);
	cpu_budget_update(&m.budget, &m.used);
	m.used.n_cpus = 0;
	m.used.at_ns++;
	cpu_budget_update(&m.budget, &m.used);
	m.used = (struct cpu_cost){ .n_cpus = N_CPUS };
	cpu_budget_update(&m.budget, &m.used);
	m.used.at_ns = WINDOW_NS;
	cpu_budget_update(&m.budget, &m.used);
	assert_true(m.budget.one_in >= 1 && isfinite(m.budget.share));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cheap),         cmocka_unit_test(test_dear),
		cmocka_unit_test(test_changing_load), cmocka_unit_test(test_lowest_rate),
		cmocka_unit_test(test_no_limit),      cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_no_sense),      cmocka_unit_test(test_what_samples_have_left),
		cmocka_unit_test(test_first_window),  cmocka_unit_test(test_busy_at_once),
		cmocka_unit_test(test_idle_for_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
