/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/window-check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/database/file-check.h"

#define MAX_BYTES (64u << 20) /* of the sum */

/* Rows of a table that the window refers to, and that were last seen before its horizon. */
#define OLD(table, column, parent)                                         \
	"SELECT '" parent "', count(*) AS n FROM " table " c JOIN " parent \
	" p ON p.id = c." column                                           \
	" WHERE c.window = ?1 AND p.seen < (SELECT horizon FROM window WHERE id = ?1)"
#define ALSO " UNION ALL "

#define SUM(column, table) "(SELECT ifnull(sum(" column "), 0) FROM " table " WHERE window = ?1)"

enum {
	FIND_OLD,
	ADD_UP,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[ADD_UP] =
		"SELECT " SUM("samples", "stack_count") ", " SUM("taken", "branch_count") ", " SUM(
			"runs", "block_count") ", " SUM("hits", "stream_count"),
	[FIND_OLD] = "SELECT * FROM (" OLD("process_count", "process", "process")
		ALSO OLD("stack_count", "caller", "stack") ALSO OLD("stack_count", "place", "place")
			ALSO OLD("stream_count", "stream", "stream") ALSO OLD("branch_count",
									      "origin", "place")
				ALSO OLD("branch_count", "target", "place")
					ALSO OLD("block_count", "first", "place")
						ALSO OLD("block_count", "last", "place")
							ALSO OLD("outer_function", "function",
								 "function") ") WHERE n > 0",
};

_Static_assert(N_STATEMENTS == N_WINDOW_CHECK, "window-check.h has another number");

int window_check_init(struct window_check *check, struct database *database,
		      struct store_read *read, struct store_functions *functions)
{
	*check = (struct window_check){
		.database = database,
		.read = read,
		.functions = functions,
	};
	return database_prepare(database, sql, N_STATEMENTS, check->statements);
}

/* What was read of other windows, or of a damaged one, is forgotten. */
void window_check_done(struct window_check *check)
{
	check->sum = window_sum_free(check->sum);
	for (size_t i = 0; i < N_SUM_KINDS; i++)
		check->counts[i] = function_sum_free(check->counts[i]);
}

/* A window that is being checked. */
struct checked {
	struct window_check *check;
	struct window window;
	char where[64];
	struct problems *problems;
};

static void compare(struct checked *checked, const char *what, uint64_t sum, uint64_t total)
{
	if (sum != total)
		problems_add(checked->problems, checked->where,
			     "its %s add up to %" PRIu64 " instead of %" PRIu64, what, sum, total);
}

/* Each sample, record and run is in a table, or in a counter that says why not. *@ret: samples. */
static int check_totals(struct checked *checked, const struct profile_counters *counters,
			uint64_t *ret)
{
	struct statement *row = checked->check->statements[ADD_UP];
	int r;

	statement_bind_int(row, 1, checked->window.id);
	r = statement_step(row);
	if (r <= 0)
		return r;
	*ret = (uint64_t)statement_int(row, 0);
	compare(checked, "stacks", *ret, counters->samples);
	compare(checked, "branches", (uint64_t)statement_int(row, 1), counters->rows_counted);
	compare(checked, "blocks", (uint64_t)statement_int(row, 2), counters->runs_counted);
	compare(checked, "streams", (uint64_t)statement_int(row, 3), counters->streams);
	return statement_reset(row);
}

/* Of the windows in the sum; those in this one, where it was 0 before. */
static uint64_t take_self(struct function_sum *sum, enum function_sum_kind kind)
{
	uint64_t self = 0;

	for (size_t i = 0; i < sum->n_rows; i++)
		if (sum->rows[i].kind == kind)
			self += sum->rows[i].tally.self;
	function_sum_begin_part(sum);
	return self;
}

/* The counts that are kept beside the tables say the same. */
static int check_counts(struct checked *checked, enum function_sum_kind by, uint64_t samples)
{
	static const char *const names[N_SUM_KINDS] = {
		[SUM_FUNCTION] = "counts by function",
		[SUM_OBJECT] = "counts by object",
	};
	const struct profile_filter filter = PROFILE_FILTER_INIT;
	struct function_sum **sum = &checked->check->counts[by];
	int r = *sum ? 0 : function_sum_new(sum);

	if (r < 0)
		return r;
	(*sum)->by = by;
	(*sum)->whole = true;
	r = store_functions_read(checked->check->functions, checked->check->read, &checked->window,
				 &filter, *sum);
	if (r > 0 && (*sum)->n_profiles == 0) {
		compare(checked, names[by], take_self(*sum, by), samples);
		return 0;
	}
	if (r > 0) /* they were counted again */
		problems_add(checked->problems, checked->where, "its %s are damaged or missing",
			     names[by]);
	*sum = function_sum_free(*sum);
	return r == -ENODATA ? 0 : MIN(r, 0); /* of a version before */
}

static int check_seen(struct checked *checked)
{
	struct statement *row = checked->check->statements[FIND_OLD];
	int r;

	statement_bind_int(row, 1, checked->window.id);
	while ((r = statement_step(row)) > 0)
		problems_add(checked->problems, checked->where,
			     "%" PRId64 " rows of %s that it refers to are taken for unused",
			     statement_int(row, 1), statement_text(row, 0) ?: "?");
	return r;
}

/* Adds the window to the sum, whose rows are those of all windows: *@ret are its counters. */
static int read_window(struct checked *checked, struct profile_counters *ret)
{
	struct window_check *check = checked->check;
	bool found = false;
	const struct store_batch batch = { .windows = &checked->window, .found = &found, .n = 1 };
	size_t n;
	int r = 0;

	if (check->sum && window_sum_bytes(check->sum) > MAX_BYTES)
		window_check_done(check);
	if (!check->sum)
		r = window_sum_new(&check->sum, PROFILE_ALL_TABLES);
	if (r < 0)
		return r;
	check->sum->profile->counters = (struct profile_counters){ 0 };
	r = store_read_add(check->read, 1, &batch, check->sum, &n);
	*ret = check->sum->profile->counters;
	return r < 0 ? r : found;
}

static int check_window(struct checked *checked)
{
	struct profile_counters counters;
	uint64_t samples = 0;
	int r;

	r = read_window(checked, &counters);
	if (r <= 0)
		return r;
	r = check_totals(checked, &counters, &samples);
	if (r >= 0)
		r = check_counts(checked, SUM_FUNCTION, samples);
	if (r >= 0)
		r = check_counts(checked, SUM_OBJECT, samples);
	if (r >= 0)
		r = check_seen(checked);
	return r < 0 ? r : 1;
}

int window_check_run(struct window_check *check, int64_t id, struct problems *problems)
{
	struct checked checked = { .check = check, .window = { .id = id }, .problems = problems };
	int r;

	snprintf(checked.where, sizeof(checked.where), "window %" PRId64, id);
	r = check_window(&checked);
	if (r < 0)
		window_check_done(check); /* its sums are void */
	return r < 0 ? file_check_note(check->database, r, checked.where, problems) ?: 1 : r;
}
