/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows that were added with window A or later, and have "seen" <= B, can be in use only by windows
 * from A on whose horizon is not above B, and by sums of older windows (tiers.h) that added rows in
 * that time: few. What these windows' counts refer to is marked, and then, from the largest ids
 * down, what the marked rows refer to. The rest goes.
 *
 * Processes that have gone are for the sums of any time. They stay here, with their strings; the
 * sweep of trim.h removes them.
 */
#include "daemon/retention/reclaim.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* Windows that are reclaimed at once, at most; of those merged, fewer, as they have short-lived
 * processes. */
#define MAX_WINDOWS 64
#define MAX_MERGED  16

/* Ids of one kind that are looked at: more are left to the sweep. */
#define MAX_IDS (1 << 24)

enum {
	HORIZON,
	NEXT_WINDOW,
	NEXT_ID,
	REFERRERS,
	READ_STACKS,
	READ_STREAMS,
	READ_BRANCHES,
	READ_BLOCKS,
	READ_PROCESSES,
	READ_FUNCTIONS,
	READ_SOURCES,
	READ_GONE,
	FIND_STACK,
	FIND_STREAM,
	FIND_PLACE,
	REMOVE_CODE,
	LIST,                        /* of each kind */
	REMOVE = LIST + N_ROW_KINDS, /* of each kind */
	N_STATEMENTS = REMOVE + N_ROW_KINDS,
};

#define LIST_ROWS(table, columns) \
	"SELECT id, seen" columns " FROM " table " WHERE id > ? AND id <= ? ORDER BY id DESC"

static const char *const sql[N_STATEMENTS] = {
	[HORIZON] = "SELECT horizon FROM window WHERE id = ?",
	[NEXT_WINDOW] = "SELECT id FROM window WHERE id > ? AND horizon > ? ORDER BY id LIMIT 1",
	[NEXT_ID] = "SELECT id FROM window WHERE id > ? ORDER BY id LIMIT 1",
	[REFERRERS] = "SELECT id FROM window WHERE (id >= ?1 OR newest >= ?1) AND id < ?2",
	[READ_STACKS] = "SELECT caller, place FROM stack_count WHERE window = ?",
	[READ_STREAMS] = "SELECT stream FROM stream_count WHERE window = ?",
	[READ_BRANCHES] = "SELECT origin, target FROM branch_count WHERE window = ?",
	[READ_BLOCKS] = "SELECT first, last FROM block_count WHERE window = ?",
	[READ_PROCESSES] = "SELECT process FROM process_count WHERE window = ?",
	[READ_FUNCTIONS] = "SELECT function FROM outer_function WHERE window = ?",
	[READ_SOURCES] = "SELECT mode, event, hostname, os_release, cpu FROM source",
	[READ_GONE] = "SELECT comm, executable, unit FROM process WHERE pid = -1",
	[FIND_STACK] = "SELECT parent, place FROM stack WHERE id = ?",
	[FIND_STREAM] = "SELECT parent, origin, target FROM stream WHERE id = ?",
	[FIND_PLACE] = "SELECT object, function FROM place WHERE id = ?",
	[REMOVE_CODE] = "DELETE FROM code WHERE function >= ? AND function <= ?",
	[LIST + ROW_STACK] = LIST_ROWS("stack", ", parent, place"),
	[LIST + ROW_STREAM] = LIST_ROWS("stream", ", parent, origin, target"),
	[LIST + ROW_PROCESS] = LIST_ROWS("process", ", comm, executable, unit, pid"),
	[LIST + ROW_PLACE] = LIST_ROWS("place", ", object, function"),
	[LIST + ROW_FUNCTION] = LIST_ROWS("function", ", object"),
	[LIST + ROW_OBJECT] = LIST_ROWS("object", ""),
	[LIST + ROW_STRING] = LIST_ROWS("string", ""),
	[REMOVE + ROW_STACK] = "DELETE FROM stack WHERE id >= ? AND id <= ?",
	[REMOVE + ROW_STREAM] = "DELETE FROM stream WHERE id >= ? AND id <= ?",
	[REMOVE + ROW_PROCESS] = "DELETE FROM process WHERE id >= ? AND id <= ?",
	[REMOVE + ROW_PLACE] = "DELETE FROM place WHERE id >= ? AND id <= ?",
	[REMOVE + ROW_FUNCTION] = "DELETE FROM function WHERE id >= ? AND id <= ?",
	/* what refers to it may be newer than the lists */
	[REMOVE + ROW_OBJECT] = "DELETE FROM object WHERE id >= ? AND id <= ? AND NOT EXISTS "
				"(SELECT 1 FROM place p WHERE p.object = object.id) AND NOT EXISTS "
				"(SELECT 1 FROM function f WHERE f.object = object.id)",
	[REMOVE + ROW_STRING] = "DELETE FROM string WHERE id >= ? AND id <= ?",
};

