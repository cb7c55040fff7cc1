/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of a diff: how they match, how they are tested, and their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/render/diff/words.h"
#include "tests/support/profile-fixture.h"
#include "tests/support/source-fixture.h"

static const char *const programs[] = { "/opt/old/demo", "/opt/new/demo" };

struct both {
	struct profile_source sources[N_SIDES];
	uint32_t objects[N_SIDES], processes[N_SIDES];
	struct diff_settings settings;
	struct comparison *comparison;
	struct diff *diff;
};

static int setup(void **state)
{
	struct both *both = calloc(1, sizeof(*both));

	assert_non_null(both);
	for (int side = 0; side < N_SIDES; side++) {
		struct profile_source *source = &both->sources[side];

		source->profile = fixture_new();
		source->name = strdup(side == SIDE_OLD ? "the old one" : "the new one");
		both->objects[side] =
			fixture_object(source->profile, programs[side], (uint8_t)(side + 1));
		both->processes[side] = fixture_process(source->profile, "demo", programs[side]);
	}
	both->settings = (struct diff_settings){ .percent_limit = -1 };
	*state = both;
	return 0;
}

static int teardown(void **state)
{
	struct both *both = *state;

	diff_free(both->diff);
	comparison_free(both->comparison);
	for (int side = 0; side < N_SIDES; side++)
		source_fixture_done(&both->sources[side]);
	free(both);
	return 0;
}

/* A function with @samples self samples, called by @caller. Its address differs on the two sides.
 */
static uint32_t add(struct both *both, enum side side, uint32_t caller, const char *name,
		    uint64_t samples)
{
	struct profile *profile = both->sources[side].profile;
	uint64_t start = 0x1000 + 0x100 * profile->n_functions + (side == SIDE_NEW ? 0x4000 : 0);

	fixture_function(profile, both->objects[side], start, name);
	return fixture_stack(profile, both->processes[side], caller, both->objects[side], start + 4,
			     samples);
}

static void make(struct both *both)
{
	const struct profile_source *sources[N_SIDES];
	struct fault fault;

	for (int side = 0; side < N_SIDES; side++) {
		struct profile_source *source = &both->sources[side];

		source->all = source->shown = fixture_finalized(source->profile);
		sources[side] = source;
	}
	comparison_free(both->comparison);
	assert_int_equal(
		comparison_new(&both->comparison, sources, &(struct comparison_settings){}, &fault),
		0);
	assert_int_equal(diff_new(&both->diff, both->comparison, &both->settings, &fault), 0);
}

static const char *name_of(const struct diff_share *row)
{
	return row->ends[diff_share_side(row)].key.symbol;
}

