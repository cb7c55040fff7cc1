/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows that were added with window A or later, and have "seen" <= B, can be in use only by windows
 * from A on whose horizon is not above B: few. What these windows' counts refer to is marked, and
 * then, from the largest ids down, what the marked stacks and streams refer to. The rest goes.
 */
#include "daemon/retention/reclaim.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* Windows that are reclaimed at once, at most. */
#define MAX_WINDOWS 64

/* Ids of one kind that are looked at: more are left to the sweep. */
#define MAX_IDS (1 << 24)

enum kind { PLACE, STACK, STREAM, N_KINDS };

enum {
	ADD_FIRST,
	FIRST_ROW,
	LAST_ROW,
	HORIZON,
	NEXT_WINDOW,
	REFERRERS,
	READ_STACKS,
	READ_STREAMS,
	READ_BRANCHES,
	READ_BLOCKS,
	LIST_STACKS,
	LIST_STREAMS,
	LIST_PLACES,
	REMOVE, /* with the next two */
	N_STATEMENTS = REMOVE + N_KINDS,
};

#define LAST_IDS                                                                           \
	"ifnull((SELECT max(id) FROM place), 0), ifnull((SELECT max(id) FROM stack), 0), " \
	"ifnull((SELECT max(id) FROM stream), 0)"

static const char *const sql[N_STATEMENTS] = {
	[ADD_FIRST] = "INSERT INTO window_first (window, place, stack, stream) "
		      "SELECT ?, " LAST_IDS,
	[LAST_ROW] = "SELECT " LAST_IDS,
	[FIRST_ROW] = "SELECT place, stack, stream FROM window_first WHERE window >= ? "
		      "ORDER BY window LIMIT 1",
	[HORIZON] = "SELECT horizon FROM window WHERE id = ?",
	[NEXT_WINDOW] = "SELECT id FROM window WHERE id > ? AND horizon > ? ORDER BY id LIMIT 1",
	/* no window follows at once upon a sum of windows (tiers.h), which may refer to newer rows
	 */
	[REFERRERS] = "SELECT id FROM window w WHERE (id >= ? OR NOT EXISTS "
		      "(SELECT 1 FROM window n WHERE n.id = w.id + 1)) AND id < ?",
	[READ_STACKS] = "SELECT caller, place FROM stack_count WHERE window = ?",
	[READ_STREAMS] = "SELECT stream FROM stream_count WHERE window = ?",
	[READ_BRANCHES] = "SELECT origin, target FROM branch_count WHERE window = ?",
	[READ_BLOCKS] = "SELECT first, last FROM block_count WHERE window = ?",
	[LIST_STACKS] = "SELECT id, seen, parent, place FROM stack WHERE id > ? AND id <= ? "
			"ORDER BY id DESC",
	[LIST_STREAMS] = "SELECT id, seen, parent, origin, target FROM stream "
			 "WHERE id > ? AND id <= ? ORDER BY id DESC",
	[LIST_PLACES] = "SELECT id, seen FROM place WHERE id > ? AND id <= ? ORDER BY id DESC",
	[REMOVE + PLACE] = "DELETE FROM place WHERE id >= ? AND id <= ?",
	[REMOVE + STACK] = "DELETE FROM stack WHERE id >= ? AND id <= ?",
	[REMOVE + STREAM] = "DELETE FROM stream WHERE id >= ? AND id <= ?",
};

/* Ids behind @after up to @last, and which are in use. */
struct marks {
	int64_t after, last;
	uint8_t *used;
};

struct reclaiming {
	struct store_reclaim *reclaim;
	int64_t from, to, end; /* windows pruned, and the first that cannot refer to their rows */
	struct marks marks[N_KINDS];
};

static void reclaiming_done(struct reclaiming *r)
{
	for (size_t i = 0; i < N_KINDS; i++)
		free(r->marks[i].used);
}

