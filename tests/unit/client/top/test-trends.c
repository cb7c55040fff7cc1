/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trends: found by what stays the same of a row, whatever profile it is from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/top/share-identity.h"
#include "client/top/trends.h"

#include <string.h>

#include "common/util/cleanup.h"
#include "tests/support/profile-fixture.h"

/* Functions called first and second, behind @n_before other objects. */
static struct profile *make_profile(uint32_t n_before)
{
	static const char *const before[] = { "/bin/a", "/bin/b" };
	struct profile *profile = fixture_new();
	uint32_t object;

	for (uint32_t i = 0; i < n_before; i++) {
		object = fixture_object(profile, before[i], (uint8_t)(2 + i));
		fixture_stack(profile, PROFILE_NONE, PROFILE_NONE, object, 1, 1); /* it is used */
	}
	object = fixture_object(profile, "/bin/demo", 1);
	fixture_function(profile, object, 0x1000, "first");
	fixture_function(profile, object, 0x1100, "second");
	fixture_stack(profile, PROFILE_NONE, PROFILE_NONE, object, 0x1000, 10);
	fixture_finalized(profile);
	return profile;
}

static uint32_t find_object(const struct profile *profile, const char *path)
{
	for (uint32_t i = 0; i < profile->n_objects; i++)
		if (strcmp(profile->objects[i].path, path) == 0)
			return i;
	fail_msg("no %s", path);
	return PROFILE_NONE;
}

static struct functions_place places[] = {
	{ 0, 0, PROFILE_NONE },
	{ 0, PROFILE_NONE, PROFILE_NONE },
};
static struct functions_row first[] = { { .place = 0, .self = 4 }, { .place = 1, .self = 6 } };
static struct functions_row last[] = { { .place = 0, .self = 15 } };
static struct functions_part parts[] = {
	{ .samples = 10, .rows = first, .n_rows = 2 },
	{ .samples = 0 }, /* nobody sampled */
	{ .samples = 20, .rows = last, .n_rows = 1 },
};

static const double *find(const struct trends *trends, const struct profile *profile,
			  uint32_t object, const char *symbol, uint64_t start)
{
	const struct share_key key = { .symbol = symbol, .start = start, .object = object };

	return trends_find(trends, share_identity(profile, VIEW_FUNCTION, &key));
}

static void test_rows_of_another_profile_are_found(void **state)
{
	_cleanup_(profile_freep) struct profile *counted = make_profile(0);
	_cleanup_(profile_freep) struct profile *shown = make_profile(2);
	const struct functions functions = {
		.profile = counted, .places = places, .n_places = 2, .parts = parts, .n_parts = 3
	};
	_cleanup_(trends_freep) struct trends *trends = NULL;
	uint32_t demo = find_object(shown, "/bin/demo"), other = find_object(shown, "/bin/a");
	const double *points;

	assert_int_equal(trends_new(&trends, VIEW_FUNCTION, &functions), 0);
	assert_int_equal(trends->n_points, 3);
	points = find(trends, shown, demo, "first", 0x1000);
	assert_non_null(points);
	assert_true(points[0] == 0.4 && points[1] == -1 && points[2] == 0.75);
	points = find(trends, shown, demo, NULL, 0); /* code in no function */
	assert_non_null(points);
	assert_true(points[0] == 0.6 && points[1] == -1 && points[2] == 0);

	assert_null(find(trends, shown, demo, "second", 0x1100));
	assert_null(find(trends, shown, demo, "first", 0x1001));
	assert_null(find(trends, shown, other, "first", 0x1000));
}

static void test_what_does_not_name_a_row_does_not_matter(void **state)
{
	_cleanup_(profile_freep) struct profile *a = make_profile(0);
	_cleanup_(profile_freep) struct profile *b = make_profile(2);
	const struct share_key unit = { .group = "a.service" }, other = { .group = "b.service" };
	const struct share_key none = {};

	assert_true(share_identity(a, VIEW_UNIT, &unit) == share_identity(b, VIEW_UNIT, &unit));
	assert_true(share_identity(a, VIEW_UNIT, &unit) != share_identity(a, VIEW_UNIT, &other));
	assert_true(share_identity(a, VIEW_UNIT, &unit) != share_identity(a, VIEW_UNIT, &none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_of_another_profile_are_found),
		cmocka_unit_test(test_what_does_not_name_a_row_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
