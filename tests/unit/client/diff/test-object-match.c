/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/diff/object-match.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/profile-fixture.h"

struct pair {
	struct profile *profiles[N_SIDES];
	uint32_t processes[N_SIDES];
	struct object_match *match;
};

static int setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	for (int side = 0; side < N_SIDES; side++) {
		pair->profiles[side] = fixture_new();
		pair->processes[side] =
			fixture_process(pair->profiles[side], "demo",
					side == SIDE_OLD ? "/opt/old/demo" : "/opt/new/other");
	}
	*state = pair;
	return 0;
}

static int teardown(void **state)
{
	struct pair *pair = *state;

	object_match_free(pair->match);
	for (int side = 0; side < N_SIDES; side++)
		profile_free(pair->profiles[side]);
	free(pair);
	return 0;
}

static uint32_t add(struct pair *pair, enum side side, const char *path, uint8_t build_id,
		    uint64_t samples)
{
	uint32_t object = fixture_object(pair->profiles[side], path, build_id);

	fixture_stack(pair->profiles[side], pair->processes[side], PROFILE_NONE, object, 0x1010,
		      samples);
	return object;
}

static void make(struct pair *pair)
{
	const struct profile *profiles[N_SIDES];

	for (int side = 0; side < N_SIDES; side++)
		profiles[side] = fixture_finalized(pair->profiles[side]);
	assert_int_equal(object_match_new(&pair->match, profiles), 0);
}

static uint32_t number_in(const struct pair *pair, enum side side, const struct profile *profile,
			  const char *path)
{
	uint32_t *numbers, number = PROFILE_NONE;

	assert_int_equal(object_match_number(pair->match, side, profile, &numbers), 0);
	for (size_t i = 0; i < profile->n_objects; i++)
		if (strcmp(profile->objects[i].path, path) == 0)
			number = numbers[i];
	free(numbers);
	return number;
}

static uint32_t number_of(const struct pair *pair, enum side side, const char *path)
{
	return number_in(pair, side, pair->profiles[side], path);
}

static void assert_paired(const struct pair *pair, const char *old_path, const char *new_path)
{
	assert_int_not_equal(number_of(pair, SIDE_OLD, old_path), PROFILE_NONE);
	assert_int_equal(number_of(pair, SIDE_OLD, old_path), number_of(pair, SIDE_NEW, new_path));
}

static void test_by_path_whatever_the_build(void **state)
{
	struct pair *pair = *state;

	add(pair, SIDE_OLD, "/bin/a", 1, 5);
	add(pair, SIDE_NEW, "/bin/a", 2, 5);
	add(pair, SIDE_NEW, "/usr/bin/a", 1, 5); /* the same file, but the path was there first */
	make(pair);
	assert_paired(pair, "/bin/a", "/bin/a");
	assert_int_not_equal(number_of(pair, SIDE_NEW, "/usr/bin/a"),
			     number_of(pair, SIDE_NEW, "/bin/a"));
}

static void test_two_builds_of_one_path_are_one_thing(void **state)
{
	struct pair *pair = *state;

	add(pair, SIDE_OLD, "/bin/a", 1, 5);
	add(pair, SIDE_OLD, "/bin/a", 2, 5);
	add(pair, SIDE_NEW, "/bin/a", 3, 5);
	make(pair);
	assert_paired(pair, "/bin/a", "/bin/a");
	assert_int_equal(pair->profiles[SIDE_OLD]->n_objects, 2);
}

static void test_by_build_id(void **state)
{
	struct pair *pair = *state;

	add(pair, SIDE_OLD, "/a/one", 1, 5);
	add(pair, SIDE_NEW, "/b/two", 1, 5);
	make(pair);
	assert_paired(pair, "/a/one", "/b/two");
}