static const struct diff_share *find(const struct both *both, const char *name)
{
	for (size_t i = 0; i < both->diff->n_rows; i++)
		if (strcmp(name_of(&both->diff->shares->rows[i]), name) == 0)
			return &both->diff->shares->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void test_an_object_of_another_build_is_rebuilt(void **state)
{
	struct both *both = *state;

	add(both, SIDE_OLD, PROFILE_NONE, "main", 100);
	add(both, SIDE_NEW, PROFILE_NONE, "main", 100);
	make(both);
	assert_true(comparison_is_rebuilt(both->comparison, both->objects[SIDE_NEW]));
}

static void test_an_object_of_one_of_the_old_builds_is_not_rebuilt(void **state)
{
	struct both *both = *state;
	uint32_t same;

	add(both, SIDE_OLD, PROFILE_NONE, "main", 100);
	same = fixture_object(both->sources[SIDE_OLD].profile, programs[SIDE_OLD], SIDE_NEW + 1);
	fixture_function(both->sources[SIDE_OLD].profile, same, 0x9000, "main");
	fixture_stack(both->sources[SIDE_OLD].profile, both->processes[SIDE_OLD], PROFILE_NONE,
		      same, 0x9004, 100);
	add(both, SIDE_NEW, PROFILE_NONE, "main", 100);
	make(both);
	assert_false(comparison_is_rebuilt(both->comparison, both->objects[SIDE_NEW]));
}

static void test_functions_match_by_name(void **state)
{
	struct both *both = *state;
	uint32_t main_function;

	main_function = add(both, SIDE_OLD, PROFILE_NONE, "main", 100);
	add(both, SIDE_OLD, main_function, "gone", 300);
	add(both, SIDE_OLD, main_function, "work.isra.0", 600);
	main_function = add(both, SIDE_NEW, PROFILE_NONE, "main", 500);
	add(both, SIDE_NEW, main_function, "come", 900);
	add(both, SIDE_NEW, main_function, "work", 600);
	make(both);
	assert_int_equal(both->diff->n_rows, 4);
	assert_true(fabs(find(both, "main")->self.difference - 0.15) < 1e-9);
	assert_int_equal(find(both, "main")->ends[SIDE_OLD].total, 1000);
	assert_int_equal(find(both, "work")->ends[SIDE_OLD].self, 600);
	assert_true(fabs(find(both, "work")->self.difference + 0.3) < 1e-9);
	assert_false(find(both, "come")->ends[SIDE_OLD].there);
	assert_false(find(both, "gone")->ends[SIDE_NEW].there);
}

static void test_the_largest_change_comes_first_and_noise_last(void **state)
{
	struct both *both = *state;
	const char *const order[] = { "up", "down", "noise", "still" };

	add(both, SIDE_OLD, PROFILE_NONE, "still", 5000);
	add(both, SIDE_OLD, PROFILE_NONE, "up", 1000);
	add(both, SIDE_OLD, PROFILE_NONE, "down", 4000);
	add(both, SIDE_OLD, PROFILE_NONE, "noise", 4);
	add(both, SIDE_NEW, PROFILE_NONE, "still", 5000);
	add(both, SIDE_NEW, PROFILE_NONE, "up", 1900);
	add(both, SIDE_NEW, PROFILE_NONE, "down", 3102);
	add(both, SIDE_NEW, PROFILE_NONE, "noise", 2);
	make(both);
	assert_int_equal(both->diff->n_rows, 4);
	assert_int_equal(both->diff->shares->n_significant, 2);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(name_of(&both->diff->shares->rows[i]), order[i]);
}

static void test_totals_may_be_significant_alone(void **state)
{
	struct both *both = *state;
	uint32_t caller, other;

	caller = add(both, SIDE_OLD, PROFILE_NONE, "caller", 100);
	other = add(both, SIDE_OLD, PROFILE_NONE, "other", 100);
	add(both, SIDE_OLD, caller, "work", 1000);
	fixture_stack(both->sources[SIDE_OLD].profile, both->processes[SIDE_OLD], other,
		      both->objects[SIDE_OLD], 0x1204, 9000);
	caller = add(both, SIDE_NEW, PROFILE_NONE, "caller", 100);
	other = add(both, SIDE_NEW, PROFILE_NONE, "other", 100);
	add(both, SIDE_NEW, caller, "work", 5000);
	fixture_stack(both->sources[SIDE_NEW].profile, both->processes[SIDE_NEW], other,
		      both->objects[SIDE_NEW], 0x5204, 5000);
	make(both);
	assert_int_equal(both->diff->shares->n_significant, 0);
	assert_true(find(both, "caller")->total_significant);
	assert_true(find(both, "other")->total_significant);
	assert_false(find(both, "work")->total_significant);
}

static void test_the_same_profile_has_no_significant_change(void **state)
{
	static const enum view_by views[] = { VIEW_FUNCTION, VIEW_OBJECT, VIEW_PROCESS, VIEW_UNIT };
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++)
		add(both, side, add(both, side, PROFILE_NONE, "main", 10), "work", 990);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		both->diff = diff_free(both->diff);
		both->settings.by = views[i];
		make(both);
		assert_int_equal(both->diff->shares->n_significant, 0);
		assert_int_equal(both->diff->n_rows, views[i] == VIEW_FUNCTION ? 2 : 1);
		for (size_t k = 0; k < both->diff->n_rows; k++)
			assert_true(fabs(both->diff->shares->rows[k].self.difference) < 1e-12);
	}
}

static void test_rows_and_the_limit(void **state)
{
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++) {
		add(both, side, PROFILE_NONE, "hot", 9900);
		add(both, side, PROFILE_NONE, "warm", 90);
		add(both, side, PROFILE_NONE, "cold", 10);
	}
	both->settings.percent_limit = 0.5;
	both->settings.n_rows = 1;
	make(both);
	assert_int_equal(both->diff->n_compared, 3);
	assert_int_equal(both->diff->n_rows, 2);
	assert_int_equal(both->diff->n_shown, 1);
	both->diff = diff_free(both->diff);
	both->settings.all = true;
	make(both);
	assert_int_equal(both->diff->n_rows, 3);
	assert_int_equal(both->diff->n_shown, 3);
	both->diff = diff_free(both->diff);
	both->settings.rows_given = true;
	make(both);
	assert_int_equal(both->diff->n_rows, 3);
	assert_int_equal(both->diff->n_shown, 1);
}

