/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/store/code.h"
#include "daemon/store/counters.h"
#include "daemon/store/database.h"
#include "daemon/store/file.h"
#include "daemon/store/functions.h"
#include "daemon/store/intern.h"
#include "daemon/store/read.h"
#include "daemon/store/trim.h"
#include "daemon/store/write.h"

/*
 * The number of windows that "seen" may lag behind (see schema.sql): rows in use are updated once
 * in this number of windows, and rows not in use may be kept for as many longer.
 */
#define MAX_LAG 64

/* The log may be at least this large, whatever the limit of the database. */
#define MIN_LOG_BYTES (64u << 20)

enum {
	LAST_WINDOW,
	SURVEY_WINDOWS,
	FIRST_MOMENT,
	LAST_MOMENT,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[LAST_WINDOW] = "SELECT id, horizon FROM window ORDER BY id DESC LIMIT 1",
	[SURVEY_WINDOWS] = "SELECT count(*), ifnull(max(length_us), 0) FROM window",
	[FIRST_MOMENT] = "SELECT start_us FROM window ORDER BY start_us LIMIT 1",
	[LAST_MOMENT] = "SELECT start_us + length_us FROM window ORDER BY start_us DESC LIMIT 1",
};

struct store {
	char *path;
	struct store_settings settings;
	int lock_fd; /* -1: not locked, or no file */
	struct database *database;
	dev_t device; /* what the path led to when it was opened */
	ino_t inode;
	bool removed; /* it led elsewhere later */
	struct statement *statements[N_STATEMENTS];
	struct store_intern intern;
	struct store_counters counters;
	struct store_read read;
	struct store_write write;
	struct store_trim trim;
	struct store_code code;
	struct store_functions functions;
	uint64_t n_windows, n_removed;
	uint64_t longest_us; /* no window is longer */
	int64_t converted;   /* the version that the database had; 0: this one */
	char moved_to[PATH_MAX], why_moved[sizeof(((struct fault *)0)->text)];
};

static bool is_file(const struct store *store)
{
	return strcmp(store->path, ":memory:") != 0;
}

static void close_database(struct store *store)
{
	store_intern_done(&store->intern);
	store->intern = (struct store_intern){ 0 };
	store->database = database_free(store->database);
}

/* The first column of the one row, 0 where there is none. */
static int ask(struct store *store, int which, int64_t *ret)
{
	struct statement *row = store->statements[which];
	int r;

	*ret = 0;
	r = statement_step(row);
	if (r <= 0)
		return r;
	*ret = statement_int(row, 0);
	return statement_reset(row);
}

/* Reads the figures kept in memory of all windows. */
static int survey(struct store *store)
{
	struct statement *row = store->statements[SURVEY_WINDOWS];
	int r;

	r = statement_step(row);
	if (r < 0)
		return r;
	store->n_windows = (uint64_t)statement_int(row, 0);
	store->longest_us = (uint64_t)statement_int(row, 1);
	return statement_reset(row);
}

/* Prepares the modules for an open database. */
static int prepare(struct store *store)
{
	const struct store_write_modules modules = {
		.intern = &store->intern,
		.counters = &store->counters,
		.functions = &store->functions,
		.code = &store->code,
	};
	struct database *database = store->database;
	int r;

	r = database_prepare(database, sql, N_STATEMENTS, store->statements);
	if (r >= 0)
		r = store_intern_init(&store->intern, database);
	if (r >= 0)
		r = store_counters_init(&store->counters, database);
	if (r >= 0)
		r = store_read_init(&store->read, database, &store->counters);
	if (r >= 0)
		r = store_write_init(&store->write, database, &modules);
	if (r >= 0)
		r = store_code_init(&store->code, database);
	if (r >= 0)
		r = store_functions_init(&store->functions, database);
	if (r >= 0)
		r = store_trim_init(&store->trim, database);
	return r < 0 ? r : survey(store);
}

static int open_database(struct store *store, struct fault *fault)
{
	struct stat st;
	int64_t converted;
	int r;

	if (is_file(store) && store->lock_fd < 0) {
		r = store_file_lock(store->path, fault);
		if (r < 0)
			return r;
		store->lock_fd = r;
	}
	r = store_file_open(&store->database, store->path, &converted, fault);
	if (r < 0)
		return r;
	if (converted > 0)
		store->converted = converted;
	if (is_file(store) && stat(store->path, &st) == 0) {
		store->device = st.st_dev;
		store->inode = st.st_ino;
	}
	r = prepare(store);
	if (r < 0) {
		r = database_explain(store->database, r, fault);
		close_database(store);
	}
	return r;
}

