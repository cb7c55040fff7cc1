/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Removing a window removes its counts. What it referred to is found later and without looking at
 * any counts, by "seen" (see schema.sql): rows below the horizon of the oldest window are not in
 * use. They are swept table by table, referrers before what they refer to, so that nothing ever
 * refers to a row that is not there.
 */
#include "daemon/retention/trim.h"

#include <stdbool.h>

#include "common/util/macro.h"

/* What is done at most each time: a few ms, or some ten while windows are pruned. */
#define MAX_WINDOWS  4
#define MAX_SMALL    512
#define MAX_PRUNED   16
#define MAX_ROWS     20000
#define MAX_STEPS    8
#define STEP_ROWS    "1023" /* looked at in a step, less one */
#define VACUUM_PAGES "256"

/* While there is room, a round is for this number of windows that have gone: it looks at all rows.
 */
#define ROUND_WINDOWS 360

/* Pages that are free are kept for the next windows, up to half of what is in use, and these. */
#define MIN_FREE_BYTES (4u << 20)

/* The part of the limit by which the file may be larger. */
#define SLACK 16

enum {
	N_PAGES,
	N_FREE_PAGES,
	PAGE_BYTES,
	OLDEST_WINDOW,
	OLDEST_UNMARKED,
	VACUUM,
	SWEEP_CODE,
	REMOVE_WINDOW,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[N_PAGES] = "PRAGMA page_count",
	[N_FREE_PAGES] = "PRAGMA freelist_count",
	[PAGE_BYTES] = "PRAGMA page_size",
	[OLDEST_WINDOW] = "SELECT id, horizon FROM window ORDER BY id LIMIT 1",
	[OLDEST_UNMARKED] = "SELECT id FROM window w WHERE NOT EXISTS (SELECT 1 FROM mark "
			    "WHERE w.id BETWEEN first AND last) ORDER BY id LIMIT 1",
	[VACUUM] = "PRAGMA incremental_vacuum(" VACUUM_PAGES ")",
	[SWEEP_CODE] = "DELETE FROM code WHERE function >= ? AND function < ? AND "
		       "(SELECT seen FROM function f WHERE f.id = code.function) < ?",
	[REMOVE_WINDOW] = "DELETE FROM window WHERE id = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_TRIM, "store-trim.h has another number");

static const enum interned_kind order[N_INTERNED_KINDS] = {
	INTERNED_SOURCE, INTERNED_PROCESS,  INTERNED_STACK,  INTERNED_STREAM,
	INTERNED_PLACE,  INTERNED_FUNCTION, INTERNED_OBJECT, INTERNED_STRING,
};

/* Where a step ends. */
#define SKIP(table)                                         \
	"SELECT id FROM " table " WHERE id > 0 AND id < ? " \
	"ORDER BY id DESC LIMIT 1 OFFSET " STEP_ROWS

static const char *const skip_sql[N_INTERNED_KINDS] = {
	[INTERNED_STRING] = SKIP("string"),     [INTERNED_SOURCE] = SKIP("source"),
	[INTERNED_PROCESS] = SKIP("process"),   [INTERNED_OBJECT] = SKIP("object"),
	[INTERNED_FUNCTION] = SKIP("function"), [INTERNED_PLACE] = SKIP("place"),
	[INTERNED_STACK] = SKIP("stack"),       [INTERNED_STREAM] = SKIP("stream"),
};

#define SWEEP(table) "DELETE FROM " table " WHERE id >= ? AND id < ? AND seen < ?"

static const char *const sweep_sql[N_INTERNED_KINDS] = {
	[INTERNED_STRING] = SWEEP("string"),     [INTERNED_SOURCE] = SWEEP("source"),
	[INTERNED_PROCESS] = SWEEP("process"),   [INTERNED_OBJECT] = SWEEP("object"),
	[INTERNED_FUNCTION] = SWEEP("function"), [INTERNED_PLACE] = SWEEP("place"),
	[INTERNED_STACK] = SWEEP("stack"),       [INTERNED_STREAM] = SWEEP("stream"),
};

int store_trim_init(struct store_trim *trim, struct database *database,
		    const struct store_trim_modules *modules)
{
	int r;

	*trim = (struct store_trim){ .database = database, .modules = *modules };
	store_trim_forget(trim);
	r = database_prepare(database, sql, N_STATEMENTS, trim->statements);
	if (r >= 0)
		r = database_prepare(database, skip_sql, N_INTERNED_KINDS, trim->skip);
	if (r >= 0)
		r = database_prepare(database, sweep_sql, N_INTERNED_KINDS, trim->sweep);
	return r;
}

/* Then there is no round under way, and none has been; nor is anything known of shares. */
void store_trim_forget(struct store_trim *trim)
{
	trim->horizon = 0;
	trim->step = N_INTERNED_KINDS;
	trim->used_bytes = UINT64_MAX;
	store_share_forget(trim->modules.share);
	store_renew_forget(trim->modules.renew);
	trim->modules.reduce->pruned = (struct store_reclaim_range){ 0 };
}

int store_trim_measure(struct store_trim *trim, struct store_trim_size *ret)
{
	int64_t n_pages = 0, n_free = 0, page_bytes = 0;
	int r;

	r = statement_first(trim->statements[N_PAGES], &n_pages, 1);
	if (r >= 0)
		r = statement_first(trim->statements[N_FREE_PAGES], &n_free, 1);
	if (r >= 0)
		r = statement_first(trim->statements[PAGE_BYTES], &page_bytes, 1);
	if (r >= 0)
		*ret = (struct store_trim_size){ (uint64_t)(n_pages * page_bytes),
						 (uint64_t)((n_pages - n_free) * page_bytes) };
	return MIN(r, 0);
}

/* 1: there may be more to do in this round. */
static int sweep_step(struct store_trim *trim)
{
	enum interned_kind kind = order[trim->step];
	struct statement *skip = trim->skip[kind], *sweep = trim->sweep[kind];
	int64_t from = 1;
	int r, q;

	statement_bind_int(skip, 1, trim->below);
	r = statement_step(skip);
	if (r > 0) {
		from = statement_int(skip, 0);
		q = statement_reset(skip);
		r = q < 0 ? q : r;
	}
	if (r < 0)
		return r;
	STATEMENT_BIND(trim->statements[SWEEP_CODE], from, trim->below, trim->horizon);
	STATEMENT_BIND(sweep, from, trim->below, trim->horizon);
	q = kind == INTERNED_FUNCTION ? statement_run(trim->statements[SWEEP_CODE]) : 0;
	if (q >= 0)
		q = statement_run(sweep);
	if (q < 0)
		return q;
	trim->below = from;
	if (r == 0) {
		trim->step++;
		trim->below = INT64_MAX;
	}
	return trim->step < N_INTERNED_KINDS;
}

/* Begins a round where @n_windows have gone since the last one. 1: there may be more to do in it.
 */
static int sweep(struct store_trim *trim, uint64_t n_windows)
{
	int64_t oldest[2] = { 0 }, horizon; /* its id, and its horizon */
	int r = 1;

	if (trim->step == N_INTERNED_KINDS) {
		r = store_renew_step(trim->modules.renew, n_windows);
		if (r != 0)
			return r;
		r = statement_first(trim->statements[OLDEST_WINDOW], oldest, 2);
		horizon = oldest[1];
		if (r <= 0 || horizon <= trim->horizon || /* a round would find nothing */
		    (uint64_t)horizon - (uint64_t)trim->horizon < n_windows)
			return MIN(r, 0);
		trim->horizon = horizon;
		trim->step = 0;
		trim->below = INT64_MAX;
	}
	for (int i = 0; r > 0 && i < MAX_STEPS; i++)
		r = sweep_step(trim);
	return r;
}

int store_trim_remove(struct store_trim *trim, int64_t id)
{
	int r;

	r = store_reduce_clear(trim->modules.reduce, id);
	if (r >= 0)
		r = store_share_remove(trim->modules.share, id);
	if (r >= 0)
		r = store_first_ids_remove(trim->modules.first_ids, id);
	if (r < 0)
		return r;
	STATEMENT_BIND(trim->statements[REMOVE_WINDOW], id);
	return statement_run(trim->statements[REMOVE_WINDOW]);
}

static int reclaim(struct store_trim *trim, int64_t newest, bool all, struct store_trim_size *size)
{
	int r;

	r = store_reclaim_run(trim->modules.reclaim, &trim->modules.reduce->pruned, newest, all);
	if (all)
		store_intern_forget(trim->modules.intern);
	else
		store_intern_note_removed(trim->modules.intern);
	return r < 0 ? r : store_trim_measure(trim, size);
}

/*
 * Prunes what users have who are over their share, until no more than @low bytes are in use. 1:
 * there is more to prune; 0; or -errno.
 */
static int prune(struct store_trim *trim, uint64_t low, int64_t newest,
		 struct store_trim_size *size)
{
	uint64_t n_rows = 0;
	int r = 1, q;