/* 12 calls of 30 cycles, then 12 of 60; a jump back to the start from within is no call. */
static void test_what_a_call_costs(void **state)
{
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++) {
		struct profile *profile = both->sources[side].profile;
		uint32_t object = both->objects[side], process = both->processes[side];
		uint64_t base = side == SIDE_NEW ? 0x4000 : 0;

		add(both, side, PROFILE_NONE, "main", 10);
		add(both, side, PROFILE_NONE, "work", 10);
		fixture_index(profile_add_branch(profile, &(struct profile_branch){
								  .process = process,
								  .from = { object, base + 0x1010 },
								  .to = { object, base + 0x1100 },
								  .taken = 12,
							  }));
		fixture_index(profile_add_branch(profile, &(struct profile_branch){
								  .process = process,
								  .from = { object, base + 0x1110 },
								  .to = { object, base + 0x1100 },
								  .taken = 100,
							  }));
		fixture_index(
			profile_add_block(profile, &(struct profile_block){
							   .process = process,
							   .object = object,
							   .start = base + 0x1100,
							   .end = base + 0x1110,
							   .runs = 24,
							   .cycles = side == SIDE_NEW ? 360 : 180,
							   .cycles_rows = 12,
						   }));
		profile->counters.rows_counted = 112;
		profile->counters.runs_counted = 112;
	}
	make(both);
	assert_true(fabs(find(both, "work")->ends[SIDE_OLD].per_call - 30) < 1e-9);
	assert_true(fabs(find(both, "work")->ends[SIDE_NEW].per_call - 60) < 1e-9);
	assert_true(find(both, "main")->ends[SIDE_OLD].per_call == 0);
}

/* In parts of time that differ so much among themselves, a difference is none. */
static void test_parts_of_a_range_measure_the_noise(void **state)
{
	struct both *both = *state;
	const size_t n_parts = 6;

	for (int side = 0; side < N_SIDES; side++) {
		struct profile_source *source = &both->sources[side];

		add(both, side, PROFILE_NONE, "a", side == SIDE_OLD ? 3000 : 3600);
		add(both, side, PROFILE_NONE, "b", side == SIDE_OLD ? 3000 : 2400);
		source->parts = calloc(n_parts, sizeof(*source->parts));
		assert_non_null(source->parts);
		for (source->n_parts = 0; source->n_parts < n_parts; source->n_parts++) {
			struct profile *part = fixture_new();
			uint32_t object = fixture_object(part, programs[side], (uint8_t)(side + 1));
			uint32_t process = fixture_process(part, "demo", programs[side]);
			uint64_t a = source->n_parts % 2 ? 1000 : side == SIDE_OLD ? 0 : 200;

			fixture_function(part, object, 0x1000, "a");
			fixture_function(part, object, 0x1100, "b");
			fixture_stack(part, process, PROFILE_NONE, object, 0x1004, a);
			fixture_stack(part, process, PROFILE_NONE, object, 0x1104, 1000 - a);
			source->parts[source->n_parts].shown = fixture_finalized(part);
			source->parts[source->n_parts].samples = 1000;
		}
	}
	make(both);
	assert_int_equal(both->diff->shares->n_significant, 0);
	both->diff = diff_free(both->diff);
	both->sources[SIDE_OLD].n_parts = both->sources[SIDE_NEW].n_parts = 0;
	make(both);
	assert_int_equal(both->diff->shares->n_significant, 2);
	both->sources[SIDE_OLD].n_parts = both->sources[SIDE_NEW].n_parts = n_parts;
}

static void expect_words(struct both *both, const char *expected)
{
	char *words;

	both->diff = diff_free(both->diff);
	make(both);
	words = diff_format_words(both->diff);
	assert_non_null(words);
	if (!strstr(words, expected))
		fail_msg("%s", words);
	free(words);
}

