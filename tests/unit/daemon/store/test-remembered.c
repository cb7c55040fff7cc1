/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* However little of what was stored is remembered, the same rows are stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/macro.h"
#include "daemon/store/open.h"
#include "tests/support/seeded-store.h"

#define TEXT_BYTES ((size_t)4 << 20)

static const char *const tables[] = {
	"id || ' ' || object || ' ' || start || ' ' || name || ' ' || seen, ';') FROM function",
	"id || ' ' || object || ' ' || offset || ' ' || function || ' ' || seen, ';') FROM place",
	"id || ' ' || parent || ' ' || place || ' ' || seen, ';') FROM stack",
	"id || ' ' || parent || ' ' || origin || ' ' || target || ' ' || seen, ';') FROM stream",
};

/* The rows of @table, after each window was added two times by a store that remembers @max. */
static char *add_all(const char *path, size_t max, const char *table)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(path, 0);
	char sql[256], *text = malloc(TEXT_BYTES);
	sqlite3 *db;

	assert_non_null(text);
	store->intern.functions.max = max;
	for (size_t i = 0; i < N_REMEMBERED_KINDS; i++)
		store->intern.remembered[i].recent.max = max;
	for (uint64_t i = 0; i < 2 * (uint64_t)N_WINDOWS; i++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(i % N_WINDOWS, 0);
		_cleanup_(profile_freep) struct profile *back = NULL;
		struct window window = temp_store_window(i);

		back = temp_store_read(store, temp_store_add(store, &window, p));
		assert_true(profile_equal(back, p));
	}
	store = store_free(store);
	temp_store_check(path);
	db = temp_store_connect(path);
	snprintf(sql, sizeof(sql), "SELECT group_concat(%s", table);
	temp_store_ask(db, sql, text, TEXT_BYTES);
	sqlite3_close(db);
	return text;
}

static void assert_same(const char *table, size_t max)
{
	struct temp_store all, few;
	char *expected, *found;

	temp_store_init(&all);
	temp_store_init(&few);
	expected = add_all(all.path, SIZE_MAX, table);
	found = add_all(few.path, max, table);
	assert_true(strlen(expected) > 1000);
	assert_true(strlen(expected) < TEXT_BYTES - 1);
	assert_string_equal(found, expected);
	free(expected);
	free(found);
	temp_store_done(&all);
	temp_store_done(&few);
}

/* From one row, so that each that is added is at once forgotten, to nearly all of a window. */
static void test_the_same_rows_are_stored(void **state)
{
	static const size_t max[] = { 1, 2, 7, 40, 300 };

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(max); k++)
			assert_same(tables[i], max[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_rows_are_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
