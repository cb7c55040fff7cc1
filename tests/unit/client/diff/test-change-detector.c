/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/diff/change-detector.h"

#include <stdlib.h>
#include <string.h>

#include "client/view/symbol-name.h"
#include "tests/support/profile-fixture.h"

struct both {
	struct profile *profiles[N_SIDES];
	struct profile_source sources[N_SIDES];
	uint32_t objects[N_SIDES], processes[N_SIDES];
	struct object_match *matched;
	struct change_detector *detector;
	const char *named[1];
};

static int setup(void **state)
{
	struct both *both = calloc(1, sizeof(*both));

	assert_non_null(both);
	for (int side = 0; side < N_SIDES; side++) {
		both->profiles[side] = fixture_new();
		both->objects[side] =
			fixture_object(both->profiles[side], "/bin/demo", (uint8_t)(side + 1));
		both->processes[side] = fixture_process(both->profiles[side], "demo", "/bin/demo");
	}
	*state = both;
	return 0;
}

static int teardown(void **state)
{
	struct both *both = *state;

	change_detector_free(both->detector);
	object_match_free(both->matched);
	for (int side = 0; side < N_SIDES; side++)
		profile_free(both->profiles[side]);
	free(both);
	return 0;
}

static void add(struct both *both, enum side side, const char *name, uint64_t size,
		uint64_t fingerprint)
{
	struct profile *profile = both->profiles[side];
	uint64_t start = 0x1000 * (profile->n_functions + 1);

	fixture_index(profile_add_function(profile, &(struct profile_function){
							    .object = both->objects[side],
							    .start = start,
							    .size = size,
							    .name = name,
							    .fingerprint = fingerprint,
						    }));
	fixture_stack(profile, both->processes[side], PROFILE_NONE, both->objects[side], start, 1);
}

static void add_both(struct both *both, const char *name, uint64_t old_fingerprint,
		     uint64_t new_fingerprint)
{
	add(both, SIDE_OLD, name, 100, old_fingerprint);
	add(both, SIDE_NEW, name, 100, new_fingerprint);
}

static void make(struct both *both, const char *named)
{
	const struct profile *profiles[N_SIDES];
	struct change_detector_settings settings = {
		.sources = { &both->sources[SIDE_OLD], &both->sources[SIDE_NEW] },
		.named = both->named,
		.n_named = named ? 1 : 0,
	};

	both->named[0] = named;
	for (int side = 0; side < N_SIDES; side++) {
		profiles[side] = fixture_finalized(both->profiles[side]);
		both->sources[side].shown = profiles[side];
	}
	assert_int_equal(object_match_new(&both->matched, profiles), 0);
	settings.objects = both->matched;
	assert_int_equal(change_detector_new(&both->detector, &settings), 0);
}

static enum change find(struct both *both, const char *name)
{
	struct fault fault;
	uint32_t *numbers;
	int r;

	assert_int_equal(
		object_match_number(both->matched, SIDE_OLD, both->profiles[SIDE_OLD], &numbers),
		0);
	r = change_detector_find(both->detector, numbers[0], name, &fault);
	free(numbers);
	assert_true(r >= 0);
	return (enum change)r;
}

static void test_by_fingerprint(void **state)
{
	struct both *both = *state;

	add_both(both, "same", 1, 1);
	add_both(both, "other", 1, 2);
	add(both, SIDE_OLD, "gone", 100, 3);
	make(both, NULL);
	assert_int_equal(find(both, "same"), CHANGE_NONE);
	assert_int_equal(find(both, "other"), CHANGE_CODE);
	assert_int_equal(find(both, "gone"), CHANGE_NONE);
	assert_int_equal(find(both, "never heard of"), CHANGE_NONE);
}

