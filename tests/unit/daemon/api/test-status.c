/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/util/macro.h"
#include "daemon/api/status.h"

static json_int_t get(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static struct status *make(void)
{
	struct status *status = calloc(1, sizeof(*status));

	assert_non_null(status);
	return status;
}

static void test_stacks_have_their_counts(void **state)
{
	struct status *status = make();
	json_t *json, *stacks;

	status->stacks = (struct live_unwinder_counts){
		.ended = { [UNWIND_COMPLETE] = 1,
			   [UNWIND_NO_TABLE] = 2,
			   [UNWIND_STACK] = 3,
			   [UNWIND_NO_RETURN] = 4,
			   [UNWIND_FRAME] = 5,
			   [UNWIND_DEPTH] = 6 },
		.n_by_fp = 7,
		.n_kept = 8,
		.n_tables = 9,
		.table_bytes = 10,
		.n_32_bit = 11,
	};
	json = status_json(status, false);
	stacks = json_object_get(json, "stacks");
	assert_int_equal(get(stacks, "complete"), 1);
	assert_int_equal(get(stacks, "no_table"), 2);
	assert_int_equal(get(stacks, "stack_bytes"), 3);
	assert_int_equal(get(stacks, "no_return_address"), 4);
	assert_int_equal(get(stacks, "invalid_frame"), 5);
	assert_int_equal(get(stacks, "depth_limit"), 6);
	assert_int_equal(get(stacks, "frames_by_pointer"), 7);
	assert_int_equal(get(stacks, "waited"), 8);
	assert_int_equal(get(stacks, "tables"), 9);
	assert_int_equal(get(stacks, "table_bytes"), 10);
	assert_int_equal(get(stacks, "of_32_bit"), 11);
	json_decref(json);
	free(status);
}

static void assert_kept(const json_t *kept, int first)
{
	static const char *const names[] = { "found",       "built", "damaged",
					     "not_written", "files", "bytes" };

	for (int i = 0; i < (int)ARRAY_SIZE(names); i++)
		assert_int_equal(get(kept, names[i]), first + i);
}

static void test_what_is_on_disk_has_its_counts(void **state)
{
	struct status *status = make();
	json_t *json;

	status->tables = (struct kept_files_counts){
		.found = 1, .built = 2, .damaged = 3, .not_written = 4, .files = 5, .bytes = 6
	};
	status->symbols = (struct kept_files_counts){
		.found = 7, .built = 8, .damaged = 9, .not_written = 10, .files = 11, .bytes = 12
	};
	json = status_json(status, false);
	assert_kept(json_object_get(json_object_get(json, "stacks"), "disk"), 1);
	assert_kept(json_object_get(json_object_get(json, "naming"), "kernel_symbols"), 7);
	json_decref(json);
	free(status);
}

/* Once is not for ever. */
static void test_who_lowers_the_rate(void **state)
{
	struct status *status = make();

	status->samples.throttled = 3;
	for (int i = 0; i < 2; i++) {
		json_t *json, *throttled;

		status->throttled = i;
		json = status_json(status, false);
		throttled = json_object_get(json_object_get(json, "cost"), "throttled");
		assert_true(json_is_boolean(throttled));
		assert_int_equal(json_is_true(throttled), i);
		json_decref(json);
	}
	free(status);
}

static void test_paths_of_incomplete_stacks_are_for_the_privileged(void **state)
{
	struct status *status = make();
	json_t *json, *incomplete;

	status->short_stacks[0] =
		(struct short_stacks_object){ .path = "/home/x/\xff", .n = 5, .n_no_table = 4 };
	status->n_short = 1;
	json = status_json(status, true);
	incomplete = json_object_get(json_object_get(json, "stacks"), "incomplete");
	assert_int_equal(json_array_size(incomplete), 1);
	assert_int_equal(get(json_array_get(incomplete, 0), "stacks"), 5);
	assert_int_equal(get(json_array_get(incomplete, 0), "no_table"), 4);
	json_decref(json);
	json = status_json(status, false);
	incomplete = json_object_get(json_object_get(json, "stacks"), "incomplete");
	assert_true(json_is_array(incomplete));
	assert_int_equal(json_array_size(incomplete), 0);
	json_decref(json);
	free(status);
}

static void test_naming_has_its_counts(void **state)
{
	struct status *status = make();
	json_t *json, *naming;

	status->naming = (struct status_naming){
		.behind = 1,
		.parsers_died = 2,
		.parsers_cpu = 3,
		.parsers_timeout = 4,
		.parsers_answer = 5,
		.openers_timeout = 6,
		.files_remote = 7,
		.files_skipped = 8,
		.files_dropped = 9,
		.files_deferred = 10,
		.lines_malformed = 11,
	};
	json = status_json(status, false);
	naming = json_object_get(json, "naming");
	assert_int_equal(get(naming, "behind"), 1);
	assert_int_equal(get(naming, "parsers_died"), 2);
	assert_int_equal(get(naming, "parsers_cpu"), 3);
	assert_int_equal(get(naming, "parsers_timeout"), 4);
	assert_int_equal(get(naming, "parsers_answer"), 5);
	assert_int_equal(get(naming, "openers_timeout"), 6);
	assert_int_equal(get(naming, "files_remote"), 7);
	assert_int_equal(get(naming, "files_skipped"), 8);
	assert_int_equal(get(naming, "files_dropped"), 9);
	assert_int_equal(get(naming, "files_deferred"), 10);
	assert_int_equal(get(naming, "lines_malformed"), 11);
	json_decref(json);
	free(status);
}

static void test_long_paths_are_truncated(void **state)
{
	struct status *status = make();
	char path[1000] = "";
	const char *shown;
	json_t *json, *refused;

	memset(path, 'x', sizeof(path) - 1);
	status_add_refused(status, path, "its parser crashed");
	json = status_json(status, true);
	refused = json_object_get(json_object_get(json, "naming"), "refused");
	assert_int_equal(json_array_size(refused), 1);
	shown = json_string_value(json_object_get(json_array_get(refused, 0), "path"));
	assert_int_equal(strlen(shown), sizeof(status->naming.refused[0].path) - 1);
	shown = json_string_value(json_object_get(json_array_get(refused, 0), "reason"));
	assert_string_equal(shown, "its parser crashed");
	json_decref(json);
	free(status);
}

static void test_text_that_is_no_utf_8(void **state)
{
	struct status *status = make();
	json_t *json;

	status_add_refused(status, "/home/x/\xff\xfe", "its parser crashed");
	json = status_json(status, true);
	assert_non_null(json);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(json, "naming"), "refused")), 1);
	json_decref(json);
	free(status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_have_their_counts),
		cmocka_unit_test(test_what_is_on_disk_has_its_counts),
		cmocka_unit_test(test_who_lowers_the_rate),
		cmocka_unit_test(test_paths_of_incomplete_stacks_are_for_the_privileged),
		cmocka_unit_test(test_naming_has_its_counts),
		cmocka_unit_test(test_long_paths_are_truncated),
		cmocka_unit_test(test_text_that_is_no_utf_8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
