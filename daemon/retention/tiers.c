/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/tiers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* Windows that are looked at in a step, at most. */
#define MAX_SEEN 1000

/* Windows with more rows than this together are not merged at once, but two; and two with more than
 * the second not at all. */
#define MAX_ROWS      (1u << 16)
#define MAX_PAIR_ROWS (1u << 19)

/* The part of a slot that may lie between two windows. */
#define MAX_GAP 8

enum {
	NOW,
	NEWEST,
	OLDEST,
	NEXT_WINDOWS,
	HORIZON,
	UPDATE_WINDOW,
	NEWEST_OF,
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
	[NEWEST_OF] = "SELECT max(max(id, newest)) FROM window WHERE id BETWEEN ? AND ?",
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

/* The rows of a window, or more than can be merged where that is not known; or -errno. */
static int64_t count_rows(struct store_tiering *tiering, int64_t id)
{
	uint64_t n;
	int r = store_share_count(tiering->modules.share, id, &n);

	return r < 0 ? r : r > 0 ? (int64_t)MIN(n, MAX_PAIR_ROWS + 1ull) : MAX_PAIR_ROWS + 1;
}

static struct candidate read_candidate(struct store_tiering *tiering, struct statement *row,
				       int64_t slot_us)
{
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
	return window;
}

/* The windows from @first on are looked at again. */
static void begin_run(struct store_merge *merge, const struct candidate *first, int64_t n_rows)
{
	merge->windows[0] = (struct window){ .id = first->id };
	merge->n = 1;
	merge->n_rows = (uint64_t)n_rows;
}

/* Whether @window, which has @n_rows, was added to the run of those before it. */
static bool extend_run(struct store_merge *merge, const struct candidate *before,
		       const struct candidate *window, int64_t n_rows, int64_t slot_us)
{
	uint64_t max_rows = merge->n == 1 ? MAX_PAIR_ROWS : MAX_ROWS;

	if (merge->n == 0 || merge->n == STORE_MAX_MERGED || !are_alike(before, window, slot_us) ||
	    merge->n_rows + (uint64_t)n_rows > max_rows)
		return false;
	merge->windows[merge->n++] = (struct window){ .id = window->id };
	merge->n_rows += (uint64_t)n_rows;
	return true;
}

/* Looks for the next run among the windows of slots that end before @until_us. 1; 0: there is
 * none; 2: none among those that were looked at; -errno. */
static int find_run(struct store_tiering *tiering, int64_t slot_us, int64_t until_us,
		    struct store_merge *merge)
{
	struct statement *row = tiering->statements[NEXT_WINDOWS];
	int64_t *passed = &tiering->passed[merge->tier], n = 0, n_rows = 0;
	struct candidate before = { 0 };
	int r;

	merge->n = 0;
	STATEMENT_BIND(row, *passed, MAX_SEEN);
	while ((r = statement_step(row)) > 0) {
		struct candidate window = read_candidate(tiering, row, slot_us);

		n++;
		if (window.slot >= until_us / slot_us)
			break;
		n_rows = count_rows(tiering, window.id);
		if (n_rows < 0)
			break;
		if (!extend_run(merge, &before, &window, n_rows, slot_us)) {
			if (merge->n > 1)
				break;
			*passed = before.id > 0 ? before.id : *passed;
			begin_run(merge, &window, n_rows);
		}
		before = window;
	}
	if (r > 0)
		r = statement_reset(row);
	if (r < 0 || n_rows < 0)
		return (int)MIN((int64_t)r, n_rows);
	if (merge->n > 1)
		return 1;
	return n == MAX_SEEN ? 2 : 0;
}

/* Up to which window the rows came that these windows refer to. 1, 0 if there are none, or -errno.
 */
static int find_newest_of(struct store_tiering *tiering, const struct store_merge *merge,
			  int64_t *ret)
{
	STATEMENT_BIND(tiering->statements[NEWEST_OF], merge->windows[0].id,
		       merge->windows[merge->n - 1].id);
	return statement_first(tiering->statements[NEWEST_OF], ret, 1);
}

/* The span and the counts of the sum of @merge, which has the id of the first. */
static struct window add_up(const struct store_merge *merge)
{
	struct window sum = merge->windows[0];
	uint64_t end_us = sum.start_us + sum.length_us;

