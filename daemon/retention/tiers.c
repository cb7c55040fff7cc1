/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/tiers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/profile/limit.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* Windows that are looked at in a step, at most. */
#define MAX_SEEN 1000

/* Two windows with more rows than this stay as they are: to merge them takes too long. */
#define MAX_ROWS (1u << 17)

/* The part of a slot that may lie between two windows. */
#define MAX_GAP 8

enum {
	NOW,
	NEWEST,
	OLDEST,
	NEXT_WINDOWS,
	HORIZON,
	UPDATE_WINDOW,
	FIND_NEWEST,
	SET_NEWEST,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	/* of some windows: the clock may have been wrong for a moment */
	[NOW] = "SELECT min(e) FROM (SELECT start_us + length_us AS e FROM window "
		"ORDER BY id DESC LIMIT 30)",
	[NEWEST] = "SELECT id FROM window ORDER BY id DESC LIMIT 1",
	[OLDEST] = "SELECT id, start_us + length_us FROM window w WHERE NOT EXISTS (SELECT 1 "
		   "FROM mark WHERE w.id BETWEEN first AND last) ORDER BY id LIMIT 1",
	[NEXT_WINDOWS] = "SELECT id, start_us, start_us + length_us, source, mode FROM window "
			 "WHERE id > ? ORDER BY id LIMIT ?",
	[HORIZON] = "SELECT horizon FROM window WHERE id = ?",
	[UPDATE_WINDOW] = "UPDATE window SET start_us = ?, length_us = ?, samples = ?, lost = ?, "
			  "first_ns = ?, last_ns = ? WHERE id = ?",
	/* the window with which the last row came that the sum refers to */
	[FIND_NEWEST] = "SELECT ifnull(max(window), 0) FROM window_first WHERE object < ? OR "
			"function < ? OR place < ? OR stack < ? OR stream < ?",
	[SET_NEWEST] = "UPDATE window SET newest = ? WHERE id = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_TIERING, "tiers.h has another number");

int store_tiering_init(struct store_tiering *tiering, struct database *database,
		       const struct store_tiering_modules *modules)
{
	*tiering = (struct store_tiering){ .database = database, .modules = *modules };
	return database_prepare(database, sql, N_STATEMENTS, tiering->statements);
}

void store_tiering_forget(struct store_tiering *tiering)
{
	memset(tiering->passed, 0, sizeof(tiering->passed));
	memset(tiering->merged, 0, sizeof(tiering->merged));
}

/* The first @n columns of the only row: 1, 0 if there is none, or -errno. */
static int ask(struct store_tiering *tiering, int which, int64_t *ret, int n)
{
	struct statement *row = tiering->statements[which];
	int r = statement_step(row);

	if (r <= 0)
		return r;
	for (int i = 0; i < n; i++)
		ret[i] = statement_int(row, i);
	r = statement_reset(row);
	return r < 0 ? r : 1;
}

/* Two neighbours to be merged. */
struct pair {
	int64_t first, second;
};

/* A window that is looked at, and the one before it. */
struct candidate {
	int64_t id, start_us, end_us, slot, source;
	bool marked;
	char mode[32];
};

/* A database may have any numbers: the times of such a window can be added and subtracted. */
static bool has_times(const struct candidate *c)
{
	return c->start_us >= 0 && c->end_us >= c->start_us && c->end_us < INT64_MAX / 2;
}

/* Nor are windows merged between which nothing was sampled for long, or the clock was set. */
static bool are_alike(const struct candidate *a, const struct candidate *b, int64_t slot_us)
{
	int64_t gap_us = slot_us / MAX_GAP;

	return a->id > 0 && !a->marked && !b->marked && has_times(a) && has_times(b) &&
	       a->slot == b->slot && a->source == b->source && b->start_us >= a->end_us - gap_us &&
	       b->start_us <= a->end_us + gap_us && strcmp(a->mode, b->mode) == 0;
}

/* What two windows have in rows: whether merging them is a small piece of work; or -errno. */
static int is_small(struct store_tiering *tiering, const struct pair *pair)
{
	uint64_t first, second;
	int r;

	r = store_share_count(tiering->modules.share, pair->first, &first);
	if (r > 0)
		r = store_share_count(tiering->modules.share, pair->second, &second);
	return r <= 0 ? r : first + second <= MAX_ROWS;
}

/* Looks for the next pair among the windows of slots that end before @until_us. 1; 0: there is
 * none; 2: none among those that were looked at; -errno. */
static int find_pair(struct store_tiering *tiering, int64_t slot_us, int64_t until_us,
		     int64_t *passed, struct pair *ret)
{
	struct statement *row = tiering->statements[NEXT_WINDOWS];
	struct candidate before = { 0 };
	int64_t n = 0;
	int r, q = 0;

	STATEMENT_BIND(row, *passed, MAX_SEEN);
	while ((r = statement_step(row)) > 0) {
		struct candidate window = {
			.id = statement_int(row, 0),
			.start_us = statement_int(row, 1),
			.end_us = statement_int(row, 2),
			.slot = statement_int(row, 1) / slot_us,
			.source = statement_int(row, 3),
			.marked = store_marks_have(tiering->modules.marks, statement_int(row, 0)),
		};
		const char *mode = statement_text(row, 4) ?: "";

		memcpy(window.mode, mode, strnlen(mode, sizeof(window.mode) - 1));
		n++;
		if (window.slot >= until_us / slot_us)
			break;
		*ret = (struct pair){ before.id, window.id };
		q = are_alike(&before, &window, slot_us) ? is_small(tiering, ret) : 0;
		if (q != 0)
			break;
		*passed = before.id > 0 ? before.id : *passed;
		before = window;
	}
	if (r > 0)
		r = statement_reset(row);
	if (r < 0 || q < 0)
		return MIN(r, q);
	if (q > 0)
		return 1;
	return n == MAX_SEEN ? 2 : 0;
}

/* Notes up to which window the rows came that the sum refers to. */
static int note_newest(struct store_tiering *tiering, int64_t id)
{
	const int64_t *largest = tiering->modules.intern->largest;
	int64_t newest = 0;
	int r;

	STATEMENT_BIND(tiering->statements[FIND_NEWEST], largest[INTERNED_OBJECT],
		       largest[INTERNED_FUNCTION], largest[INTERNED_PLACE], largest[INTERNED_STACK],
		       largest[INTERNED_STREAM]);
	r = ask(tiering, FIND_NEWEST, &newest, 1);
	if (r < 0)
		return r;
	STATEMENT_BIND(tiering->statements[SET_NEWEST], newest, id);
	return statement_run(tiering->statements[SET_NEWEST]);
}

/* The sum replaces the first window; the second goes. */
static int replace(struct store_tiering *tiering, const struct window *windows,
		   const struct profile *sum)
{
	const struct window *a = &windows[0], *b = &windows[1];
	const struct store_tiering_modules *modules = &tiering->modules;
	struct statement *update = tiering->statements[UPDATE_WINDOW];
	uint64_t start = MIN(a->start_us, b->start_us);
	uint64_t end = MAX(a->start_us + a->length_us, b->start_us + b->length_us);
	int64_t horizon = 0, newest = 0;
	int r;

	STATEMENT_BIND(tiering->statements[HORIZON], a->id);
	r = ask(tiering, HORIZON, &horizon, 1);
	if (r >= 0)
		r = ask(tiering, NEWEST, &newest, 1);
	if (r >= 0)
		r = store_trim_remove(modules->trim, b->id);
	if (r >= 0)
		r = store_reduce_clear(modules->reduce, a->id);
	if (r >= 0)
		r = store_share_remove(modules->share, a->id);
	STATEMENT_BIND(update, (int64_t)start, (int64_t)(end - start),
		       (int64_t)(a->samples + b->samples), (int64_t)(a->lost + b->lost),
		       (int64_t)sum->info.start_ns, (int64_t)sum->info.end_ns, a->id);
	if (r >= 0)
		r = statement_run(update);
	if (r >= 0)
		r = store_write_sum(modules->write, a->id, newest, horizon, sum);
	if (r >= 0)
		r = note_newest(tiering, a->id);
	if (r >= 0)
		r = store_share_add(modules->share, a->id, sum);
	store_share_return(modules->share, a->id);
	return r;
}

/* Rare rows go: what they counted stays in the sums, see limit.h. 0 or -ENOMEM. */
static int limit_sum(struct profile *sum)
{
	bool has_branches = sum->n_streams + sum->n_branches + sum->n_blocks > 0;
	int r = profile_limit_all(sum, has_branches ? 2 * STORE_SUM_ROWS : STORE_SUM_ROWS);

	return r > 0 ? profile_finalize(sum) : r;
}

/* Of two windows of the tier @i. */
static int merge(struct store_tiering *tiering, size_t i, const struct pair *pair,
		 struct store_tiering_step *ret)
{
	_cleanup_(profile_freep) struct profile *sum = NULL;
	struct window windows[2] = { { .id = pair->first }, { .id = pair->second } };
	bool found[2] = { false, false };
	const struct store_batch batch = {
		.windows = windows,
		.found = found,
		.n = 2,
		.max_rows = SIZE_MAX,
		.is_gone = store_gone_ask,
		.userdata = tiering->modules.gone,
	};
	size_t n;
	int r;

