/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/open.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/util/macro.h"
#include "daemon/database/file.h"

static const char *const sql[N_STORE_STATEMENTS] = {
	[LAST_WINDOW] = "SELECT id, horizon FROM window ORDER BY id DESC LIMIT 1",
	[SURVEY_WINDOWS] = "SELECT count(*), ifnull(max(length_us), 0) FROM window",
	[FIRST_MOMENT] = "SELECT start_us FROM window ORDER BY start_us LIMIT 1",
	[LAST_MOMENT] = "SELECT start_us + length_us FROM window ORDER BY start_us DESC LIMIT 1",
};

bool store_is_file(const struct store *store)
{
	return strcmp(store->path, ":memory:") != 0;
}

void store_secure_log(struct store *store)
{
	bool is_long =
		store_is_file(store) && database_log_pages(store->database) >= STORE_LOG_PAGES;

	store_checkpoint_start(&store->checkpoint,
			       is_long ? STORE_CHECKPOINT_COPY : STORE_CHECKPOINT_SYNC);
}

void store_close_database(struct store *store)
{
	store_intern_done(&store->intern);
	store->intern = (struct store_intern){ 0 };
	store_share_done(&store->share);
	store_checkpoint_done(&store->checkpoint);
	store->database = database_free(store->database);
}

int store_ask(struct store *store, int which, int64_t *ret)
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
	const struct store_reduce_modules reduce = {
		.first_ids = &store->first_ids,
		.share = &store->share,
		.read = &store->read,
		.write = &store->write,
	};
	const struct store_trim_modules trim = {
		.first_ids = &store->first_ids,
		.intern = &store->intern,
		.share = &store->share,
		.reclaim = &store->reclaim,
		.reduce = &store->reduce,
		.renew = &store->renew,
	};
	const struct store_renew_modules renew = {
		.first_ids = &store->first_ids,
		.read = &store->read,
		.write = &store->write,
		.reduce = &store->reduce,
	};
	const struct store_tiering_modules tiering = {
		.first_ids = &store->first_ids,
		.marks = &store->marks,
		.intern = &store->intern,
		.reclaim = &store->reclaim,
		.share = &store->share,
		.read = &store->read,
		.write = &store->write,
		.reduce = &store->reduce,
		.trim = &store->trim,
		.gone = &store->gone,
	};
	struct database *database = store->database;
	int r;

	r = database_prepare(database, sql, N_STORE_STATEMENTS, store->statements);
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
		r = store_share_init(&store->share, database);
	if (r >= 0)
		r = store_first_ids_init(&store->first_ids, database);
	if (r >= 0)
		r = store_reclaim_init(&store->reclaim, database, &store->first_ids);
	if (r >= 0)
		r = store_reduce_init(&store->reduce, database, &reduce);
	if (r >= 0)
		r = store_renew_init(&store->renew, database, &renew);
	if (r >= 0)
		r = store_trim_init(&store->trim, database, &trim);
	if (r >= 0)
		r = store_vacuuming_init(&store->vacuuming, database, &store->trim);
	if (r >= 0)
		r = store_marks_init(&store->marks, database);
	if (r >= 0)
		r = store_gone_init(&store->gone, database);
	if (r >= 0)
		r = store_tiering_init(&store->tiering, database, &tiering);
	return r < 0 ? r : survey(store);
}

/* What the path leads to now. */
static void note_file(struct store *store)
{
	struct stat st;

	if (store_is_file(store) && stat(store->path, &st) == 0) {
		store->device = st.st_dev;
		store->inode = st.st_ino;
	}
	store->n_opened++;
}

