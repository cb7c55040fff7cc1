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

#include "tests/support/methods-service.h"
#include "tests/support/temp-store.h"

struct trial {
	struct temp_store stored;
	struct service service;
	struct caller caller;
	uint64_t n; /* windows */
};

static int add_closed(struct trial *t)
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

static void run_sql(const struct trial *t, const char *sql)
{
	sqlite3 *db = temp_store_connect(t->stored.path);

	temp_store_run(db, sql);
	sqlite3_close(db);
}

static int set_up(void **state)
{
	struct trial *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	*state = t;
	temp_store_init(&t->stored);
	service_init_at(&t->service, t->stored.path, &(struct query_limits){}, NULL);
	t->caller = connect_caller(&t->service);
	for (int i = 0; i < STORE_MAX_MOVED; i++) {
		run_sql(t, "DROP TABLE stack_count");
		assert_int_equal(add_closed(t), 0);
	}
	assert_int_equal(add_closed(t), 0);
	archive_set_open(t->service.archive, START_US + t->n * LENGTH_US, "software");
	return 0;
}

static int tear_down(void **state)
{
	struct trial *t = *state;

	caller_done(&t->caller);
	service_done(&t->service);
	temp_store_done(&t->stored);
	free(t);
	return 0;
}

static void assert_damaged(struct trial *t, const char *method, const char *parameters)
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
	struct trial *t = *state;

	run_sql(t, "DROP TABLE stack_count; DROP TABLE function_counts");
	assert_damaged(t, "GetProfile", "{\"first\":3}");
	assert_damaged(t, "GetProfile", "{\"first\":3,\"last\":4}");
	assert_damaged(t, "GetProfile", "{\"first\":3,\"last\":0}");
	assert_damaged(t, "GetFunctions", "{\"first\":3}");
	assert_damaged(t, "GetFunctions", "{\"first\":3,\"last\":4}");
	run_sql(t, "DROP TABLE window");
	assert_damaged(t, "ListWindows", "{}");
}

static void code_says_what_is_wrong(void **state)
{
	struct trial *t = *state;

	run_sql(t, "DROP TABLE code");
	assert_damaged(t, "GetCode", "{\"build_id\":\"1234\",\"start\":0}");
}

/* With the windows that wait to be stored. */
static void the_open_window_can_be_had(void **state)
{
	struct trial *t = *state;
	struct profile *profile, *expected;

	run_sql(t, "DROP TABLE stack_count; DROP TABLE window");
	assert_damaged(t, "ListWindows", "{}");
	assert_int_equal(add_closed(t), -EBADMSG);
	expected = random_profile(t->n, 0);
	assert_int_equal(profile_finalize(expected), 0);
	profile = get_profile(&t->caller, "{}", "0");
	assert_true(profile_equal(profile, expected));
	profile_free(profile);
	profile_free(expected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stored_windows_say_what_is_wrong),
		TEST(code_says_what_is_wrong),
		TEST(the_open_window_can_be_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
