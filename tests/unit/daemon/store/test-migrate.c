/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Databases of earlier versions are converted: what is in them then, and that they go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <ctype.h>

#include "common/util/cleanup.h"
#include "daemon/database/schema.h"
#include "tests/support/old-databases.h"
#include "tests/support/seeded-store.h"

#define MAX_TEXT 65536

static void test_all_windows_are_there(void **state)
{
	struct temp_store *stored = *state;
	struct store *store;

	make_old(stored->path, "");
	for (int i = 0; i < 2; i++) {
		store = temp_store_open(stored->path, 0);
		assert_old_windows_are_there(store);
		assert_int_equal(temp_store_status(store).n_windows, N_OLD_WINDOWS);
		assert_int_equal(temp_store_status(store).converted, i == 0 ? old->version : 0);
		store_free(store);
		temp_store_check(stored->path);
		assert_int_equal(number_in(stored->path, "PRAGMA user_version"), STORE_VERSION);
	}
}

/* Of the counts of functions, and of their code, nothing was renamed. */
static void test_functions_and_code_are_there(void **state)
{
	static const uint8_t build_id[20] = { 0xc0, 0xff, 0xee, 1,  2,  3,  4,  5,  6,  7,
					      8,    9,    10,   11, 12, 13, 14, 15, 16, 17 };
	const struct store_function function = { .build_id = build_id,
						 .n_build_id = sizeof(build_id),
						 .start = 0x1100 };
	struct temp_store *stored = *state;
	uint8_t code[100], expected[0x40];
	struct store *store;
	struct fault fault;
	uint16_t machine;

	make_old(stored->path, "");
	store = temp_store_open(stored->path, 0);
	assert_int_equal(store_find_code(store, &function, code, sizeof(code), &machine, &fault),
			 sizeof(expected));
	memset(expected, 0x11, sizeof(expected));
	assert_memory_equal(code, expected, sizeof(expected));
	assert_int_equal(machine, 62);
	store_free(store);
	assert_int_equal(number_in(stored->path, "SELECT count(*) FROM function_counts"),
			 N_OLD_WINDOWS);
}

/* Appends what is no comment, each run of spaces as one, without the quotes of names. */
static void append_normalised(char *text, const char *sql)
{
	char *end = text + strlen(text);

	for (; *sql; sql++) {
		if (strncmp(sql, "--", 2) == 0) {
			sql += strcspn(sql, "\n");
			if (!*sql)
				break;
		}
		if (isspace(*sql) && (end == text || end[-1] == ' '))
			continue;
		if ((*sql == ',' || *sql == ')') && end[-1] == ' ')
			end--;
		if (*sql != '"')
			*end++ = (char)(isspace(*sql) ? ' ' : *sql);
	}
	*end++ = '\n';
	*end = '\0';
	assert_true(end < text + MAX_TEXT);
}

