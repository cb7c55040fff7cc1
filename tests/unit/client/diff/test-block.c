/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks of two builds of a program, without its code: no block of a changed function matches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/diff/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/profile-fixture.h"
#include "tests/support/source-fixture.h"

struct both {
	struct profile_source sources[N_SIDES];
	uint32_t objects[N_SIDES], processes[N_SIDES];
	struct comparison *comparison;
	struct diff_blocks *blocks;
};

static int setup(void **state)
{
	struct both *both = calloc(1, sizeof(*both));
	struct symbolizer_settings settings = {};

	assert_non_null(both);
	for (int side = 0; side < N_SIDES; side++) {
		struct profile_source *source = &both->sources[side];

		source->profile = fixture_new();
		both->objects[side] =
			fixture_object(source->profile, "/nonexistent/demo", (uint8_t)(side + 1));
		both->processes[side] =
			fixture_process(source->profile, "demo", "/nonexistent/demo");
		assert_int_equal(symbolizer_new(&source->symbolizer, &settings), 0);
	}
	*state = both;
	return 0;
}

static int teardown(void **state)
{
	struct both *both = *state;

	diff_blocks_free(both->blocks);
	comparison_free(both->comparison);
	for (int side = 0; side < N_SIDES; side++)
		source_fixture_done(&both->sources[side]);
	free(both);
	return 0;
}

/* The start of a function: all functions have other addresses on the new side. */
static uint64_t base_of(enum side side, uint64_t function)
{
	return (side == SIDE_NEW ? 0x5000 : 0x1000) + 0x100 * function;
}

static void add_function(struct both *both, enum side side, const char *name, uint64_t fingerprint)
{
	struct profile *profile = both->sources[side].profile;

	fixture_index(
		profile_add_function(profile, &(struct profile_function){
						      .object = both->objects[side],
						      .start = base_of(side, profile->n_functions),
						      .size = 0x100,
						      .name = name,
						      .fingerprint = fingerprint,
					      }));
}

static void add_block_to(struct profile *profile, uint32_t process, uint32_t object, uint64_t start,
			 uint64_t runs, uint64_t cycles)
{
	fixture_index(profile_add_block(profile, &(struct profile_block){
							 .process = process,
							 .object = object,
							 .start = start,
							 .end = start + 8,
							 .runs = runs,
							 .cycles = cycles,
							 .cycles_rows = cycles > 0 ? runs : 0,
						 }));
	profile->counters.runs_counted += runs;
	profile->counters.samples += runs; /* of two rows each */
}

static void add_block(struct both *both, enum side side, uint64_t function, uint64_t offset,
		      uint64_t runs, uint64_t cycles)
{
	add_block_to(both->sources[side].profile, both->processes[side], both->objects[side],
		     base_of(side, function) + offset, runs, cycles);
}

static void make(struct both *both, double limit)
{
	const struct profile_source *sources[N_SIDES];
	const struct comparison_settings settings = {};
	struct fault fault;

	for (int side = 0; side < N_SIDES; side++) {
		struct profile_source *source = &both->sources[side];

		source->all = source->shown = fixture_finalized(source->profile);
		sources[side] = source;
	}
	assert_int_equal(comparison_new(&both->comparison, sources, &settings, &fault), 0);
	assert_int_equal(diff_blocks_new(&both->blocks, both->comparison, limit, &fault), 0);
}

static void test_a_block_is_the_same_by_its_place_in_its_function(void **state)
{
	struct both *both = *state;
	const struct diff_block *row;

	for (int side = 0; side < N_SIDES; side++) {
		if (side == SIDE_NEW) /* another function before it */
			add_function(both, side, "other", 9);
		add_function(both, side, "work", 1);
		add_block(both, side, side, 0x10, 1000, side == SIDE_NEW ? 30000 : 10000);
		add_block(both, side, side, 0x40, 9000, 90000);
	}
	make(both, 0);
	assert_int_equal(both->blocks->n_rows, 2);
	assert_int_equal(both->blocks->n_significant, 2);
	row = &both->blocks->rows[0];
	assert_true(row->ends[SIDE_OLD].there && row->ends[SIDE_NEW].there && !row->changed);
	assert_true(fabs(row->share.difference) - 0.15 < 1e-9);
	for (size_t i = 0; i < 2; i++)
		if (both->blocks->rows[i].ends[SIDE_OLD].block.runs == 1000)
			assert_true(fabs(both->blocks->rows[i].average[SIDE_NEW] - 30) < 1e-9 &&
				    fabs(both->blocks->rows[i].average[SIDE_OLD] - 10) < 1e-9);
}

static void test_blocks_of_a_changed_function_stand_in_for_each_other(void **state)
{
	struct both *both = *state;
	size_t n_pairs = 0, n_new = 0;

	add_function(both, SIDE_OLD, "work", 1);
	add_function(both, SIDE_NEW, "work", 2);
	add_block(both, SIDE_OLD, 0, 0x10, 100, 1000);
	add_block(both, SIDE_OLD, 0, 0x40, 200, 3000);
	add_block(both, SIDE_NEW, 0, 0x20, 300, 1000);
	add_block(both, SIDE_NEW, 0, 0x60, 400, 3000);
	add_block(both, SIDE_NEW, 0, 0x80, 500, 1000);
	make(both, 0);
	assert_int_equal(both->blocks->n_rows, 3);
	assert_int_equal(both->blocks->n_compared, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct diff_block *row = &both->blocks->rows[i];

		assert_true(row->changed && row->change == CHANGE_CODE);
		if (row->ends[SIDE_OLD].there) {
			n_pairs++;
			assert_int_equal(row->ends[SIDE_NEW].block.runs,
					 row->ends[SIDE_OLD].block.runs + 200);
		} else {
			n_new++;
			assert_int_equal(row->ends[SIDE_NEW].block.runs, 500);
		}
	}
	assert_int_equal(n_pairs, 2);
	assert_int_equal(n_new, 1);
}