static void test_by_name_and_without_the_version(void **state)
{
	struct pair *pair = *state;

	add(pair, SIDE_OLD, "/opt/1/lib/libdemo.so.1", 1, 5);
	add(pair, SIDE_NEW, "/opt/2/lib/libdemo.so.1", 2, 5);
	add(pair, SIDE_OLD, "/lib/libother-2.31.so", 3, 5);
	add(pair, SIDE_NEW, "/lib/libother.so.6", 4, 5);
	add(pair, SIDE_NEW, "/lib/libothers.so.6", 5, 50);
	make(pair);
	assert_paired(pair, "/opt/1/lib/libdemo.so.1", "/opt/2/lib/libdemo.so.1");
	assert_paired(pair, "/lib/libother-2.31.so", "/lib/libother.so.6");
}

/* The one with most samples, and each once. */
static void test_of_several_the_hottest(void **state)
{
	struct pair *pair = *state;

	add(pair, SIDE_OLD, "/1/lib.so", 1, 5);
	add(pair, SIDE_OLD, "/2/lib.so", 2, 50);
	add(pair, SIDE_NEW, "/3/lib.so", 3, 70);
	add(pair, SIDE_NEW, "/4/lib.so", 4, 7);
	add(pair, SIDE_NEW, "/5/lib.so", 5, 6);
	make(pair);
	assert_paired(pair, "/2/lib.so", "/3/lib.so");
	assert_paired(pair, "/1/lib.so", "/4/lib.so");
	assert_int_not_equal(number_of(pair, SIDE_NEW, "/5/lib.so"), PROFILE_NONE);
}

static void add_program(struct pair *pair, enum side side, const char *path,
			const char *const *functions, size_t n)
{
	uint32_t object = add(pair, side, path, (uint8_t)(side + 1), 5);

	for (size_t i = 0; i < n; i++) {
		fixture_function(pair->profiles[side], object, 0x1000 + i * 0x100, functions[i]);
		fixture_stack(pair->profiles[side], pair->processes[side], PROFILE_NONE, object,
			      0x1000 + i * 0x100, 1);
	}
}

static void test_programs_by_their_functions(void **state)
{
	const char *const old_functions[] = { "main", "parse", "old_only", "print" };
	const char *const new_functions[] = { "new_only", "parse", "main", "another", "print" };
	struct pair *pair = *state;

	add_program(pair, SIDE_OLD, "/opt/old/demo", old_functions, 4);
	add_program(pair, SIDE_NEW, "/opt/new/other", new_functions, 5);
	add(pair, SIDE_NEW, "/opt/new/library", 7, 500);
	make(pair);
	assert_paired(pair, "/opt/old/demo", "/opt/new/other");
}

static void test_programs_that_have_little_in_common(void **state)
{
	const char *const old_functions[] = { "main", "_start", "puts@plt", "a" };
	const char *const new_functions[] = { "main", "_start", "puts@plt", "b" };
	struct pair *pair = *state;

	add_program(pair, SIDE_OLD, "/opt/old/demo", old_functions, 4);
	add_program(pair, SIDE_NEW, "/opt/new/other", new_functions, 4);
	make(pair);
	assert_int_not_equal(number_of(pair, SIDE_OLD, "/opt/old/demo"),
			     number_of(pair, SIDE_NEW, "/opt/new/other"));
}

static void test_part_has_the_numbers_of_the_whole(void **state)
{
	struct pair *pair = *state;
	struct profile *part = fixture_new();
	uint32_t process = fixture_process(part, "demo", NULL);

	add(pair, SIDE_OLD, "/bin/a", 1, 5);
	add(pair, SIDE_OLD, "/bin/b", 2, 5);
	make(pair);
	fixture_stack(part, process, PROFILE_NONE, fixture_object(part, "/elsewhere/b", 2), 0, 1);
	fixture_stack(part, process, PROFILE_NONE, fixture_object(part, "/not/there", 3), 0, 1);
	fixture_finalized(part);
	assert_int_equal(number_in(pair, SIDE_OLD, part, "/elsewhere/b"),
			 number_of(pair, SIDE_OLD, "/bin/b"));
	assert_int_equal(number_in(pair, SIDE_OLD, part, "/not/there"), PROFILE_NONE);
	profile_free(part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_path_whatever_the_build, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_builds_of_one_path_are_one_thing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_by_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_by_name_and_without_the_version, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_of_several_the_hottest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_programs_by_their_functions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_programs_that_have_little_in_common, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_part_has_the_numbers_of_the_whole, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