int store_reclaim_init(struct store_reclaim *reclaim, struct database *database)
{
	*reclaim = (struct store_reclaim){ .database = database };
	store_reclaim_forget(reclaim);
	return database_prepare(database, sql, N_STATEMENTS, reclaim->statements);
}

_Static_assert(N_STATEMENTS == N_STORE_RECLAIM, "reclaim.h has another number");

void store_reclaim_forget(struct store_reclaim *reclaim)
{
	reclaim->from = INT64_MAX;
	reclaim->to = 0;
}

int store_reclaim_begin_window(struct store_reclaim *reclaim, int64_t window)
{
	STATEMENT_BIND(reclaim->statements[ADD_FIRST], window);
	return statement_run(reclaim->statements[ADD_FIRST]);
}

void store_reclaim_note(struct store_reclaim *reclaim, int64_t window)
{
	reclaim->from = MIN(reclaim->from, window);
	reclaim->to = MAX(reclaim->to, window);
}

static bool is_marked(const struct marks *marks, int64_t id)
{
	int64_t bit = id - marks->after - 1;

	return marks->used[bit / 8] >> (bit % 8) & 1;
}

static void mark(struct marks *marks, int64_t id)
{
	int64_t bit = id - marks->after - 1;

	if (id > marks->after && id <= marks->last)
		marks->used[bit / 8] |= (uint8_t)(1 << (bit % 8));
}

/* Reads one row of numbers: 1, 0 if there is none, or -errno. */
static int ask(struct statement *row, int64_t *ret, int n)
{
	int r = statement_step(row);

	if (r <= 0)
		return r;
	for (int i = 0; i < n; i++)
		ret[i] = statement_int(row, i);
	r = statement_reset(row);
	return r < 0 ? r : 1;
}

/* The ids that rows added from window @from on have, up to those of before window @end. */
static int find_ids(struct reclaiming *reclaiming)
{
	struct statement *row = reclaiming->reclaim->statements[FIRST_ROW];
	int64_t first[N_KINDS], last[N_KINDS];
	int r;

	STATEMENT_BIND(row, reclaiming->from);
	r = ask(row, first, N_KINDS);
	if (r <= 0)
		return r;
	STATEMENT_BIND(row, reclaiming->end);
	r = ask(row, last, N_KINDS);
	if (r == 0)
		r = ask(reclaiming->reclaim->statements[LAST_ROW], last, N_KINDS);
	for (size_t i = 0; r > 0 && i < N_KINDS; i++) {
		struct marks *marks = &reclaiming->marks[i];

		marks->after = first[i];
		marks->last = MAX(first[i], last[i]); /* the largest may have gone meanwhile */
		if (first[i] < 0 || marks->last == INT64_MAX || marks->last - first[i] > MAX_IDS)
			return 0; /* a damaged database */
		marks->used = calloc((size_t)(marks->last - first[i]) / 8 + 1, 1);
		if (!marks->used)
			return -ENOMEM;
	}
	return r;
}

/* Marks what the counts of a window refer to in two columns, or in one. */
static int mark_counts(struct reclaiming *reclaiming, int which, int64_t window,
		       struct marks *first, struct marks *second)
{
	struct statement *row = reclaiming->reclaim->statements[which];
	int r;

	STATEMENT_BIND(row, window);
	while ((r = statement_step(row)) > 0) {
		mark(first, statement_int(row, 0));
		if (second)
			mark(second, statement_int(row, 1));
	}
	return r;
}

static int mark_window(struct reclaiming *reclaiming, int64_t window)
{
	struct marks *marks = reclaiming->marks;
	int r;

	r = mark_counts(reclaiming, READ_STACKS, window, &marks[STACK], &marks[PLACE]);
	if (r >= 0)
		r = mark_counts(reclaiming, READ_STREAMS, window, &marks[STREAM], NULL);
	if (r >= 0)
		r = mark_counts(reclaiming, READ_BRANCHES, window, &marks[PLACE], &marks[PLACE]);
	if (r >= 0)
		r = mark_counts(reclaiming, READ_BLOCKS, window, &marks[PLACE], &marks[PLACE]);
	return r;
}

