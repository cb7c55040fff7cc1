/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of a long time, of which sums are kept for the next query. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/rows/count-slot.h"
#include "tests/support/scene.h"

#define N_WINDOWS 126 /* 21 minutes */

/* Who reads the windows again would miss these. */
#define REMOVE_COUNTS                                    \
	"DELETE FROM function_counts WHERE window = 77;" \
	"DELETE FROM object_counts WHERE window = 77;"   \
	"DELETE FROM stack_count WHERE window = 77"

static int set_up(void **state)
{
	return scene_set_up(state, &(struct scene_settings){ .n_windows = N_WINDOWS });
}

/* @member of the reply, or all of it. */
static char *ask(struct scene *t, const char *what, const char *member)
{
	json_t *reply, *found;
	char text[200], *json;

	snprintf(text, sizeof(text), "{\"first\":1,\"last\":%d,\"parts\":3%s}", N_WINDOWS, what);
	reply = call(&t->caller, "GetFunctions", text);
	found = json_object_get(reply, "parameters");
	assert_non_null(found);
	found = member ? json_object_get(found, member) : found;
	json = json_dumps(found, JSON_COMPACT);
	assert_non_null(json);
	json_decref(reply);
	return json;
}

static void kept_counts_are_those_that_were_read(void **state)
{
	static const char *const whats[] = {
		"",
		",\"by\":\"object\"",
		",\"by\":\"process\"",
		",\"by\":\"program\"",
		",\"by\":\"comm\"",
		",\"by\":\"unit\"",
		",\"by\":\"user\"",
		",\"symbol\":\"\"",
	};
	char *before[ARRAY_SIZE(whats)], *now;
	struct scene *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(whats); i++)
		before[i] = ask(t, whats[i], NULL);
	scene_run_sql(t, REMOVE_COUNTS);
	for (size_t i = 0; i < ARRAY_SIZE(whats); i++) {
		now = ask(t, whats[i], NULL);
		assert_string_equal(now, before[i]);
		free(now);
		free(before[i]);
	}
}

/* The name of a function. */
static void find_symbol(struct scene *t, char *ret, size_t size)
{
	_cleanup_(profile_freep) struct profile *names = NULL;
	char *text = ask(t, "", "profile");
	struct fault fault = {};

	assert_int_equal(profile_json_read(&names, text, strlen(text), &fault), 0);
	assert_true(names->n_functions > 0);
	snprintf(ret, size, "%s", names->functions[0].name);
	free(text);
}

/* The samples with functions of that name in their stacks; rows are in another order where sums
 * are kept. */
static json_int_t count(struct scene *t, const char *what)
{
	char *text = ask(t, what, "parts");
	json_t *parts = json_loads(text, 0, NULL), *part, *row;
	json_int_t n = 0;
	size_t i, j;

	json_array_foreach(parts, i, part) {
		json_array_foreach(json_object_get(part, "rows"), j, row)
			n += json_integer_value(json_array_get(row, 2));
	}
	json_decref(parts);
	free(text);
	return n;
}

static void functions_of_a_name_are_kept(void **state)
{
	struct scene *t = *state;
	char symbol[100], what[128];
	json_int_t before;

	find_symbol(t, symbol, sizeof(symbol));
	snprintf(what, sizeof(what), ",\"symbol\":\"%s\"", symbol);
	before = count(t, what);
	assert_true(before > 0);
	assert_int_equal(count(t, ",\"symbol\":\"nothing\""), 0);
	scene_run_sql(t, REMOVE_COUNTS);
	assert_int_equal(count(t, what), before);
}

static void samples_are_of_the_windows_that_are_there(void **state)
{
	struct scene *t = *state;
	char *before = ask(t, "", "windows"), *now;

	scene_run_sql(t, "DELETE FROM window WHERE id = 77");
	now = ask(t, "", "windows");
	assert_string_not_equal(now, before);
	free(before);
	free(now);
	before = ask(t, "", "parts");
	scene_run_sql(t, REMOVE_COUNTS);
	now = ask(t, "", "parts");
	assert_string_equal(now, before);
	free(before);
	free(now);
}

/* What they refer to may be gone as well. */
static void windows_that_were_removed_are_not_counted(void **state)
{
	const struct profile_filter all = PROFILE_FILTER_INIT;
	_cleanup_(function_sum_freep) struct function_sum *sum = NULL, *other = NULL;
	_cleanup_(count_slot_freep) struct count_slot *slot = NULL;
	struct scene *t = *state;
	struct store *store = archive_get_store(t->service.archive);
	struct fault fault;

	assert_int_equal(function_sum_new(&sum), 0);
	assert_int_equal(function_sum_new(&other), 0);
	assert_int_equal(count_slot_begin(sum), 0);
	for (int64_t id = 70; id < 80; id++) {
		struct window window = { .id = id };

		assert_int_equal(store_read_functions(store, &window, &all, sum, &fault), 1);
	}
	assert_int_equal(store_end_slot(store, sum, &slot, &fault), 1);
	assert_int_equal(store_add_slot(store, slot, other, &fault), 1);
	assert_int_equal(other->names->counters.samples, sum->names->counters.samples);
	assert_int_equal(other->n_rows, sum->n_rows);
	scene_run_sql(t, "DELETE FROM window WHERE id = 77");
	assert_int_equal(store_add_slot(store, slot, other, &fault), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, scene_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kept_counts_are_those_that_were_read),
		TEST(functions_of_a_name_are_kept),
		TEST(samples_are_of_the_windows_that_are_there),
		TEST(windows_that_were_removed_are_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