static int open_database(struct store *store, struct fault *fault)
{
	int64_t converted;
	int r;

	if (store_is_file(store) && store->lock_fd < 0) {
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
	note_file(store);
	r = prepare(store);
	if (r < 0)
		database_explain(store->database, r, fault);
	else if (store_is_file(store))
		r = store_checkpoint_init(&store->checkpoint, store->path, fault);
	if (r < 0)
		store_close_database(store);
	else
		store->unopened = 0;
	return r;
}

void store_close_removed(struct store *store)
{
	struct stat st;
	int r;

	if (!store_is_file(store) || !store->database)
		return;
	r = stat(store->path, &st);
	if (r < 0 ? errno != ENOENT : st.st_dev == store->device && st.st_ino == store->inode)
		return;
	store_close_database(store);
	close(store->lock_fd);
	store->lock_fd = -1;
	store->removed = true;
	store->damage[0] = '\0';
}

uint64_t store_due_us(const struct store *store)
{
	const uint64_t advance_us = (STORE_MAX_MOVED - 1) * STORE_HEAL_US;

	return store->spent_us > advance_us ? store->spent_us - advance_us : 0;
}

/* Renames the closed database, for the reason in @fault, and makes a new one. */
static int begin_anew(struct store *store, struct fault *fault)
{
	struct fault why = *fault;
	char moved_to[PATH_MAX];
	int r;

	r = store_file_move_away(store->path, moved_to, sizeof(moved_to), fault);
	if (r < 0)
		return r;
	memcpy(store->why_moved, why.text, sizeof(store->why_moved));
	memcpy(store->moved_to, moved_to, sizeof(store->moved_to));
	store->damage[0] = '\0';
	store->n_moved++;
	store->spent_us = MAX(store->spent_us, store->clock()) + STORE_HEAL_US;
	return open_database(store, fault);
}

/* Notes the damage in @fault, and says there what comes of it. */
static void describe_damage(struct store *store, struct fault *fault)
{
	uint64_t now_us = store->clock(),
		 wait_us = store_due_us(store) - MIN(store_due_us(store), now_us);
	time_t when = time(NULL) + (time_t)(wait_us / 1000000);
	char text[16] = "";
	struct fault why;
	struct tm tm;

	if (!*store->damage) {
		why = *fault;
		if (localtime_r(&when, &tm))
			strftime(text, sizeof(text), "%H:%M", &tm);
		fault_set(fault, -EBADMSG,
			  "%.300s; %llu databases were renamed before, so the next is begun at %s, "
			  "or when branchd is restarted; until then new windows wait in memory",
			  why.text, (unsigned long long)store->n_moved, text);
		memcpy(store->damage, fault->text, sizeof(store->damage));
	}
	memcpy(fault->text, store->damage, sizeof(fault->text));
}

int store_heal(struct store *store, int r, struct fault *fault)
{
	if (r != -EBADMSG || !store_is_file(store) || store_is_read_only(store))
		return 0;
	store_close_removed(store);
	if (store->lock_fd < 0) { /* it is not the one at the path that is damaged */
		r = open_database(store, fault);
	} else {
		if (store->clock() < store_due_us(store)) {
			describe_damage(store, fault);
			return 0;
		}
		store_close_database(store);
		r = begin_anew(store, fault);
	}
	if (r < 0)
		return r;
	fault->text[0] = '\0';
	return 1;
}

static int want(struct store *store, struct fault *fault)
{
	int r, healed;

	if (store->database)
		return 0;
	r = open_database(store, fault);
	healed = store_heal(store, r, fault);
	return healed == 0 ? r : MIN(healed, 0);
}

bool store_is_read_only(const struct store *store)
{
	return store->unopened && store->database;
}

void store_open_to_read(struct store *store)
{
	struct fault fault;

	/* it is read without locks, as they may need a file that cannot be written */
	if (!store_is_file(store) || store->unopened == -EBUSY ||
	    store_file_open_to_read(&store->database, store->path, &fault) < 0)
		return;
	note_file(store);
	if (prepare(store) < 0)
		store_close_database(store);
}

int store_want_to_read(struct store *store, struct fault *fault)
{
	return store->database ? 0 : store_want_database(store, fault);
}

int store_want_database(struct store *store, struct fault *fault)
{
	if (!store->unopened)
		return want(store, fault);
	/* converting one may take long, and end in a full disk each time */
	*fault = store->why_unopened;
	return store->unopened;
}

/* Whether opening it for writing is refused as it was: then it stays open to be read. */
static bool is_still_refused(const struct store *store)
{
	return access(store->path, W_OK) < 0 && errno == -store->unopened;
}

int store_try_database(struct store *store, struct fault *fault)
{
	int r;

	if (store_is_read_only(store)) {
		if (is_still_refused(store))
			return store_want_database(store, fault);
		store_close_database(store);
	}
	r = want(store, fault);
	if (r < 0 && store->unopened) {
		store->unopened = r;
		store->why_unopened = *fault;
		store_open_to_read(store);
	}
	return r;
}

int store_open_own(struct store *store, struct database **ret, struct fault *fault)
{
	int r;

	if (!store_is_file(store))
		return 0;
	store_close_removed(store);
	if (store_is_read_only(store))
		return 0;
	r = store_want_database(store, fault);
	if (r >= 0)
		r = database_open(ret, store->path, fault);
	if (r < 0)
		return r;
	database_keep_log(*ret);
	return 1;
}
