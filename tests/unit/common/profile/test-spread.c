/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

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

/* Samples at the function, not called by anything that is known. */
static uint64_t samples_below(const struct profile *p, uint64_t root, uint64_t offset)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i], *unknown, *caller;

		if (s->frame.offset != offset || s->parent == PROFILE_NONE)
			continue;
		unknown = &p->stacks[s->parent];
		assert_int_equal(unknown->frame.object, PROFILE_NONE);
		caller = &p->stacks[unknown->parent];
		n += caller->frame.offset == root ? s->samples : 0;
	}
	return n;
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
	assert_int_equal(samples_below(p, 10, 250), 4);
	assert_int_equal(samples_below(p, 20, 250), 1);
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
		if (p->stacks[i].frame.offset != 250)
			assert_int_equal(p->stacks[i].variance, 9 * p->stacks[i].samples);
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

/* However unlikely it is that nothing of the large one was captured. */
static void test_large_functions_stand_for_others(void **state)
{
	static const uint64_t sizes[] = { 400, 4000, 4500, 6000, 1000000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		_cleanup_(profile_freep) struct profile *p = make();
		uint32_t caller = add(p, PROFILE_NONE, 10, 0, 0);

		add(p, caller, 110, sizes[i] / 8, 0);
		add(p, caller, 120, 1, 0);
		add(p, PROFILE_NONE, 150, 0, sizes[i] - sizes[i] / 8 - 1);
		add(p, PROFILE_NONE, 250, 0, 5);
		assert_int_equal(profile_finalize(p), 0);
		assert_int_equal(profile_spread_ticks(p), 0);
		assert_int_equal(samples_below(p, 10, 250), 5);
		for (size_t k = 0; k < p->n_stacks; k++)
			assert_true(p->stacks[k].variance < UINT32_MAX);
	}
}

/* main() at 10 calls the kernel's function at 300 of the second object, and that the one at 400. */
static struct profile *make_with_kernel(uint64_t captured, uint64_t ticks)
{
	const struct profile_object kernel = { .kind = OBJECT_KERNEL, .path = "[kernel]" };
	struct profile *p = make();
	uint32_t caller = add(p, PROFILE_NONE, 10, 0, 0);
	int64_t object = profile_add_object(p, &kernel);
	struct profile_stack *rows;
	uint32_t entry, leaf, tick;

	add(p, caller, 110, 4, 0);
	add(p, PROFILE_NONE, 150, 0, 36);
	add(p, PROFILE_NONE, 250, 0, 6);
	entry = add(p, caller, 300, 0, 0);
	leaf = add(p, entry, 400, captured, 0);
	tick = add(p, PROFILE_NONE, 500, 0, ticks);
	rows = p->stacks;
	rows[entry].frame.object = rows[leaf].frame.object = rows[tick].frame.object =
		(uint32_t)object;
	for (uint64_t start = 400; start <= 500; start += 100) {
		const struct profile_function function = {
			.object = (uint32_t)object, .start = start, .size = 10, .name = "k"
		};

		profile_add_function(p, &function);
	}
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(profile_spread_ticks(p), 0);
	return p;
}

/* A function of the process is not called by one of the kernel; the kernel's may be called by both.
 */
static void test_the_kernel_has_callers_of_its_own(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make_with_kernel(3, 7);
	_cleanup_(profile_freep) struct profile *none = make_with_kernel(0, 7);

	assert_int_equal(samples_below(p, 10, 250), 6);
	assert_int_equal(samples_below(p, 300, 500), 7);
	assert_int_equal(samples_below(none, 10, 250), 6);
	assert_int_equal(samples_below(none, 10, 500), 7);
}

#define N_SMALL 200

/* A program of many small functions, called by a() and b(): samples by function and caller. */
struct program {
	uint64_t captured[N_SMALL][2], ticks[N_SMALL];
	uint64_t seed;
};

static double draw(struct program *program)
{
	program->seed = program->seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(program->seed >> 11) * 0x1p-53;
}

