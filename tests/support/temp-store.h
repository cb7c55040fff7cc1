/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For tests of the store: a folder of its own for the database, windows in and out, and what SQLite
 * says of the file without the store.
 */
#pragma once

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "daemon/store/store.h"

/* Says why, and ends the test; cmocka's own would not work in a child. */
#define TEMP_STORE_CHECK(condition, ...)                                \
	do {                                                            \
		if (!(condition)) {                                     \
			fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
			fprintf(stderr, __VA_ARGS__);                   \
			fputc('\n', stderr);                            \
			abort();                                        \
		}                                                       \
	} while (0)

struct temp_store {
	char folder[256];
	char path[300]; /* of the database */
};

static inline void temp_store_init_in(struct temp_store *stored, const char *folder)
{
	snprintf(stored->folder, sizeof(stored->folder), "%s/test-store-XXXXXX", folder);
	TEMP_STORE_CHECK(mkdtemp(stored->folder), "no folder for the test in %s", folder);
	snprintf(stored->path, sizeof(stored->path), "%s/branchd.db", stored->folder);
}

/* In memory if it can be, as many databases are made: how slow a disk is does not matter. */
static inline void temp_store_init(struct temp_store *stored)
{
	temp_store_init_in(stored, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

static inline void temp_store_done(struct temp_store *stored)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", stored->folder);
	TEMP_STORE_CHECK(system(command) == 0, "%s", command);
}

static inline uint64_t temp_store_file_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

static inline struct store *temp_store_open(const char *path, uint64_t max_bytes)
{
	struct store_settings settings = { .max_bytes = max_bytes };
	struct store *store = NULL;
	struct fault fault = { 0 };
	int r;

	r = store_open(&store, path, &settings, &fault);
	TEMP_STORE_CHECK(r == 0, "%s", fault.text);
	return store;
}

/* A window of 10 s, the @i-th since 1970. */
static inline struct window temp_store_window(uint64_t i)
{
	return (struct window){ .start_us = i * 10000000,
				.length_us = 10000000,
				.samples = i,
				.lost = i % 3,
				.mode = "stack" };
}

static inline int64_t temp_store_add(struct store *store, const struct window *window,
				     const struct profile *profile)
{
	struct fault fault = { 0 };
	int64_t id = 0;
	int r;

	r = store_add(store, window, profile, &id, &fault);
	TEMP_STORE_CHECK(r == 0, "%s", fault.text);
	return id;
}

/* NULL if there is no such window. */
static inline struct profile *temp_store_read(struct store *store, int64_t id)
{
	struct profile *profile = NULL;
	struct fault fault = { 0 };
	int r;

	r = store_read(store, id, &profile, NULL, &fault);
	TEMP_STORE_CHECK(r >= 0, "%s", fault.text);
	TEMP_STORE_CHECK((r > 0) == (profile != NULL), "%d", r);
	return profile;
}

static inline struct store_status temp_store_status(struct store *store)
{
	struct store_status status;

	store_get_status(store, &status);
	return status;
}

static inline sqlite3 *temp_store_connect(const char *path)
{
	sqlite3 *db = NULL;

	TEMP_STORE_CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK,
			 "%s cannot be opened", path);
	return db;
}

static inline void temp_store_run(sqlite3 *db, const char *sql)
{
	TEMP_STORE_CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql,
			 sqlite3_errmsg(db));
}

/* The first column of the first row, as text, or "" where there is no row. */
static inline void temp_store_ask(sqlite3 *db, const char *sql, char *ret, size_t n)
{
	sqlite3_stmt *stmt = NULL;
	int code;

	TEMP_STORE_CHECK(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, "%s: %s", sql,
			 sqlite3_errmsg(db));
	code = sqlite3_step(stmt);
	TEMP_STORE_CHECK(code == SQLITE_ROW || code == SQLITE_DONE, "%s: %s", sql,
			 sqlite3_errmsg(db));
	snprintf(ret, n, "%s",
		 code == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : "");
	sqlite3_finalize(stmt);
}

static inline int64_t temp_store_number(sqlite3 *db, const char *sql)
{
	char text[64];

	temp_store_ask(db, sql, text, sizeof(text));
	return atoll(text);
}

/* Is the database whole, by SQLite's own checks and by the schema's promises? An empty one is, too.
 */
static inline void temp_store_check(const char *path)
{
	static const char *const referrers[][2] = {
		{ "process", "comm" }, { "source", "mode" },    { "function", "object" },
		{ "place", "object" }, { "place", "function" }, { "stack", "parent" },
		{ "stack", "place" },
	};
	sqlite3 *db = temp_store_connect(path);
	char text[256], sql[256];

	temp_store_ask(db, "PRAGMA integrity_check", text, sizeof(text));
	TEMP_STORE_CHECK(strcmp(text, "ok") == 0, "%s: %s", path, text);
	if (temp_store_number(db, "SELECT count(*) FROM sqlite_schema") == 0) {
		sqlite3_close(db);
		return;
	}
	temp_store_ask(db, "PRAGMA foreign_key_check", text, sizeof(text));
	TEMP_STORE_CHECK(!*text, "%s: a row of %s refers to nothing", path, text);
	for (size_t i = 0; i < sizeof(referrers) / sizeof(*referrers); i++) {
		const char *from = referrers[i][0], *column = referrers[i][1];
		const char *to = strcmp(from, "process") == 0 || strcmp(from, "source") == 0 ?
					 "string" :
				 strcmp(column, "parent") == 0 ? "stack" :
								 column;

		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM %s a JOIN %s b ON b.id = a.%s WHERE a.seen > b.seen",
			 from, to, column);
		TEMP_STORE_CHECK(temp_store_number(db, sql) == 0,
				 "%s.%s was seen after what it refers to", from, column);
	}
	sqlite3_close(db);
}
