/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For tests of the store: databases of earlier versions. After cmocka.h.
 *
 * version-4.sql was written by the last store of version 4; version-4-profiles.json has the
 * profiles of its windows, one a line, as that store read them, with the names of today.
 * version-5.sql to version-7.sql were written by the last stores of those, with the same windows;
 * version 8 added two columns to the last of them.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "common/json/profile-json.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "tests/support/seeded-store.h"
#include "tests/support/temp-store.h"

#define N_OLD_WINDOWS 5

static const char version_4[] =
#include "version-4.sql.inc"
	;

static const char version_5[] =
#include "version-5.sql.inc"
	;

static const char version_6[] =
#include "version-6.sql.inc"
	;

static const char version_7[] =
#include "version-7.sql.inc"
	;

static const char to_version_8[] =
#include "daemon/database/migrate-7.sql.inc"
	;

static const char old_profiles[] =
#include "version-4-profiles.json.inc"
	;

/* What all tests are done with in turn. */
static const struct old {
	int64_t version;
	const char *database;
	const char *changes;       /* of it since then */
	const char *pruned;        /* what this column of counts is called */
	unsigned int n_statements; /* that converting it takes, at least */
} olds[] = {
	{ 4, version_4, "", "folded", 20 },          { 5, version_5, "", "pruned", 10 },
	{ 6, version_6, "", "pruned", 10 },          { 7, version_7, "", "pruned", 5 },
	{ 8, version_7, to_version_8, "pruned", 5 },
};

static const struct old *old = olds;

/* The old database, changed by @sql. */
static inline void make_old(const char *path, const char *sql)
{
	sqlite3 *db;

	write_file(path, "", 0);
	db = temp_store_connect(path);
	temp_store_run(db, old->database);
	temp_store_run(db, old->changes);
	temp_store_run(db, sql);
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM window"), N_OLD_WINDOWS);
	sqlite3_close(db);
}

static inline int64_t number_in(const char *path, const char *sql)
{
	sqlite3 *db = temp_store_connect(path);
	int64_t number = temp_store_number(db, sql);

	sqlite3_close(db);
	return number;
}

static inline struct profile *expected_profile(int64_t id)
{
	const char *line = old_profiles;
	struct profile *profile = NULL;
	struct fault fault = { 0 };

	for (int64_t i = 1; i < id; i++)
		line = strchr(line, '\n') + 1;
	if (profile_json_read(&profile, line, strcspn(line, "\n"), &fault) < 0)
		fail_msg("%s", fault.text);
	return profile;
}

static inline void assert_window_is_there(struct store *store, int64_t id)
{
	_cleanup_(profile_freep) struct profile *expected = expected_profile(id);
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct window window;
	struct fault fault;

	assert_int_equal(store_read(store, id, &profile, &window, &fault), 1);
	assert_true(profile_equal(expected, profile));
	assert_memory_equal(&expected->counters, &profile->counters, sizeof(profile->counters));
	assert_int_equal(window.start_us, 1700000000000000 + (id - 1) * 10000000);
	assert_int_equal(window.length_us, 10000000);
	assert_int_equal(window.samples, 999 + id);
	assert_int_equal(window.lost, 3 * (id - 1));
	assert_string_equal(window.mode, id == 4 ? "stack" : "stack+branch");
}

static inline void assert_old_windows_are_there(struct store *store)
{
	struct store_status status = temp_store_status(store);

	assert_string_equal(status.moved_to, "");
	for (int64_t id = 1; id <= N_OLD_WINDOWS; id++)
		assert_window_is_there(store, id);
}

/* Adds the failures of all @tests with each of the databases in turn to @n_failed. */
#define RUN_WITH_EACH_OLD(tests, n_failed)                                       \
	do {                                                                     \
		for (old = olds; old < olds + ARRAY_SIZE(olds); old++) {         \
			printf("a database of version %d\n", (int)old->version); \
			(n_failed) += cmocka_run_group_tests(tests, NULL, NULL); \
		}                                                                \
	} while (0)