static int mark_windows(struct reclaiming *reclaiming)
{
	struct statement *row = reclaiming->reclaim->statements[REFERRERS];
	int r;

	STATEMENT_BIND(row, reclaiming->from, reclaiming->end);
	while ((r = statement_step(row)) > 0) {
		r = mark_window(reclaiming, statement_int(row, 0));
		if (r < 0) {
			statement_reset(row);
			return r;
		}
	}
	return r;
}

/* From the largest id down: a row in use uses its parent, which has a smaller one, and its
 * @n_places places. Newer windows may use what was seen since. */
static int mark_used(struct reclaiming *reclaiming, int which, enum kind kind, int n_places)
{
	struct statement *row = reclaiming->reclaim->statements[which];
	struct marks *marks = &reclaiming->marks[kind];
	int r;

	STATEMENT_BIND(row, marks->after, marks->last);
	while ((r = statement_step(row)) > 0) {
		int64_t id = statement_int(row, 0);

		if (statement_int(row, 1) > reclaiming->to)
			mark(marks, id);
		if (!is_marked(marks, id) || kind == PLACE)
			continue;
		mark(marks, statement_int(row, 2));
		for (int i = 0; i < n_places; i++)
			mark(&reclaiming->marks[PLACE], statement_int(row, 3 + i));
	}
	return r;
}

static int remove_unused(struct reclaiming *reclaiming, enum kind kind)
{
	struct statement *remove = reclaiming->reclaim->statements[REMOVE + (int)kind];
	const struct marks *marks = &reclaiming->marks[kind];
	int r = 0;

	for (int64_t id = marks->after + 1; r >= 0 && id <= marks->last; id++) {
		int64_t first = id;

		while (id <= marks->last && !is_marked(marks, id))
			id++;
		if (id == first)
			continue;
		STATEMENT_BIND(remove, first, id - 1);
		r = statement_run(remove);
	}
	return r;
}

static int run(struct reclaiming *reclaiming)
{
	int r;

	r = find_ids(reclaiming);
	if (r <= 0)
		return r;
	r = mark_windows(reclaiming);
	if (r >= 0)
		r = mark_used(reclaiming, LIST_STACKS, STACK, 1);
	if (r >= 0)
		r = mark_used(reclaiming, LIST_STREAMS, STREAM, 2);
	if (r >= 0)
		r = mark_used(reclaiming, LIST_PLACES, PLACE, 0);
	if (r >= 0)
		r = remove_unused(reclaiming, STACK);
	if (r >= 0)
		r = remove_unused(reclaiming, STREAM);
	return r < 0 ? r : remove_unused(reclaiming, PLACE);
}

int store_reclaim_run(struct store_reclaim *reclaim, int64_t newest, bool all)
{
	_cleanup_(reclaiming_done) struct reclaiming reclaiming = { .reclaim = reclaim };
	int64_t horizon = 0;
	int r;

	STATEMENT_BIND(reclaim->statements[HORIZON], newest);
	r = ask(reclaim->statements[HORIZON], &horizon, 1);
	if (r <= 0)
		return r;
	reclaiming.from = reclaim->from;
	reclaiming.to = MIN(reclaim->to, all ? newest - 1 : horizon - 1);
	if (reclaiming.from > reclaiming.to)
		return 0;
	reclaiming.to = MIN(reclaiming.to, reclaiming.from + MAX_WINDOWS - 1);
	STATEMENT_BIND(reclaim->statements[NEXT_WINDOW], reclaiming.to, reclaiming.to);
	r = ask(reclaim->statements[NEXT_WINDOW], &reclaiming.end, 1);
	if (r == 0)
		reclaiming.end = newest + 1;
	if (r >= 0)
		r = run(&reclaiming);
	if (r < 0)
		return r;
	reclaim->from = reclaiming.to + 1;
	if (reclaim->from > reclaim->to)
		store_reclaim_forget(reclaim);
	return 0;
}