/*
 * Closes a database that somebody has removed or replaced: writes to it would be lost. Its lock is
 * closed, too, as it may be removed with it.
 */
static void close_removed(struct store *store)
{
	struct stat st;
	int r;

	if (!is_file(store) || !store->database)
		return;
	r = stat(store->path, &st);
	if (r < 0 ? errno != ENOENT : st.st_dev == store->device && st.st_ino == store->inode)
		return;
	close_database(store);
	close(store->lock_fd);
	store->lock_fd = -1;
	store->removed = true;
}

/* There is none if one was renamed or removed and no other could be made; perhaps now one can. */
static int want_database(struct store *store, struct fault *fault)
{
	return store->database ? 0 : open_database(store, fault);
}

/* Renames the closed database, for the reason in @fault, and makes a new one. */
static int begin_anew(struct store *store, struct fault *fault)
{
	int r;

	memcpy(store->why_moved, fault->text, sizeof(store->why_moved));
	r = store_file_move_away(store->path, store->moved_to, sizeof(store->moved_to), fault);
	return r < 0 ? r : open_database(store, fault);
}

int store_open(struct store **ret, const char *path, const struct store_settings *settings,
	       struct fault *fault)
{
	_cleanup_(store_freep) struct store *store = calloc(1, sizeof(*store));
	int r;

	if (!store)
		return fault_set(fault, -ENOMEM, "%s: out of memory", path);
	store->lock_fd = -1;
	store->settings = *settings;
	store->path = strdup(path);
	if (!store->path)
		return fault_set(fault, -ENOMEM, "%s: out of memory", path);
	r = open_database(store, fault);
	if (r == -EBADMSG && is_file(store))
		r = begin_anew(store, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(store);
	return 0;
}

struct store *store_free(struct store *store)
{
	if (!store)
		return NULL;
	close_database(store);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	free(store->path);
	free(store);
	return NULL;
}

void store_set_settings(struct store *store, const struct store_settings *settings)
{
	store->settings = *settings;
}

/* 0 where there is none. */
static uint64_t file_bytes(const struct store *store, const char *part)
{
	char path[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", store->path, part) >= sizeof(path) ||
	    stat(path, &st) < 0)
		return 0;
	return (uint64_t)st.st_size;
}

/* A program that reads for hours keeps the log from being emptied. It must not fill the disk. */
static int check_log(struct store *store, struct fault *fault)
{
	uint64_t max_bytes = MAX(store->settings.max_bytes, (uint64_t)MIN_LOG_BYTES);
	int r;

	if (store->settings.max_bytes == 0 || !is_file(store) ||
	    file_bytes(store, "-wal") <= max_bytes)
		return 0;
	r = database_run(store->database, "PRAGMA wal_checkpoint(TRUNCATE)");
	if (r < 0)
		return database_explain(store->database, r, fault);
	if (file_bytes(store, "-wal") <= max_bytes)
		return 0;
	return fault_set(fault, -ENOSPC,
			 "%s-wal: full, as another program has been reading the database all the "
			 "time; end that program",
			 store->path);
}

/* The number of the next window, and its horizon. */
static int next_window(struct store *store, int64_t *ret_id, int64_t *ret_horizon)
{
	struct statement *row = store->statements[LAST_WINDOW];
	int64_t id = 0, horizon = 0, lag;
	int r;

	r = statement_step(row);
	if (r > 0) {
		id = statement_int(row, 0);
		horizon = statement_int(row, 1);
		r = statement_reset(row);
	}
	if (r < 0)
		return r;
	lag = MIN((int64_t)store->n_windows / 8, MAX_LAG);
	lag = MAX(lag, 1);
	*ret_id = id + 1;
	*ret_horizon = MAX(horizon, *ret_id - lag);
	return 0;
}

static int add_in_transaction(struct store *store, const struct window *window,
			      const struct profile *profile, int64_t *ret_id,
			      uint64_t *ret_n_removed)
{
	int64_t horizon;
	int r;

	*ret_n_removed = 0;
	r = database_begin_writing(store->database);
	if (r >= 0)
		r = next_window(store, ret_id, &horizon);
	if (r >= 0)
		r = store_write_window(&store->write, *ret_id, horizon, window, profile);
	if (r >= 0 && store->settings.max_bytes > 0)
		r = store_trim(&store->trim, store->settings.max_bytes, *ret_id, ret_n_removed);
	if (r >= 0)
		r = database_commit(store->database);
	return r;
}

static int add(struct store *store, const struct window *window, const struct profile *profile,
	       int64_t *ret_id, struct fault *fault)
{
	uint64_t n_removed;
	int64_t id;
	int r;

	r = add_in_transaction(store, window, profile, &id, &n_removed);
	if (r < 0) {
		database_roll_back(store->database);
		store_intern_forget(&store->intern);
		store_trim_forget(&store->trim);
		return database_explain(store->database, r, fault);
	}
	store->n_windows += 1 - n_removed;
	store->n_removed += n_removed;
	store->longest_us = MAX(store->longest_us, window->length_us);
	*ret_id = id;
	return 0;
}

int store_add(struct store *store, const struct window *window, const struct profile *profile,
	      int64_t *ret_id, struct fault *fault)
{
	int r;

	close_removed(store);
	r = want_database(store, fault);
	if (r >= 0)
		r = check_log(store, fault);
	if (r < 0)
		return r;
	r = add(store, window, profile, ret_id, fault);
	/* once: a disk that damages all databases must not be filled with them */
	if (r != -EBADMSG || !is_file(store) || *store->moved_to)
		return r;
	close_database(store);
	r = begin_anew(store, fault);
	return r < 0 ? r : add(store, window, profile, ret_id, fault);
}

void store_set_code_source(struct store *store, store_code_source source, void *userdata)
{
	store->code.source = source;
	store->code.userdata = userdata;
}

int store_find_code(struct store *store, const struct store_function *function, void *ret, size_t n,
		    uint16_t *ret_machine, struct fault *fault)
{
	int r;

	r = want_database(store, fault);
	if (r < 0)
		return r;
	r = store_code_find(&store->code, function, ret, n, ret_machine);
	return r < 0 ? database_explain(store->database, r, fault) : r;
}

int store_for_each(struct store *store, uint64_t since_us, uint64_t until_us, store_handler handler,
		   void *userdata, struct fault *fault)
{
	_cleanup_free_ struct window *windows = NULL;
	size_t n = 0;
	int r;

	r = want_database(store, fault);
	if (r < 0)
		return r;
	r = store_read_list(&store->read, since_us, until_us, store->longest_us, &windows, &n);
	if (r < 0)
		return database_explain(store->database, r, fault);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = handler(&windows[i], userdata);
	return MIN(r, 0);
}

int store_read_many(struct store *store, const struct store_batch *batch, size_t *ret_n,
		    struct profile **ret, struct fault *fault)
{
	int r;

