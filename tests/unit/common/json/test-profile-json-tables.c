/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a table of a profile's JSON has where its rows are estimated, and in the version before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "tests/support/profile-text.h"
#include "tests/support/random-profile.h"

#define LAST_COLUMN ", \"variance\""

/* The text of @profile, with the rows of each table before its columns. */
static char *rows_first(const struct profile *profile)
{
	_cleanup_free_ char *text = written(profile);
	json_t *json = json_loads(text, 0, NULL), *table;
	const char *name;
	char *ret;

	json_object_foreach(json, name, table) {
		json_t *columns = json_object_get(table, "columns");

		if (!columns)
			continue;
		json_incref(columns);
		json_object_del(table, "columns");
		json_object_set_new(table, "columns", columns);
	}
	ret = json_dumps(json, 0);
	json_decref(json);
	return ret;
}

static void test_rows_before_their_columns(void **state)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(1, 0);
	_cleanup_free_ char *estimated = rows_first(p), *plain = NULL;
	_cleanup_(profile_freep) struct profile *q = read_back(estimated), *none = NULL;
	struct fault fault = { 0 };
	char *column;

	assert_true(strstr(estimated, "\"stacks\": {\"rows\": [["));
	assert_true(profile_equal(p, q));
	column = strstr(estimated, LAST_COLUMN "]");
	assert_non_null(column);
	memmove(column, column + strlen(LAST_COLUMN), strlen(column + strlen(LAST_COLUMN)) + 1);
	assert_int_equal(profile_json_read(&none, estimated, strlen(estimated), &fault), -EINVAL);
	assert_non_null(strstr(fault.text, "columns: not as many as values in the rows"));

	q = profile_free(q);
	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].variance = 0;
	plain = rows_first(p);
	q = read_back(plain);
	assert_true(profile_equal(p, q));
}

/* What a filter left of a profile may have a row with a variance, and a rounded sum of 0. */
static void test_each_table_has_variances_of_its_own(void **state)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(1, 0), *q = NULL;
	_cleanup_free_ char *text = NULL;
	char *column;

	p->counters.stacks_variance = 0;
	for (size_t i = 0; i < p->n_streams; i++)
		p->streams[i].variance = 0;
	for (size_t i = 0; i < p->n_branches; i++)
		p->branches[i].variance = 0;
	for (size_t i = 0; i < p->n_blocks; i++)
		p->blocks[i].variance = i == p->n_blocks - 1;
	text = written(p);
	column = strstr(text, "\"pruned\"" LAST_COLUMN "]");
	assert_non_null(column);
	column = strstr(column + strlen("\"pruned\"" LAST_COLUMN), LAST_COLUMN "]");
	assert_true(column > strstr(text, "\"blocks\""));
	q = read_back(text);
	assert_true(profile_equal(p, q));
}

/* That of the first release: nothing was estimated. */
static void test_version_6_is_read(void **state)
{
	static const char *const counters[] = { "samples_estimated", "samples_variance",
						"samples_ticked", "stacks_variance" };
	_cleanup_(profile_freep) struct profile *want = random_profile(1, 0), *p = NULL;
	_cleanup_free_ char *now = NULL, *text = NULL;
	json_t *json;

	want->counters.samples_estimated = want->counters.samples_variance = 0;
	want->counters.samples_ticked = want->counters.stacks_variance = 0;
	now = written(want);
	json = json_loads(now, 0, NULL);
	json_object_set_new(json, "profile", json_integer(6));
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		assert_int_equal(json_object_del(json_object_get(json, "counters"), counters[i]),
				 0);
	text = json_dumps(json, 0);
	json_decref(json);
	p = read_back(text);
	assert_true(profile_equal(p, want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_before_their_columns),
		cmocka_unit_test(test_each_table_has_variances_of_its_own),
		cmocka_unit_test(test_version_6_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