static void test_without_fingerprints_by_size(void **state)
{
	struct both *both = *state;

	add_both(both, "same", 0, 0);
	add_both(both, "one has none", 1, 0);
	add(both, SIDE_OLD, "grown", 100, 0);
	add(both, SIDE_NEW, "grown", 120, 7);
	make(both, NULL);
	assert_int_equal(find(both, "same"), CHANGE_NONE);
	assert_int_equal(find(both, "one has none"), CHANGE_NONE);
	assert_int_equal(find(both, "grown"), CHANGE_CODE);
}

/* Static functions of one name, of which not all need be sampled. */
static void test_several_of_one_name(void **state)
{
	struct both *both = *state;

	add(both, SIDE_OLD, "init", 100, 1);
	add(both, SIDE_NEW, "init", 200, 2);
	add(both, SIDE_NEW, "init", 100, 1);
	add(both, SIDE_OLD, "done", 100, 3);
	add(both, SIDE_OLD, "done", 100, 4);
	add(both, SIDE_NEW, "done", 100, 5);
	add_both(both, "half", 6, 6);
	add_both(both, "half", 7, 8);
	add_both(both, "reordered", 9, 10);
	add_both(both, "reordered", 10, 9);
	make(both, NULL);
	assert_int_equal(find(both, "init"), CHANGE_NONE);
	assert_int_equal(find(both, "done"), CHANGE_CODE);
	assert_int_equal(find(both, "half"), CHANGE_CODE);
	assert_int_equal(find(both, "reordered"), CHANGE_NONE);
}

static void test_clones_are_what_was_written(void **state)
{
	struct both *both = *state;

	add(both, SIDE_OLD, "work.isra.0", 100, 1);
	add(both, SIDE_NEW, "work", 100, 2);
	make(both, NULL);
	assert_int_equal(find(both, "work"), CHANGE_CODE);
	assert_int_equal(find(both, "work.constprop.0"), CHANGE_CODE);
}

static void test_named(void **state)
{
	struct both *both = *state;

	add_both(both, "ns::work(int)", 1, 1);
	add_both(both, "ns::work_more(int)", 1, 1);
	add_both(both, "void ns::work<long>(long)", 1, 1);
	make(both, "ns::work");
	assert_int_equal(find(both, "ns::work(int)"), CHANGE_NAMED);
	assert_int_equal(find(both, "ns::work_more(int)"), CHANGE_NONE);
	assert_int_equal(find(both, "void ns::work<long>(long)"), CHANGE_NAMED);
	assert_true(change_detector_has_function(both->detector, "ns::work_more"));
	assert_false(change_detector_has_function(both->detector, "ns::wor"));
	assert_false(change_detector_has_function(both->detector, "work"));
}

static void test_a_clone_may_be_named(void **state)
{
	struct both *both = *state;

	add(both, SIDE_OLD, "work.isra.0", 100, 1);
	add(both, SIDE_NEW, "work", 100, 1);
	add_both(both, "more", 1, 1);
	make(both, "work.isra.0");
	assert_int_equal(find(both, "work"), CHANGE_NAMED);
	assert_int_equal(find(both, "more"), CHANGE_NONE);
	assert_true(change_detector_has_function(both->detector, "work"));
}

static void test_names_of_clones(void **state)
{
	static const char *const names[][2] = {
		{ "work", "work" },
		{ "work.isra.0", "work" },
		{ "work.constprop.0.isra.0", "work" },
		{ "work.part.0.lto_priv.3", "work.part.0" },
		{ "work.cold", "work.cold" },
		{ "ns::work(int) [clone .isra.0]", "ns::work(int)" },
		{ "ns::work(int) [clone .cold]", "ns::work(int) [clone .cold]" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *stripped = symbol_name_strip(names[i][0]);

		assert_non_null(stripped);
		assert_string_equal(stripped, names[i][1]);
		free(stripped);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_fingerprint, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_fingerprints_by_size, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_of_one_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clones_are_what_was_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_named, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_clone_may_be_named, setup, teardown),
		cmocka_unit_test(test_names_of_clones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