	r = want_database(store, fault);
	if (r < 0)
		return r;
	r = database_begin_reading(store->database);
	if (r >= 0)
		r = store_read_windows(&store->read, batch, ret_n, ret);
	database_roll_back(store->database); /* nothing was written */
	return r < 0 ? database_explain(store->database, r, fault) : 0;
}

int store_read(struct store *store, int64_t id, struct profile **ret, struct window *ret_window,
	       struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct window window = { .id = id };
	bool found = false;
	const struct store_batch batch = { .windows = &window, .found = &found, .n = 1 };
	size_t n;
	int r;

	r = store_read_many(store, &batch, &n, &profile, fault);
	if (r < 0 || !found)
		return r;
	if (ret_window)
		*ret_window = window;
	*ret = TAKE_PTR(profile);
	return 1;
}

int store_read_functions(struct store *store, struct window *window,
			 const struct profile_filter *filter, struct function_sum *sum,
			 struct fault *fault)
{
	int r;

	r = want_database(store, fault);
	if (r < 0)
		return r;
	r = database_begin_reading(store->database);
	if (r >= 0)
		r = store_functions_read(&store->functions, &store->read, window, filter, sum);
	database_roll_back(store->database); /* nothing was written */
	return r < 0 ? database_explain(store->database, r, fault) : r;
}

int store_get_status(struct store *store, struct store_status *ret)
{
	struct store_status status = {
		.n_bytes = file_bytes(store, "") + file_bytes(store, "-wal"),
		.n_windows = store->n_windows,
		.n_removed = store->n_removed,
	};
	int64_t first_us = 0, last_us = 0;
	struct fault fault;
	int r = 0;

	if (store->database)
		r = ask(store, FIRST_MOMENT, &first_us);
	if (r >= 0 && store->database)
		r = ask(store, LAST_MOMENT, &last_us);
	if (r < 0)
		return database_explain(store->database, r, &fault); /* which forgets it */
	status.first_us = (uint64_t)first_us;
	status.last_us = (uint64_t)last_us;
	status.removed = store->removed;
	status.converted = store->converted;
	memcpy(status.moved_to, store->moved_to, sizeof(status.moved_to));
	memcpy(status.why_moved, store->why_moved, sizeof(status.why_moved));
	*ret = status;
	return 0;
}
