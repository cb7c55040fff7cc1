/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/window-check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/database/file-check.h"

/* Rows of a table that the window refers to, and that were last seen before its horizon. */
#define OLD(table, column, parent)                                         \
	"SELECT '" parent "', count(*) AS n FROM " table " c JOIN " parent \
	" p ON p.id = c." column                                           \
	" WHERE c.window = ?1 AND p.seen < (SELECT horizon FROM window WHERE id = ?1)"
#define ALSO " UNION ALL "

static const char *const sql[N_WINDOW_CHECK] = {
	"SELECT * FROM (" OLD("process_count", "process", "process")
		ALSO OLD("stack_count", "caller", "stack") ALSO OLD("stack_count", "place", "place")
			ALSO OLD("stream_count", "stream", "stream") ALSO OLD("branch_count",
									      "origin", "place")
				ALSO OLD("branch_count", "target", "place")
					ALSO OLD("block_count", "first", "place")
						ALSO OLD("block_count", "last", "place")
							ALSO OLD("outer_function", "function",
								 "function") ") WHERE n > 0",
};

int window_check_init(struct window_check *check, struct database *database,
		      struct store_read *read, struct store_functions *functions)
{
	*check = (struct window_check){
		.database = database,
		.read = read,
		.functions = functions,
	};
	return database_prepare(database, sql, N_WINDOW_CHECK, check->statements);
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

static uint64_t sum_stacks(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		sum += p->stacks[i].samples;
	return sum;
}

/* Each sample, record and run is in a table, or in a counter that says why not. */
static void check_totals(struct checked *checked, const struct profile *p)
{
	uint64_t taken = 0, runs = 0, hits = 0;

	for (size_t i = 0; i < p->n_branches; i++)
		taken += p->branches[i].taken;
	for (size_t i = 0; i < p->n_blocks; i++)
		runs += p->blocks[i].runs;
	for (size_t i = 0; i < p->n_streams; i++)
		hits += p->streams[i].hits;
	compare(checked, "stacks", sum_stacks(p), p->counters.samples);
	compare(checked, "branches", taken, p->counters.rows_counted);
	compare(checked, "blocks", runs, p->counters.runs_counted);
	compare(checked, "streams", hits, p->counters.streams);
}

/* The counts that are kept beside the tables say the same. */
static int check_counts(struct checked *checked, enum function_sum_kind by, uint64_t samples)
{
	static const char *const names[N_SUM_KINDS] = {
		[SUM_FUNCTION] = "counts by function",
		[SUM_OBJECT] = "counts by object",
	};
	const struct profile_filter filter = PROFILE_FILTER_INIT;
	_cleanup_(function_sum_freep) struct function_sum *sum = NULL;
	uint64_t self = 0;
	int r = function_sum_new(&sum);

	if (r < 0)
		return r;
	sum->by = by;
	r = store_functions_read(checked->check->functions, checked->check->read, &checked->window,
				 &filter, sum);
	if (r == -ENODATA) /* of a version before */
		return 0;
	if (r <= 0)
		return r;
	if (sum->n_profiles > 0) {
		problems_add(checked->problems, checked->where, "its %s are damaged or missing",
			     names[by]);
		return 0;
	}
	for (size_t i = 0; i < sum->n_rows; i++)
		if (sum->rows[i].kind == by)
			self += sum->rows[i].tally.self;
	compare(checked, names[by], self, samples);
	return 0;
}

static int check_seen(struct checked *checked)
{
	struct statement *row = checked->check->statements[0];
	int r;

	statement_bind_int(row, 1, checked->window.id);
	while ((r = statement_step(row)) > 0)
		problems_add(checked->problems, checked->where,
			     "%" PRId64 " rows of %s that it refers to are taken for unused",
			     statement_int(row, 1), statement_text(row, 0) ?: "?");
	return r;
}

static int check_window(struct checked *checked)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	bool found = false;
	const struct store_batch batch = { .windows = &checked->window, .found = &found, .n = 1 };
	size_t n;
	int r;

	r = store_read_windows(checked->check->read, &batch, &n, &profile);
	if (r < 0 || !found)
		return r;
	check_totals(checked, profile);
	r = check_counts(checked, SUM_FUNCTION, sum_stacks(profile));
	if (r >= 0)
		r = check_counts(checked, SUM_OBJECT, sum_stacks(profile));
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
	return r < 0 ? file_check_note(check->database, r, checked.where, problems) ?: 1 : r;
}
