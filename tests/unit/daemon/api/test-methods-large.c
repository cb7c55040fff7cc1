/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiles of windows that are read in a thread, as all are here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/support/scene.h"

#define N_WINDOWS 10

static int set_up(void **state)
{
	return scene_set_up(state, &(struct scene_settings){ .limits.rows_at_once = 1,
							     .n_windows = N_WINDOWS });
}

/* The windows @first to @last, of the seeds of the same numbers. */
static void assert_sum(struct scene *t, uint64_t first, uint64_t last, const char *ids)
{
	struct profile *parts[N_WINDOWS], *sum = NULL, *profile;
	char parameters[100];
	size_t n = 0;

	for (uint64_t i = first; i <= last; i++) {
		parts[n] = random_profile(i, 0);
		assert_int_equal(profile_finalize(parts[n++]), 0);
	}
	assert_int_equal(profile_merge(&sum, (const struct profile *const *)parts, n), 0);
	snprintf(parameters, sizeof(parameters), "{\"first\":%d,\"last\":%d}", (int)first,
		 (int)last);
	profile = get_profile(&t->caller, parameters, ids);
	assert_true(profile_equal(profile, sum));
	profile_free(profile);
	profile_free(sum);
	while (n > 0)
		profile_free(parts[--n]);
}

static void profiles_are_what_was_stored(void **state)
{
	struct scene *t = *state;

	assert_sum(t, 4, 4, "4");
	assert_sum(t, 3, 6, "3,4,5,6");
	assert_sum(t, 1, 10, "1,2,3,4,5,6,7,8,9,10");
	assert_error(&t->caller, "GetProfile", "{\"first\":0,\"last\":0}",
		     "{\"error\":\"io.branchd.NotSampling\"}");
	/* how large the windows of an earlier version are is not known */
	scene_run_sql(t, "DELETE FROM user_rows");
	assert_sum(t, 3, 6, "3,4,5,6");
	assert_sum(t, 4, 4, "4");
}

static void assert_fails(struct scene *t, const char *parameters, const char *error)
{
	json_t *reply = call(&t->caller, "GetProfile", parameters);

	assert_string_equal(json_string_value(json_object_get(reply, "error")), error);
	json_decref(reply);
}

static void windows_that_are_not_there(void **state)
{
	struct scene *t = *state;

	assert_fails(t, "{\"first\":11}", "io.branchd.NoSuchWindow");
	assert_fails(t, "{\"first\":3,\"last\":11}", "io.branchd.NoSuchWindow");
}

/* The thread finds it, the store begins another database. */
static void damage_is_found(void **state)
{
	struct scene *t = *state;
	struct store *store = archive_get_store(t->service.archive);

	scene_run_sql(t, "DELETE FROM place");
	assert_fails(t, "{\"first\":3,\"last\":6}", "io.branchd.DatabaseDamaged");
	assert_int_equal(temp_store_status(store).n_moved, 1);
	assert_fails(t, "{\"first\":3,\"last\":6}", "io.branchd.NoSuchWindow");
	add_window(&t->service, 11, false, 11);
	assert_sum(t, 11, 11, "11");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, scene_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(profiles_are_what_was_stored),
		TEST(windows_that_are_not_there),
		TEST(damage_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