	for (int i = 0; r > 0 && size->used_bytes > low; i++) {
		if (i == MAX_PRUNED || n_rows >= MAX_ROWS)
			break;
		r = store_reduce_next(trim->modules.reduce, trim->floor, newest, &n_rows);
		q = r < 0 ? r : store_trim_measure(trim, size);
		if (q < 0)
			return q;
	}
	q = r < 0 || size->used_bytes <= low ? 0 : reclaim(trim, newest, false, size);
	if (q >= 0 && size->used_bytes > low + (low / SLACK))
		q = reclaim(trim, newest, true, size);
	return q < 0 ? q : r;
}

/* Removes whole windows until no more than @max_bytes are in use: few, but as many as it takes to
 * make up for the newest. */
static int remove_oldest(struct store_trim *trim, uint64_t max_bytes, int64_t newest,
			 struct store_trim_size *size, uint64_t *n_removed)
{
	int64_t oldest;
	int r = 0;

	while (r >= 0 && size->used_bytes > max_bytes &&
	       *n_removed < (size->used_bytes > trim->used_bytes ? MAX_SMALL : MAX_WINDOWS)) {
		r = statement_first(trim->statements[OLDEST_UNMARKED], &oldest, 1);
		if (r <= 0 || oldest == newest)
			break;
		r = store_trim_remove(trim, oldest);
		++*n_removed;
		if (r >= 0)
			r = store_trim_measure(trim, size);
	}
	return r;
}

int store_trim(struct store_trim *trim, uint64_t max_bytes, int64_t newest, uint64_t *ret_n_removed)
{
	uint64_t n_removed = 0, slack = max_bytes / SLACK;
	struct store_trim_size size = { 0, 0 };
	int r;

	r = store_trim_measure(trim, &size);
	if (r >= 0 && size.used_bytes > max_bytes - slack) {
		r = sweep(trim, 1);
		if (r >= 0)
			r = store_trim_measure(trim, &size);
		if (r >= 0)
			r = prune(trim, max_bytes - slack, newest, &size);
		/* what is left to prune may take some windows more */
		if (r >= 0)
			r = remove_oldest(trim, max_bytes + (r > 0 ? slack : 0), newest, &size,
					  &n_removed);
	}
	trim->used_bytes = size.used_bytes;
	trim->crowded = size.used_bytes > max_bytes / 4 * 3;
	/* free pages are what the next windows are written to: only those of a lower limit go */
	if (r >= 0 && size.bytes > max_bytes + slack && size.bytes > size.used_bytes)
		r = statement_run(trim->statements[VACUUM]);
	if (r < 0)
		return r;
	*ret_n_removed = n_removed;
	return 0;
}

int store_trim_sweep(struct store_trim *trim)
{
	return sweep(trim, 1);
}

int store_trim_shrink(struct store_trim *trim)
{
	return statement_run(trim->statements[VACUUM]);
}

int store_trim_idle(struct store_trim *trim)
{
	struct store_trim_size before, after;
	int r;

	r = sweep(trim, ROUND_WINDOWS);
	if (r == 0)
		r = store_trim_measure(trim, &before);
	if (r != 0)
		return r;
	if (before.bytes - before.used_bytes <=
	    MAX(before.used_bytes / 2, (uint64_t)MIN_FREE_BYTES))
		return 0;
	r = statement_run(trim->statements[VACUUM]);
	if (r >= 0)
		r = store_trim_measure(trim, &after);
	return r < 0 ? r : after.bytes < before.bytes;
}
