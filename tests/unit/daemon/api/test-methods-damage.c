/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls while the database is damaged and no other may be begun yet: what is not in it can be had,
 * and for what is in it the answer says why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/support/scene.h"

static int add_closed(struct scene *t)
{
	struct window_profile closed = {
		.window = { .start_us = START_US + t->n * LENGTH_US,
			    .length_us = LENGTH_US,
			    .mode = "software" },
		.profile = random_profile(++t->n, 0),
	};
	struct fault fault = {};

	return archive_add(t->service.archive, &closed, &fault);
}

static int set_up(void **state)
{
	struct scene *t;

	scene_set_up(state, &(struct scene_settings){});
	t = *state;
	for (int i = 0; i < STORE_MAX_MOVED; i++) {
		scene_run_sql(t, "DROP TABLE stack_count");
		assert_int_equal(add_closed(t), 0);
	}
	assert_int_equal(add_closed(t), 0);
	archive_set_open(t->service.archive, START_US + t->n * LENGTH_US, "software");
	return 0;
}

static void assert_damaged(struct scene *t, const char *method, const char *parameters)
{
	struct store_status status = temp_store_status(archive_get_store(t->service.archive));
	json_t *reply = call(&t->caller, method, parameters);
	const char *error, *message;

	assert_int_equal(json_unpack(reply, "{s:s, s:{s:s}}", "error", &error, "parameters",
				     "message", &message),
			 0);
	assert_string_equal(error, "io.branchd.DatabaseDamaged");
	assert_non_null(strstr(message, t->stored.path));
	assert_non_null(strstr(message, "renamed before"));
	if (*status.damage)
		assert_string_equal(message, status.damage);
	json_decref(reply);
}

static void stored_windows_say_what_is_wrong(void **state)
{
	struct scene *t = *state;

	scene_run_sql(t, "DROP TABLE stack_count; DROP TABLE function_counts");
	assert_damaged(t, "GetProfile", "{\"first\":3}");
	assert_damaged(t, "GetProfile", "{\"first\":3,\"last\":4}");
	assert_damaged(t, "GetProfile", "{\"first\":3,\"last\":0}");
	assert_damaged(t, "GetFunctions", "{\"first\":3}");
	assert_damaged(t, "GetFunctions", "{\"first\":3,\"last\":4}");
	scene_run_sql(t, "DROP TABLE window");
	assert_damaged(t, "ListWindows", "{}");
}

static void code_says_what_is_wrong(void **state)
{
	struct scene *t = *state;

	scene_run_sql(t, "DROP TABLE code");
	assert_damaged(t, "GetCode", "{\"build_id\":\"1234\",\"start\":0}");
}

/* With the windows that wait to be stored. */
static void the_open_window_can_be_had(void **state)
{
	struct scene *t = *state;
	struct profile *profile, *expected;

	scene_run_sql(t, "DROP TABLE stack_count; DROP TABLE window");
	assert_damaged(t, "ListWindows", "{}");
	assert_int_equal(add_closed(t), -EBADMSG);
	expected = random_profile(t->n, 0);
	assert_int_equal(profile_finalize(expected), 0);
	profile = get_profile(&t->caller, "{}", "0");
	assert_true(profile_equal(profile, expected));
	profile_free(profile);
	profile_free(expected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, scene_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stored_windows_say_what_is_wrong),
		TEST(code_says_what_is_wrong),
		TEST(the_open_window_can_be_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