	r = store_gone_begin(tiering->modules.gone, pair->second);
	if (r >= 0)
		r = store_read_windows(tiering->modules.read, &batch, &n, &sum);
	if (r < 0)
		return r;
	r = limit_sum(sum);
	if (r >= 0)
		r = replace(tiering, windows, sum);
	store_reclaim_note(&tiering->merged[i], pair->first);
	store_reclaim_note(&tiering->merged[i], pair->second);
	ret->n_merged = 1;
	ret->length_us = MAX(windows[0].start_us + windows[0].length_us,
			     windows[1].start_us + windows[1].length_us) -
			 MIN(windows[0].start_us, windows[1].start_us);
	return r < 0 ? r : 1;
}

/* For how long windows are kept, in any tier; 0: no limit. */
static uint64_t keep_us(const struct store_settings *settings)
{
	const struct store_tiers *tiers = &settings->tiers;
	uint64_t max_us = settings->max_retention_us;
	uint64_t last_us = tiers->n > 0 ? tiers->rows[tiers->n - 1].keep_us : 0;

	return max_us == 0 || last_us == 0 ? MAX(max_us, last_us) : MIN(max_us, last_us);
}

/* Removes the oldest window without a mark if its time is over: 1; 0; or -errno. */
static int remove_old(struct store_tiering *tiering, int64_t until_us,
		      struct store_tiering_step *ret)
{
	int64_t oldest[2] = { 0, 0 };
	int r = ask(tiering, OLDEST, oldest, 2);

