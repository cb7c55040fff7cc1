/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/window/hot-functions.h"
#include "tests/support/profile-fixture.h"

/* A profile of one process with @n functions of an object; function i has @samples[i]. */
static struct profile *make(uint8_t build_id, const uint64_t *samples, size_t n)
{
	struct profile *p = fixture_new();
	uint32_t object = fixture_object(p, "/usr/bin/x", build_id);
	uint32_t process = fixture_process(p, "x", "/usr/bin/x");

	for (size_t i = 0; i < n; i++) {
		fixture_function(p, object, 0x1000 * (i + 1), "f");
		fixture_stack(p, process, PROFILE_NONE, object, 0x1000 * (i + 1) + 8, samples[i]);
	}
	return fixture_finalized(p);
}

static void test_the_hottest_comes_first(void **state)
{
	struct profile *p = make(1, (uint64_t[]){ 100, 0, 500, 300 }, 4);
	size_t found[HOT_FUNCTIONS_MAX], n;

	assert_int_equal(hot_functions_find(p, found, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(p->functions[found[0]].start, 0x3000);
	assert_int_equal(p->functions[found[1]].start, 0x4000);
	assert_int_equal(p->functions[found[2]].start, 0x1000);
	profile_free(p);
}

static void test_less_than_a_thousandth_is_not_hot(void **state)
{
	struct profile *p = make(1, (uint64_t[]){ 9997, 10, 9 }, 3);
	size_t found[HOT_FUNCTIONS_MAX], n;

	/* a thousandth of 10016 is more than 10 */
	assert_int_equal(hot_functions_find(p, found, &n), 0);
	assert_int_equal(n, 1);
	profile_free(p);
	p = make(1, (uint64_t[]){ 9970, 11, 9 }, 3);
	assert_int_equal(hot_functions_find(p, found, &n), 0);
	assert_int_equal(n, 2);
	profile_free(p);
}

static void test_there_is_a_limit(void **state)
{
	uint64_t samples[HOT_FUNCTIONS_MAX + 5];
	size_t found[HOT_FUNCTIONS_MAX], n;
	struct profile *p;

	for (size_t i = 0; i < HOT_FUNCTIONS_MAX + 5; i++)
		samples[i] = 10 + i;
	p = make(1, samples, HOT_FUNCTIONS_MAX + 5);
	assert_int_equal(hot_functions_find(p, found, &n), 0);
	assert_int_equal(n, HOT_FUNCTIONS_MAX);
	assert_int_equal(p->functions[found[0]].start, 0x1000 * (HOT_FUNCTIONS_MAX + 5));
	profile_free(p);
}

static void test_files_without_a_build_id_are_left_out(void **state)
{
	struct profile *p = make(0, (uint64_t[]){ 100 }, 1);
	size_t found[HOT_FUNCTIONS_MAX], n = 7;

	assert_int_equal(hot_functions_find(p, found, &n), 0);
	assert_int_equal(n, 0);
	profile_free(p);
}

static void test_long_functions_are_left_out(void **state)
{
	struct profile *p = fixture_new();
	uint32_t object = fixture_object(p, "/usr/bin/x", 1);
	uint32_t process = fixture_process(p, "x", "/usr/bin/x");
	size_t found[HOT_FUNCTIONS_MAX], n;

	for (uint64_t i = 0; i < 3; i++) {
		const uint64_t sizes[] = { 0, HOT_FUNCTIONS_MAX_BYTES,
					   HOT_FUNCTIONS_MAX_BYTES + 1 };

		fixture_index(profile_add_function(p, &(struct profile_function){
							      .object = object,
							      .start = i << 20,
							      .size = sizes[i],
							      .name = "f",
						      }));
		fixture_stack(p, process, PROFILE_NONE, object, i << 20, 100);
	}
	fixture_finalized(p);
	assert_int_equal(hot_functions_find(p, found, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(p->functions[found[0]].start, 1 << 20);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_hottest_comes_first),
		cmocka_unit_test(test_less_than_a_thousandth_is_not_hot),
		cmocka_unit_test(test_there_is_a_limit),
		cmocka_unit_test(test_files_without_a_build_id_are_left_out),
		cmocka_unit_test(test_long_functions_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
