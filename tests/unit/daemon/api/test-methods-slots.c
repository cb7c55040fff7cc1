/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiles of a long time, of which the sums of minutes are kept for the next query. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/profile/tables.h"
#include "tests/support/scene.h"

#define N_WINDOWS 126 /* 21 minutes */

static int set_up(void **state)
{
	return scene_set_up(state, &(struct scene_settings){ .n_windows = N_WINDOWS });
}

/* All that may be done in a thread is. */
static int set_up_threads(void **state)
{
	return scene_set_up(state, &(struct scene_settings){ .limits.rows_at_once = 1,
							     .n_windows = N_WINDOWS });
}

static struct profile *ask(struct scene *t, uint64_t first, uint64_t last, const char *tables,
			   size_t n_windows)
{
	struct profile *profile = NULL;
	struct fault fault = {};
	json_t *reply, *parameters;
	char text[100], *json;

	snprintf(text, sizeof(text), "{\"first\":%d,\"last\":%d,\"tables\":\"%s\"}", (int)first,
		 (int)last, tables);
	reply = call(&t->caller, "GetProfile", text);
	parameters = json_object_get(reply, "parameters");
	assert_int_equal(json_array_size(json_object_get(parameters, "windows")), n_windows);
	json = json_dumps(json_object_get(parameters, "profile"), 0);
	assert_non_null(json);
	if (profile_json_read(&profile, json, strlen(json), &fault) < 0)
		fail_msg("%s", fault.text);
	free(json);
	json_decref(reply);
	return profile;
}

/* What the windows @first to @last are together, without window @but. */
static struct profile *add_up(uint64_t first, uint64_t last, uint64_t but, unsigned int tables)
{
	struct profile *parts[N_WINDOWS], *sum = NULL;
	size_t n = 0;

	for (uint64_t i = first; i <= last; i++) {
		if (i == but)
			continue;
		parts[n] = random_profile(i, 0);
		profile_drop_tables(parts[n], ~tables);
		assert_int_equal(profile_finalize(parts[n++]), 0);
	}
	assert_int_equal(profile_merge(&sum, (const struct profile *const *)parts, n), 0);
	while (n > 0)
		profile_free(parts[--n]);
	return sum;
}

static void assert_sum(struct scene *t, uint64_t first, uint64_t last, uint64_t but)
{
	struct profile *expected = add_up(first, last, but, PROFILE_ALL_TABLES);
	struct profile *sum =
		ask(t, first, last, "stacks,streams,branches,blocks", last - first + 1 - (but > 0));

	assert_true(profile_equal(sum, expected));
	profile_free(sum);
	profile_free(expected);
}

static void sums_are_those_of_the_windows(void **state)
{
	struct scene *t = *state;

	assert_sum(t, 1, 126, 0);
	assert_sum(t, 1, 126, 0);
	assert_sum(t, 5, 125, 0);
	assert_sum(t, 3, 126, 0);
}

static void tables_have_sums_of_their_own(void **state)
{
	struct scene *t = *state;
	unsigned int tables = PROFILE_TABLE(PROFILE_STACKS);
	struct profile *expected = add_up(1, 126, 0, tables), *sum;

	for (int i = 0; i < 2; i++) {
		sum = ask(t, 1, 126, "stacks", 126);
		assert_int_equal(sum->n_stacks, expected->n_stacks);
		assert_int_equal(sum->counters.samples, expected->counters.samples);
		assert_int_equal(sum->n_branches + sum->n_blocks + sum->n_streams, 0);
		profile_free(sum);
		assert_sum(t, 1, 126, 0);
	}
	profile_free(expected);
}

#define REMOVE_COUNTS(window)                                  \
	"DELETE FROM stack_count WHERE window = " window "; "  \
	"DELETE FROM stream_count WHERE window = " window "; " \
	"DELETE FROM branch_count WHERE window = " window "; " \
	"DELETE FROM block_count WHERE window = " window

static void sums_are_kept_while_their_windows_are_there(void **state)
{
	struct scene *t = *state;

	assert_sum(t, 1, 126, 0);
	/* who reads the windows would miss these */
	scene_run_sql(t, REMOVE_COUNTS("77"));
	assert_sum(t, 2, 125, 0);
	scene_run_sql(t, "DELETE FROM window WHERE id = 77");
	assert_sum(t, 1, 126, 77);
}

/* Windows 5 to 124 are twenty whole minutes. */
static void whole_minutes_at_the_ends_are_kept(void **state)
{
	struct scene *t = *state;

	assert_sum(t, 5, 124, 0);
	scene_run_sql(t, REMOVE_COUNTS("5"));
	scene_run_sql(t, REMOVE_COUNTS("124"));
	assert_sum(t, 5, 124, 0);
}

/* A part of a day, of windows that are minutes, is kept as it was asked for. */
static void windows_of_minutes_are_kept_together(void **state)
{
	struct scene *t = *state;

	scene_run_sql(
		t, "UPDATE window SET length_us = 60000000, start_us = start_us + id * 50000000");
	assert_sum(t, 50, 62, 0);
	scene_run_sql(t, REMOVE_COUNTS("55"));
	assert_sum(t, 50, 62, 0);
	scene_run_sql(t, "DELETE FROM window WHERE id = 55");
	assert_sum(t, 50, 62, 55);
	assert_sum(t, 50, 62, 55);
	assert_sum(t, 57, 66, 0);
}

/* What single processes counted is not taken from sums, which are pruned. */
static void processes_are_read_from_windows(void **state)
{
	const char *filtered = "{\"first\":1,\"last\":126,\"comm\":\"*\"}";
	struct scene *t = *state;
	json_t *before, *after;

	assert_sum(t, 1, 126, 0);
	before = call(&t->caller, "GetProfile", filtered);
	scene_run_sql(t, REMOVE_COUNTS("77"));
	after = call(&t->caller, "GetProfile", filtered);
	assert_false(json_equal(before, after));
	json_decref(before);
	json_decref(after);
}

#define TEST(name, set_up) cmocka_unit_test_setup_teardown(name, set_up, scene_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_are_those_of_the_windows, set_up),
		TEST(sums_are_those_of_the_windows, set_up_threads),
		TEST(tables_have_sums_of_their_own, set_up),
		TEST(whole_minutes_at_the_ends_are_kept, set_up),
		TEST(windows_of_minutes_are_kept_together, set_up),
		TEST(windows_of_minutes_are_kept_together, set_up_threads),
		TEST(sums_are_kept_while_their_windows_are_there, set_up),
		TEST(sums_are_kept_while_their_windows_are_there, set_up_threads),
		TEST(processes_are_read_from_windows, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