	for (size_t i = 1; i < merge->n; i++) {
		const struct window *window = &merge->windows[i];

		sum.start_us = MIN(sum.start_us, window->start_us);
		end_us = MAX(end_us, window->start_us + window->length_us);
		sum.samples += window->samples;
		sum.lost += window->lost;
	}
	sum.length_us = end_us - sum.start_us;
	return sum;
}

/* The horizon of the window, and the newest one: when rows that its sum lacks are added. */
static int ask_times(struct store_tiering *tiering, int64_t id, int64_t *horizon, int64_t *newest)
{
	int r;

	STATEMENT_BIND(tiering->statements[HORIZON], id);
	r = statement_first(tiering->statements[HORIZON], horizon, 1);
	return r < 0 ? r : statement_first(tiering->statements[NEWEST], newest, 1);
}

int store_tiering_look_up(struct store_tiering *tiering, const struct store_merge *merge)
{
	int64_t horizon = 0, newest = 0;
	int r = ask_times(tiering, merge->windows[0].id, &horizon, &newest);

	if (r >= 0)
		r = store_first_ids_begin_sum(tiering->modules.first_ids);
	return r < 0 ? r :
		       store_write_look_up_sum(tiering->modules.write, newest, horizon, merge->sum);
}

static int write_sum(struct store_tiering *tiering, const struct window *window,
		     const struct profile *sum, int64_t newest_of_parts)
{
	const struct store_tiering_modules *modules = &tiering->modules;
	struct statement *update = tiering->statements[UPDATE_WINDOW];
	int64_t horizon = 0, newest = 0;
	int r = ask_times(tiering, window->id, &horizon, &newest);

	STATEMENT_BIND(update, (int64_t)window->start_us, (int64_t)window->length_us,
		       (int64_t)window->samples, (int64_t)window->lost, (int64_t)sum->info.start_ns,
		       (int64_t)sum->info.end_ns, window->id);
	if (r >= 0)
		r = statement_run(update);
	if (r >= 0)
		r = store_first_ids_begin_sum(modules->first_ids);
	if (r >= 0)
		r = store_write_sum(modules->write, window->id, newest, horizon, sum);
	if (r >= 0)
		r = store_first_ids_note_newest(modules->first_ids, modules->intern, window->id,
						newest_of_parts);
	if (r >= 0)
		r = store_share_add(modules->share, window->id, sum);
	store_share_return(modules->share, window->id);
	return r;
}

/* The sum replaces the first window; the others go. */
int store_tiering_replace(struct store_tiering *tiering, const struct store_merge *merge,
			  struct store_tiering_step *ret)
{
	const struct store_tiering_modules *modules = &tiering->modules;
	const struct window window = add_up(merge);
	int64_t newest = 0;
	int r = find_newest_of(tiering, merge, &newest);

	for (size_t i = 1; r >= 0 && i < merge->n; i++)
		r = store_trim_remove(modules->trim, merge->windows[i].id);
	if (r >= 0)
		r = store_reduce_clear(modules->reduce, window.id);
	if (r >= 0)
		r = store_share_remove(modules->share, window.id);
	if (r >= 0)
		r = write_sum(tiering, &window, merge->sum, newest);
	for (size_t i = 0; i < merge->n; i++)
		store_reclaim_note(&tiering->merged[merge->tier], merge->windows[i].id);
	*ret = (struct store_tiering_step){ .n_merged = merge->n - 1,
					    .length_us = window.length_us };
	return r;
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
	int r = statement_first(tiering->statements[OLDEST], oldest, 2);

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

/* When the newest windows end: 1; 0 if there are none, or it cannot be; or -errno. */
static int find_now(struct store_tiering *tiering, int64_t *ret)
{
	int r = statement_first(tiering->statements[NOW], ret, 1);

	return r <= 0 ? r : *ret >= 0 && *ret < INT64_MAX / 2;
}

int store_tiering_find(struct store_tiering *tiering, const struct store_settings *settings,
		       struct store_merge *ret)
{
	const struct store_tiers *tiers = &settings->tiers;
	int64_t now_us = 0;
	int r = find_now(tiering, &now_us);

	if (r <= 0)
		return r;
	for (size_t i = 0; i + 1 < tiers->n; i++) {
		ret->tier = i;
		r = find_run(tiering, (int64_t)tiers->rows[i + 1].length_us,
			     now_us - (int64_t)tiers->rows[i].keep_us, ret);
		if (r != 0)
			return r;
	}
	return 0;
}

int store_tiering_clean(struct store_tiering *tiering, const struct store_settings *settings,
			struct store_tiering_step *ret)
{
	int64_t now_us = 0;
	int r = find_now(tiering, &now_us);

	*ret = (struct store_tiering_step){ 0 };
	if (r <= 0)
		return r;
	r = reclaim(tiering);
	if (r != 0)
		return r;
	r = keep_us(settings) > 0 ? remove_old(tiering, now_us - (int64_t)keep_us(settings), ret) :
				    0;
	return r != 0 ? r : store_trim_idle(tiering->modules.trim);
}