static void test_words(void **state)
{
	struct both *both = *state;
	char *words;

	add(both, SIDE_OLD, PROFILE_NONE, "a", 1000);
	add(both, SIDE_OLD, PROFILE_NONE, "b", 5000);
	add(both, SIDE_OLD, PROFILE_NONE, "c", 4000);
	add(both, SIDE_NEW, PROFILE_NONE, "a", 3000);
	add(both, SIDE_NEW, PROFILE_NONE, "b", 4000);
	add(both, SIDE_NEW, PROFILE_NONE, "c", 3000);
	make(both);
	words = diff_format_words(both->diff);
	assert_non_null(words);
	assert_non_null(
		strstr(words, "the old one (10000 samples), then the new one (10000 samples)\n"));
	assert_non_null(strstr(
		words, "significant change in 3 of 3 functions; the largest: a: from 10.00 % to "
		       "30.00 %, +20.00 points (95 %: +18.48 to +21.51)"));
	free(words);
	both->diff = diff_free(both->diff);
	both->sources[SIDE_NEW].profile->counters.samples = 0;
	expect_words(both, "\nnothing to compare: the new one has no samples\n");
	both->sources[SIDE_OLD].profile->counters.samples = 0;
	expect_words(both, "\nnothing to compare: neither side has samples\n");
	both->diff = diff_free(both->diff);
	both->settings.by = VIEW_BLOCK;
	expect_words(both, "\nnothing to compare: neither side has runs\n");
}

static void test_words_of_one(void **state)
{
	struct both *both = *state;
	char *words;

	add(both, SIDE_OLD, PROFILE_NONE, "a", 1000);
	add(both, SIDE_NEW, PROFILE_NONE, "a", 1000);
	make(both);
	words = diff_format_words(both->diff);
	assert_non_null(words);
	assert_non_null(strstr(words, "\nno significant change in 1 function\n"));
	free(words);
}

static void test_words_of_noise(void **state)
{
	struct both *both = *state;

	add(both, SIDE_OLD, PROFILE_NONE, "a", 20);
	add(both, SIDE_OLD, PROFILE_NONE, "b", 20);
	add(both, SIDE_NEW, PROFILE_NONE, "a", 24);
	add(both, SIDE_NEW, PROFILE_NONE, "b", 16);
	expect_words(both, "\nno significant change in 2 functions; the largest, within noise: a: "
			   "from 50.00 % to 60.00 %, +10.00 points (95 %: ");
}

/* Alone it would be significant; of one of many that is no wonder. */
static void test_words_of_chance(void **state)
{
	struct both *both = *state;
	char name[16];

	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		add(both, SIDE_OLD, PROFILE_NONE, name, 15);
		add(both, SIDE_NEW, PROFILE_NONE, name, 15);
	}
	add(both, SIDE_OLD, PROFILE_NONE, "a", 40);
	add(both, SIDE_NEW, PROFILE_NONE, "a", 80);
	expect_words(both, "\nno significant change in 61 functions; the largest, which may be "
			   "chance among that many: a: from 4.26 % to 8.16 %, +3.91 points (95 %: "
			   "+");
}

static void test_events(void **state)
{
	static const struct {
		const char *old_event, *new_event;
		bool same;
	} cases[] = {
		{ "cycles", "cycles:u", true },
		{ "cycles:uP", "cycles:k", true },
		{ "cpu/cycles/", "cpu/cycles/ukP", true },
		{ "cycles", NULL, true },
		{ "cycles", "instructions", false },
		{ "cycles:u", "cpu-clock:u", false },
		{ "sched:sched_switch", "sched:sched_wakeup", false },
		{ "cpu/cycles/", "cpu/config=1/", false },
	};
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++) {
		add(both, side, PROFILE_NONE, "a", 1000);
		both->sources[side].is_recording = true;
		both->sources[side].profile->counters.weight = 5000;
		both->sources[side].profile->info.end_ns = 1000000000;
	}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		both->sources[SIDE_OLD].profile->info.event = cases[i].old_event;
		both->sources[SIDE_NEW].profile->info.event = cases[i].new_event;
		both->diff = diff_free(both->diff);
		make(both);
		assert_true(both->diff->same_event == cases[i].same);
		for (int side = 0; side < N_SIDES; side++)
			assert_true((both->diff->sides[side].per_second < 0) == !cases[i].same);
	}
	expect_words(both, "the old one (1000 samples of cpu/cycles/ in 1.0 s), then the new one "
			   "(1000 samples of cpu/config=1/ in 1.0 s): different events\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_functions_match_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_object_of_another_build_is_rebuilt, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_an_object_of_one_of_the_old_builds_is_not_rebuilt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_largest_change_comes_first_and_noise_last,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_totals_may_be_significant_alone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_same_profile_has_no_significant_change,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows_and_the_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_a_call_costs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parts_of_a_range_measure_the_noise, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_words, setup, teardown),
		cmocka_unit_test_setup_teardown(test_words_of_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_words_of_noise, setup, teardown),
		cmocka_unit_test_setup_teardown(test_words_of_chance, setup, teardown),
		cmocka_unit_test_setup_teardown(test_events, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