static char *read_schema(const char *path)
{
	static const char sql[] = "SELECT type || ' ' || name || ' ' || ifnull(sql, '') "
				  "FROM sqlite_schema ORDER BY type, name";
	sqlite3 *db = temp_store_connect(path);
	char *text = calloc(1, MAX_TEXT);
	sqlite3_stmt *stmt = NULL;

	assert_non_null(text);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		append_normalised(text, (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return text;
}

static void test_the_schema_is_that_of_a_new_one(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_free_ char *converted = NULL, *created = NULL;
	char path[400];

	make_old(stored->path, "");
	store_free(temp_store_open(stored->path, 0));
	snprintf(path, sizeof(path), "%s.new", stored->path);
	store_free(temp_store_open(path, 0));
	converted = read_schema(stored->path);
	created = read_schema(path);
	assert_string_equal(converted, created);
	assert_non_null(strstr(created, "view top_functions"));
	assert_int_equal(number_in(stored->path, "PRAGMA application_id"), STORE_APPLICATION_ID);
	assert_int_equal(number_in(stored->path, "PRAGMA auto_vacuum"),
			 number_in(path, "PRAGMA auto_vacuum"));
}

/* Whether a counter is younger than the old versions. */
static bool is_younger(const char *name)
{
	static const char *const younger[] = {
		"records_unknown", "stacks_unwound",    "stacks_complete",  "stacks_no_table",
		"stacks_copy_end", "stacks_no_return",  "stacks_bad_frame", "stacks_by_pointer",
		"stacks_32_bit",   "samples_estimated", "samples_variance", "samples_ticked",
		"stacks_variance",
	};

	for (size_t i = 0; i < ARRAY_SIZE(younger); i++)
		if (strcmp(name, younger[i]) == 0)
			return true;
	return false;
}

static void test_counters_have_their_names_and_meanings(void **state)
{
	static const char *const counters[][2] = {
#define X(name, meaning) { #name, meaning },
		PROFILE_COUNTERS(X)
#undef X
	};
	struct temp_store *stored = *state;
	char sql[1000];
	sqlite3 *db;
	size_t n_old = 0;

	make_old(stored->path, "");
	store_free(temp_store_open(stored->path, 0));
	db = temp_store_connect(stored->path);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		if (is_younger(counters[i][0]))
			continue;
		n_old++;
		sqlite3_snprintf(sizeof(sql), sql,
				 "SELECT count(*) FROM counters WHERE name = %Q AND meaning = %Q",
				 counters[i][0], counters[i][1]);
		assert_in_range(temp_store_number(db, sql), N_OLD_WINDOWS - 1, N_OLD_WINDOWS);
	}
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM counter"), n_old);
	sqlite3_close(db);
}

/* Who may see a process is not known of old ones; which files others may write is. */
static void test_old_processes_are_restricted(void **state)
{
	struct temp_store *stored = *state;

	make_old(stored->path, "");
	store_free(temp_store_open(stored->path, 0));
	assert_int_equal(number_in(stored->path, "SELECT count(*) FROM process WHERE restricted"),
			 number_in(stored->path, "SELECT count(*) FROM process"));
	assert_int_equal(number_in(stored->path, "SELECT count(*) FROM object WHERE untrusted"), 0);
	assert_int_equal(number_in(stored->path, "SELECT count(*) FROM user_rows") > 0,
			 old->version >= 6);
}

static void test_it_goes_on(void **state)
{
	struct temp_store *stored = *state;
	struct store *store;

	make_old(stored->path, "");
	store = temp_store_open(stored->path, 0);
	for (uint64_t i = 1; i <= 3; i++)
		assert_int_equal(add_seed(store, i), N_OLD_WINDOWS + i);
	assert_old_windows_are_there(store);
	store_free(store);
	temp_store_check(stored->path);
	/* and is trimmed: of the old windows none is left, nor anything that only they referred to
	 */
	store = temp_store_open(stored->path, 200 << 10);
	for (uint64_t i = 4; i <= 40; i++)
		assert_int_equal(add_seed(store, i), N_OLD_WINDOWS + i);
	assert_null(temp_store_read(store, N_OLD_WINDOWS));
	assert_seed_is_back(store, N_OLD_WINDOWS + 40, 40);
	store_free(store);
	temp_store_check(stored->path);
	assert_int_equal(number_in(stored->path, "SELECT count(*) FROM code"), 0);
}

static void test_a_counter_of_unknown_name_is_skipped(void **state)
{
	struct temp_store *stored = *state;
	struct store *store;

	make_old(stored->path,
		 "INSERT INTO counter VALUES (1000, 'of_old', 'not counted any more');"
		 "INSERT INTO counter_count VALUES (1, 1000, 17)");
	store = temp_store_open(stored->path, 0);
	assert_old_windows_are_there(store);
	store_free(store);
	assert_int_equal(
		number_in(stored->path, "SELECT value FROM counters WHERE name = 'of_old'"), 17);
}

/* Views and triggers that a user has made, sound or not, are no reason to give up the windows. */
static void test_what_a_user_added_is_kept(void **state)
{
	struct temp_store *stored = *state;
	struct store *store;
	char sql[500];

	snprintf(sql, sizeof(sql),
		 "CREATE VIEW of_table AS SELECT sum(%s) FROM stack_count;"
		 "CREATE VIEW of_view AS SELECT sum(samples) FROM top_functions;"
		 "CREATE TABLE gone (a);"
		 "CREATE VIEW of_nothing AS SELECT a FROM gone;"
		 "CREATE TRIGGER into_nothing AFTER INSERT ON window BEGIN "
		 "INSERT INTO gone VALUES (1); END;"
		 "DROP TABLE gone",
		 old->pruned);
	make_old(stored->path, sql);
	store = temp_store_open(stored->path, 0);
	assert_old_windows_are_there(store);
	assert_int_equal(add_seed(store, 1), N_OLD_WINDOWS + 1);
	store_free(store);
	assert_in_range(number_in(stored->path, "SELECT * FROM of_table"), 0, INT64_MAX);
	assert_true(number_in(stored->path, "SELECT * FROM of_view") > 0);
	assert_int_equal(number_in(stored->path, "SELECT count(*) FROM sqlite_schema WHERE name "
						 "IN ('of_nothing', 'into_nothing')"),
			 2);
}

static struct profile *profile_without_variances(uint64_t seed)
{
	struct profile *p = random_profile(seed, 0);

	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].variance = 0;
	for (size_t i = 0; i < p->n_streams; i++)
		p->streams[i].variance = 0;
	for (size_t i = 0; i < p->n_branches; i++)
		p->branches[i].variance = 0;
	for (size_t i = 0; i < p->n_blocks; i++)
		p->blocks[i].variance = 0;
	return p;
}