	if (r <= 0 || oldest[1] > until_us)
		return r < 0 ? r : 0;
	ret->n_removed = 1;
	r = store_trim_remove(tiering->modules.trim, oldest[0]);
	return r < 0 ? r : 1;
}

/* What merged windows had: 1 after some of it was removed; 0; or -errno. */
static int reclaim(struct store_tiering *tiering)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < STORE_MAX_TIERS; i++)
		r = store_reclaim_merged(tiering->modules.reclaim, &tiering->merged[i]);
	if (r > 0)
		store_intern_note_removed(tiering->modules.intern);
	return r;
}

int store_tiering_work(struct store_tiering *tiering, const struct store_settings *settings,
		       struct store_tiering_step *ret)
{
	const struct store_tiers *tiers = &settings->tiers;
	int64_t now_us = 0;
	int r = ask(tiering, NOW, &now_us, 1);

	*ret = (struct store_tiering_step){ 0 };
	if (r <= 0 || now_us < 0 || now_us >= INT64_MAX / 2)
		return MIN(r, 0);
	for (size_t i = 0; i + 1 < tiers->n; i++) {
		struct pair pair;

		r = find_pair(tiering, (int64_t)tiers->rows[i + 1].length_us,
			      now_us - (int64_t)tiers->rows[i].keep_us, &tiering->passed[i], &pair);
		if (r == 1)
			return merge(tiering, i, &pair, ret);
		if (r != 0)
			return MIN(r, 1);
	}
	r = reclaim(tiering);
	if (r != 0)
		return r;
	r = keep_us(settings) > 0 ? remove_old(tiering, now_us - (int64_t)keep_us(settings), ret) :
				    0;
	return r != 0 ? r : store_trim_idle(tiering->modules.trim);
}