/* The first function is hot. Even ones are called by a() mostly. */
static void sample(struct program *program)
{
	double u = draw(program);
	size_t function = (size_t)(N_SMALL * u * u * u);
	bool by_b = draw(program) < (function % 2 == 0 ? 0.2 : 0.8);

	if (draw(program) < (function == 0 ? 0.15 : 0.15 / SPREAD_COLD_WEIGHT))
		program->captured[function][by_b]++;
	else
		program->ticks[function]++;
}

static struct profile *run_program(uint64_t seed, uint64_t one_in)
{
	struct program program = { .seed = seed };
	struct profile *p = make();
	uint32_t top = add(p, PROFILE_NONE, 10, 0, 0), callers[2];

	callers[0] = add(p, top, 20, 0, 0);
	callers[1] = add(p, top, 30, 0, 0);
	for (int i = 0; i < 4000; i++)
		sample(&program);
	for (size_t i = 0; i < N_SMALL; i++) {
		uint64_t offset = 1000 + 10 * i;
		const struct profile_function function = { .start = offset,
							   .size = 10,
							   .name = "f" };

		profile_add_function(p, &function);
		add(p, PROFILE_NONE, offset, 0, program.ticks[i]);
		for (size_t k = 0; k < 2; k++) {
			uint64_t n = program.captured[i][k];
			uint32_t row = add(p, callers[k], offset, n, 0);

			if (i > 0) {
				p->stacks[row].samples = n * SPREAD_COLD_WEIGHT;
				p->stacks[row].surplus = n * (SPREAD_COLD_WEIGHT - 1);
			}
		}
	}
	profile_scale_samples(p, one_in);
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(profile_spread_ticks(p), 0);
	return p;
}

/* A sum of rows, and its variance. */
struct total {
	double samples, variance;
};

static struct total total_of(const struct profile *p, uint64_t offset)
{
	struct total total = { 0 };

	for (size_t i = 0; i < p->n_stacks; i++) {
		uint32_t k = (uint32_t)i;

		while (k != PROFILE_NONE && p->stacks[k].frame.offset != offset)
			k = p->stacks[k].parent;
		if (k == PROFILE_NONE)
			continue;
		total.samples += (double)p->stacks[i].samples;
		total.variance += (double)(p->stacks[i].samples + p->stacks[i].variance);
	}
	return total;
}

/*
 * Most of them have no captured stack. Nevertheless the top has all samples, and its callees their
 * part. One in @one_in of the samples that were due was taken.
 */
static void check_small_functions(uint64_t one_in)
{
	double truth = 0, sum = 0;
	int n_within = 0;

	for (int i = 0; i < N_SMALL; i++)
		truth += (cbrt((i + 1.0) / N_SMALL) - cbrt((double)i / N_SMALL)) *
			 (i % 2 == 0 ? 0.8 : 0.2);
	for (uint64_t seed = 1; seed <= 200; seed++) {
		_cleanup_(profile_freep) struct profile *p = run_program(seed * 7919, one_in);
		struct total top = total_of(p, 10), a = total_of(p, 20), b = total_of(p, 30);
		double share = a.samples / top.samples, error;

		assert_int_equal(top.samples, p->counters.samples);
		error = sqrt((1 - share) * (1 - share) * a.variance + share * share * b.variance) /
			top.samples;
		n_within += fabs(share - truth) < 1.96 * error;
		sum += share;
	}
	print_message("a() has %.2f %%, was to have %.2f; %d of 200 intervals have that\n", sum / 2,
		      100 * truth, n_within);
	assert_true(fabs(sum / 200 - truth) < 0.01);
	assert_in_range(n_within, 182, 200);
}

static void test_callers_of_small_functions(void **state)
{
	check_small_functions(1);
}

static void test_callers_where_few_samples_were_taken(void **state)
{
	check_small_functions(8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_function_keeps_its_samples),
		cmocka_unit_test(test_sums_are_exact),
		cmocka_unit_test(test_large_functions_stand_for_others),
		cmocka_unit_test(test_the_kernel_has_callers_of_its_own),
		cmocka_unit_test(test_callers_of_small_functions),
		cmocka_unit_test(test_callers_where_few_samples_were_taken),
		cmocka_unit_test(test_branches_stand_for_their_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