static struct function_sum *read_functions(struct store *store, int64_t id)
{
	const struct profile_filter all = PROFILE_FILTER_INIT;
	struct window window = temp_store_window((uint64_t)id);
	struct function_sum *sum = NULL;
	struct fault fault;

	window.id = id;
	assert_int_equal(function_sum_new(&sum), 0);
	assert_int_equal(store_read_functions(store, &window, &all, sum, &fault), 1);
	return sum;
}

/* Where nothing was estimated a window is written as version 8 wrote it. */
static void test_windows_that_version_8_wrote(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	struct function_sum *sums[N_OLD_WINDOWS];
	sqlite3 *db;

	for (int64_t id = 1; id <= N_OLD_WINDOWS; id++) {
		_cleanup_(profile_freep) struct profile *p =
			profile_without_variances((uint64_t)id);
		struct window window = temp_store_window((uint64_t)id);

		assert_int_equal(temp_store_add(store, &window, p), id);
		sums[id - 1] = read_functions(store, id);
		assert_true(sums[id - 1]->n_rows > 0);
	}
	store_free(store);
	db = temp_store_connect(stored->path);
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM variance"), 0);
	assert_true(temp_store_number(db, "SELECT sum(length(processes)) FROM function_counts"));
	temp_store_run(db, "ALTER TABLE function_counts DROP COLUMN variances;"
			   "ALTER TABLE object_counts DROP COLUMN variances;"
			   "DROP TABLE variance; PRAGMA user_version = 8");
	sqlite3_close(db);
	store = temp_store_open(stored->path, 0);
	assert_int_equal(temp_store_status(store).converted, 8);
	for (int64_t id = 1; id <= N_OLD_WINDOWS; id++) {
		_cleanup_(profile_freep) struct profile *p =
			profile_without_variances((uint64_t)id);
		_cleanup_(profile_freep) struct profile *back = temp_store_read(store, id);
		_cleanup_(function_sum_freep) struct function_sum *before = sums[id - 1];
		_cleanup_(function_sum_freep) struct function_sum *sum = read_functions(store, id);

		assert_true(profile_equal(p, back));
		assert_int_equal(sum->n_rows, before->n_rows);
		for (size_t i = 0; i < sum->n_rows; i++) {
			const struct function_sum_row *a = &sum->rows[i], *b = &before->rows[i];

			assert_true(a->id == b->id && a->self == b->self);
			assert_memory_equal(&a->tally, &b->tally, sizeof(a->tally));
		}
	}
	store_free(store);
	temp_store_check(stored->path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_all_windows_are_there),
		STORE_TEST(test_functions_and_code_are_there),
		STORE_TEST(test_the_schema_is_that_of_a_new_one),
		STORE_TEST(test_counters_have_their_names_and_meanings),
		STORE_TEST(test_old_processes_are_restricted),
		STORE_TEST(test_it_goes_on),
		STORE_TEST(test_a_counter_of_unknown_name_is_skipped),
		STORE_TEST(test_what_a_user_added_is_kept),
	};

	const struct CMUnitTest of_version_8[] = { STORE_TEST(test_windows_that_version_8_wrote) };
	int n_failed = cmocka_run_group_tests(of_version_8, NULL, NULL);

	RUN_WITH_EACH_OLD(tests, n_failed);
	return n_failed;
}