static bool is_on_both(const struct diff_block *row)
{
	return row->ends[SIDE_OLD].there && row->ends[SIDE_NEW].there;
}

/* As static functions of a header are, and some whose code nobody has. */
static void test_functions_of_one_name_against_themselves(void **state)
{
	static const uint64_t fingerprints[] = { 1, 2, 1, 0, 0, 1 };
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++)
		for (size_t i = 0; i < ARRAY_SIZE(fingerprints); i++) {
			add_function(both, side, "twin", fingerprints[i]);
			add_block(both, side, i, 0x10, 1000 + 1000 * i, 1000 + 1000 * i);
		}
	make(both, 0);
	assert_int_equal(both->blocks->n_rows, 4);
	assert_int_equal(both->blocks->n_significant, 0);
	for (size_t i = 0; i < 4; i++) {
		const struct diff_block *row = &both->blocks->rows[i];

		assert_true(is_on_both(row) && !row->changed);
		assert_int_equal(row->ends[SIDE_OLD].block.runs, row->ends[SIDE_NEW].block.runs);
	}
}

/* Two of a name, of which one was changed. */
static void test_of_functions_of_one_name_only_the_changed_one_is(void **state)
{
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++) {
		add_function(both, side, "init", side == SIDE_NEW ? 3 : 2);
		add_function(both, side, "init", 1);
		add_block(both, side, 0, 0x10, 1000, 1000);
		add_block(both, side, 1, 0x10, 3000, 3000);
	}
	make(both, 0);
	assert_int_equal(both->blocks->n_rows, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct diff_block *row = &both->blocks->rows[i];

		assert_true(is_on_both(row));
		assert_int_equal(row->ends[SIDE_OLD].block.runs, row->ends[SIDE_NEW].block.runs);
		assert_true(row->changed == (row->ends[SIDE_NEW].block.runs == 1000));
	}
}

static void test_without_cycles_by_runs(void **state)
{
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++) {
		add_function(both, side, "work", 1);
		add_block(both, side, 0, 0x10, side == SIDE_NEW ? 5000 : 1000, 0);
		add_block(both, side, 0, 0x40, 5000, 0);
	}
	make(both, 0);
	assert_false(both->blocks->by_cycles);
	assert_int_equal(both->blocks->n_significant, 2);
	assert_true(fabs(both->blocks->rows[0].share.difference) - 1.0 / 3 < 1e-9);
	assert_true(both->blocks->rows[0].average[SIDE_OLD] == 0);
}

static void test_small_ones_are_left_out(void **state)
{
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++) {
		add_function(both, side, "work", 1);
		add_block(both, side, 0, 0x10, 1, 10);
		add_block(both, side, 0, 0x40, 999, 9990);
	}
	make(both, 0.5);
	assert_int_equal(both->blocks->n_compared, 2);
	assert_int_equal(both->blocks->n_rows, 1);
}

/* A difference that parts of one side have among themselves, too. */
static void test_parts_measure_the_noise(void **state)
{
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++) {
		struct profile_source *source = &both->sources[side];

		add_function(both, side, "work", 1);
		add_block(both, side, 0, 0x10, side == SIDE_NEW ? 3600 : 3000, 30000);
		add_block(both, side, 0, 0x40, 3000, side == SIDE_NEW ? 24000 : 30000);
		source->parts = calloc(SIGNIFICANCE_MIN_PARTS, sizeof(*source->parts));
		assert_non_null(source->parts);
		for (; source->n_parts < SIGNIFICANCE_MIN_PARTS; source->n_parts++) {
			struct profile *part = fixture_new();
			uint32_t object =
				fixture_object(part, "/nonexistent/demo", (uint8_t)(side + 1));
			uint32_t process = fixture_process(part, "demo", NULL);
			uint64_t n = source->n_parts % 2 ? 1000 : 1;

			add_block_to(part, process, object, base_of(side, 0) + 0x10, n, 10 * n);
			add_block_to(part, process, object, base_of(side, 0) + 0x40, 1001 - n,
				     10010 - 10 * n);
			add_block_to(part, process, PROFILE_NONE, 0x70, 1, 10);
			source->parts[source->n_parts].shown = fixture_finalized(part);
			source->parts[source->n_parts].samples = 1001;
		}
	}
	make(both, 0);
	assert_int_equal(both->blocks->n_rows, 2);
	assert_int_equal(both->blocks->n_significant, 0);
	assert_true(both->blocks->rows[0].share.interval.high > 0.2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_block_is_the_same_by_its_place_in_its_function, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_blocks_of_a_changed_function_stand_in_for_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(test_functions_of_one_name_against_themselves,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_of_functions_of_one_name_only_the_changed_one_is, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_cycles_by_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_small_ones_are_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parts_measure_the_noise, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