/* Ids behind @after up to @last, and which are in use. */
struct marks {
	int64_t after, last;
	uint8_t *used;
};

struct reclaiming {
	struct store_reclaim *reclaim;
	int64_t from, to, end; /* windows pruned, and the first that cannot refer to their rows */
	struct marks marks[N_ROW_KINDS];
};

static void reclaiming_done(struct reclaiming *r)
{
	for (size_t i = 0; i < N_ROW_KINDS; i++)
		free(r->marks[i].used);
}

int store_reclaim_init(struct store_reclaim *reclaim, struct database *database,
		       struct store_first_ids *first_ids)
{
	*reclaim = (struct store_reclaim){ .database = database, .first_ids = first_ids };
	return database_prepare(database, sql, N_STATEMENTS, reclaim->statements);
}

_Static_assert(N_STATEMENTS == N_STORE_RECLAIM, "reclaim.h has another number");

void store_reclaim_note(struct store_reclaim_range *range, int64_t window)
{
	if (range->to == 0 || window < range->from)
		range->from = window;
	range->to = MAX(range->to, window);
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

/*
 * The ids that rows added from window @from on have, up to those of before window @end. Where @from
 * is not there, its rows are those of the window before it; if that is old, the sweep has to do.
 */
static int find_ids(struct reclaiming *reclaiming)
{
	struct store_first_ids *ids = reclaiming->reclaim->first_ids;
	int64_t first[N_ROW_KINDS], last[N_ROW_KINDS], window = 0;
	int r;

	r = store_first_ids_find_window(ids, reclaiming->from, &window);
	if (r < 0 || window < reclaiming->from - MAX_WINDOWS)
		return r;
	reclaiming->from = window;
	r = store_first_ids_find(ids, window, first);
	if (r <= 0)
		return r;
	r = store_first_ids_find(ids, reclaiming->end, last);
	if (r == 0)
		r = store_first_ids_find_last(ids, last) ?: 1;
	for (size_t i = 0; r > 0 && i < N_ROW_KINDS; i++) {
		struct marks *marks = &reclaiming->marks[i];

		if (first[i] ==
		    INT64_MAX) /* of windows of version 6 not known: none is looked at */
			first[i] = last[i] = INT64_MAX - 1;
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

/* The columns of one row of a statement that seeks @id. 0 or -errno; of one that is not there, 0s.
 */
static int find(struct reclaiming *reclaiming, int which, int64_t id, int64_t *ret, int n)
{
	struct statement *row = reclaiming->reclaim->statements[which];
	int r;

	memset(ret, 0, (size_t)n * sizeof(*ret));
	STATEMENT_BIND(row, id);
	r = statement_first(row, ret, n);
	return MIN(r, 0);
}

/* Marks a place; what one that is newer than the lists refers to, at once. */
static int mark_place(struct reclaiming *reclaiming, int64_t id)
{
	int64_t place[2];
	int r;

	if (id <= reclaiming->marks[ROW_PLACE].last) {
		mark(&reclaiming->marks[ROW_PLACE], id);
		return 0;
	}
	r = find(reclaiming, FIND_PLACE, id, place, 2);
	mark(&reclaiming->marks[ROW_FUNCTION], place[1]);
	return r;
}

/* Marks a stack or a stream; the same of newer ones, up to one in the lists. */
static int mark_node(struct reclaiming *reclaiming, enum row_kind kind, int64_t id)
{
	int64_t node[3];
	int r = 0;

	while (r >= 0 && id > reclaiming->marks[kind].last) {
		if (kind == ROW_STACK)
			r = find(reclaiming, FIND_STACK, id, node, 2);
		else
			r = find(reclaiming, FIND_STREAM, id, node, 3);
		if (r >= 0)
			r = mark_place(reclaiming, node[1]);
		if (r >= 0 && kind == ROW_STREAM)
			r = mark_place(reclaiming, node[2]);
		if (r >= 0 && node[0] >= id)
			r = database_damaged(reclaiming->reclaim->database,
					     "a path is its own parent");
		id = node[0];
	}
	mark(&reclaiming->marks[kind], id);
	return r;
}

static int mark_one(struct reclaiming *reclaiming, enum row_kind kind, int64_t id)
{
	if (kind == ROW_STACK || kind == ROW_STREAM)
		return mark_node(reclaiming, kind, id);
	if (kind == ROW_PLACE)
		return mark_place(reclaiming, id);
	mark(&reclaiming->marks[kind], id);
	return 0;
}

/* Marks what the counts of a window refer to in one column, or two: then the second are places. */
static int mark_counts(struct reclaiming *reclaiming, int which, int64_t window, enum row_kind kind,
		       bool with_place)
{
	struct statement *row = reclaiming->reclaim->statements[which];
	int r;

	STATEMENT_BIND(row, window);
	while ((r = statement_step(row)) > 0) {
		int64_t place = with_place ? statement_int(row, 1) : 0;

		r = mark_one(reclaiming, kind, statement_int(row, 0));
		if (r >= 0)
			r = mark_place(reclaiming, place);
		if (r < 0) {
			statement_reset(row);
			return r;
		}
	}
	return r;
}

static int mark_window(struct reclaiming *reclaiming, int64_t window)
{
	int r;

	r = mark_counts(reclaiming, READ_STACKS, window, ROW_STACK, true);
	if (r >= 0)
		r = mark_counts(reclaiming, READ_STREAMS, window, ROW_STREAM, false);
	if (r >= 0)
		r = mark_counts(reclaiming, READ_BRANCHES, window, ROW_PLACE, true);
	if (r >= 0)
		r = mark_counts(reclaiming, READ_BLOCKS, window, ROW_PLACE, true);
	if (r >= 0)
		r = mark_counts(reclaiming, READ_PROCESSES, window, ROW_PROCESS, false);
	if (r >= 0)
		r = mark_counts(reclaiming, READ_FUNCTIONS, window, ROW_FUNCTION, false);
	return r;
}

/* The strings of all rows that are not in the lists. */
static int mark_strings(struct reclaiming *reclaiming, int which, int n)
{
	struct statement *row = reclaiming->reclaim->statements[which];
	int r;

	while ((r = statement_step(row)) > 0)
		for (int i = 0; i < n; i++)
			mark(&reclaiming->marks[ROW_STRING], statement_int(row, i));
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

/* What each kind refers to, in columns behind "seen". */
static const struct {
	enum row_kind kinds[3];
	int n;
} references[N_ROW_KINDS] = {
	[ROW_STACK] = { { ROW_STACK, ROW_PLACE }, 2 },
	[ROW_STREAM] = { { ROW_STREAM, ROW_PLACE, ROW_PLACE }, 3 },
	[ROW_PROCESS] = { { ROW_STRING, ROW_STRING, ROW_STRING }, 3 },
	[ROW_PLACE] = { { ROW_OBJECT, ROW_FUNCTION }, 2 },
	[ROW_FUNCTION] = { { ROW_OBJECT }, 1 },
};

/* From the largest id down: what a row in use refers to has a smaller id, or is of a kind that
 * follows. Newer windows may use what was seen since. */
static int mark_used(struct reclaiming *reclaiming, enum row_kind kind)
{
	struct statement *row = reclaiming->reclaim->statements[LIST + (int)kind];
	struct marks *marks = &reclaiming->marks[kind];
	int r;

	STATEMENT_BIND(row, marks->after, marks->last);
	while ((r = statement_step(row)) > 0) {
		int64_t id = statement_int(row, 0);

		if (statement_int(row, 1) > reclaiming->to ||
		    (kind == ROW_PROCESS && statement_int(row, 5) == -1))
			mark(marks, id);
		for (int i = 0; i < references[kind].n && is_marked(marks, id); i++)
			mark(&reclaiming->marks[references[kind].kinds[i]],
			     statement_int(row, 2 + i));
	}
	return r;
}

static int remove_ids(struct reclaiming *reclaiming, enum row_kind kind, int64_t first,
		      int64_t last)
{
	struct statement *const *statements = reclaiming->reclaim->statements;
	int r = 0;

	if (kind == ROW_FUNCTION) {
		STATEMENT_BIND(statements[REMOVE_CODE], first, last);
		r = statement_run(statements[REMOVE_CODE]);
	}
	STATEMENT_BIND(statements[REMOVE + (int)kind], first, last);
	return r < 0 ? r : statement_run(statements[REMOVE + (int)kind]);
}

static int remove_unused(struct reclaiming *reclaiming, enum row_kind kind)
{
	const struct marks *marks = &reclaiming->marks[kind];
	int r = 0;

	for (int64_t id = marks->after + 1; r >= 0 && id <= marks->last; id++) {
		int64_t first = id;

		while (id <= marks->last && !is_marked(marks, id))
			id++;
		if (id > first)
			r = remove_ids(reclaiming, kind, first, id - 1);
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
		r = mark_strings(reclaiming, READ_SOURCES, 5);
	if (r >= 0)
		r = mark_strings(reclaiming, READ_GONE, 3);
	for (enum row_kind kind = 0; r >= 0 && kind < N_ROW_KINDS; kind++)
		r = mark_used(reclaiming, kind);
	for (enum row_kind kind = 0; r >= 0 && kind < N_ROW_KINDS; kind++)
		r = remove_unused(reclaiming, kind);
	return r;
}

/* 1; 0 where the window is not there; or -errno. */
static int find_end(struct reclaiming *reclaiming, int64_t newest)
{
	struct store_reclaim *reclaim = reclaiming->reclaim;
	int r;

	STATEMENT_BIND(reclaim->statements[NEXT_WINDOW], reclaiming->to, reclaiming->to);
	r = statement_first(reclaim->statements[NEXT_WINDOW], &reclaiming->end, 1);
	if (r == 0)
		reclaiming->end = newest + 1;
	return MIN(r, 0);
}

/* The windows up to @to are done. */
static void pass(struct store_reclaim_range *range, int64_t to)
{
	range->from = to + 1;
	if (range->from > range->to)
		*range = (struct store_reclaim_range){ 0 };
}

int store_reclaim_run(struct store_reclaim *reclaim, struct store_reclaim_range *range,
		      int64_t newest, bool all)
{
	_cleanup_(reclaiming_done) struct reclaiming reclaiming = { .reclaim = reclaim };
	int64_t horizon = 0;
	int r;

	STATEMENT_BIND(reclaim->statements[HORIZON], newest);
	r = statement_first(reclaim->statements[HORIZON], &horizon, 1);
	if (r <= 0 || range->to == 0)
		return r;
	reclaiming.from = range->from;
	reclaiming.to = MIN(range->to, all ? newest - 1 : horizon - 1);
	if (reclaiming.from > reclaiming.to)
		return 0;
	reclaiming.to = MIN(reclaiming.to, reclaiming.from + MAX_WINDOWS - 1);
	r = find_end(&reclaiming, newest);
	if (r >= 0)
		r = run(&reclaiming);
	if (r >= 0)
		pass(range, reclaiming.to);
	return r;
}

int store_reclaim_merged(struct store_reclaim *reclaim, struct store_reclaim_range *range)
{
	_cleanup_(reclaiming_done) struct reclaiming reclaiming = { .reclaim = reclaim };
	int r;

	if (range->to == 0)
		return 0;
	reclaiming.from = range->from;
	/* to where a sum ends: the next part begins with a window that is there */
	STATEMENT_BIND(reclaim->statements[NEXT_ID], range->from + MAX_MERGED - 1);
	r = statement_first(reclaim->statements[NEXT_ID], &reclaiming.to, 1);
	if (r <= 0)
		return r;
	reclaiming.to--;
	r = find_end(&reclaiming, INT64_MAX - 1);
	if (r < 0 || reclaiming.end > range->to)
		return r;
	r = run(&reclaiming);
	if (r < 0)
		return r;
	pass(range, reclaiming.to);
	return 1;
}
