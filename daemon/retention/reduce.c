/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/reduce.h"

#include <errno.h>
#include <stdbool.h>

#include "common/profile/limit/limit.h"
#include "common/util/cleanup.h"

/* A window is pruned if a user has this number of times the rows that may be left of each of the
 * four tables: less would hardly be worth the work. */
#define WORTH 5

enum {
	HORIZON,
	REMOVE_COUNTERS, /* with all that follow no counts are left */
	REMOVE_PROCESSES,
	REMOVE_STACKS,
	REMOVE_STREAMS,
	REMOVE_BRANCHES,
	REMOVE_BLOCKS,
	REMOVE_OUTER_FUNCTIONS,
	REMOVE_FUNCTION_COUNTS,
	REMOVE_OBJECT_COUNTS,
	REMOVE_VARIANCES,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[HORIZON] = "SELECT horizon FROM window WHERE id = ?",
	[REMOVE_COUNTERS] = "DELETE FROM counter_count WHERE window = ?",
	[REMOVE_PROCESSES] = "DELETE FROM process_count WHERE window = ?",
	[REMOVE_STACKS] = "DELETE FROM stack_count WHERE window = ?",
	[REMOVE_STREAMS] = "DELETE FROM stream_count WHERE window = ?",
	[REMOVE_BRANCHES] = "DELETE FROM branch_count WHERE window = ?",
	[REMOVE_BLOCKS] = "DELETE FROM block_count WHERE window = ?",
	[REMOVE_OUTER_FUNCTIONS] = "DELETE FROM outer_function WHERE window = ?",
	[REMOVE_FUNCTION_COUNTS] = "DELETE FROM function_counts WHERE window = ?",
	[REMOVE_OBJECT_COUNTS] = "DELETE FROM object_counts WHERE window = ?",
	[REMOVE_VARIANCES] = "DELETE FROM variance WHERE window = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_REDUCE, "reduce.h has another number");

/* Who is to lose rows in which window. */
struct choice {
	int64_t uid, window, horizon;
	uint64_t floor;
};

int store_reduce_init(struct store_reduce *reduce, struct database *database,
		      const struct store_reduce_modules *modules)
{
	*reduce = (struct store_reduce){ .database = database, .modules = *modules };
	return database_prepare(database, sql, N_STATEMENTS, reduce->statements);
}

int store_reduce_clear(struct store_reduce *reduce, int64_t window)
{
	int r = 0;

	for (int i = REMOVE_COUNTERS; r >= 0 && i < N_STATEMENTS; i++) {
		STATEMENT_BIND(reduce->statements[i], window);
		r = statement_run(reduce->statements[i]);
	}
	return r;
}

static uint64_t max_rows(uint32_t uid, void *userdata)
{
	const struct choice *choice = userdata;
	int64_t id = uid == UINT32_MAX ? -1 : (int64_t)uid;

	return id == choice->uid ? choice->floor : UINT64_MAX;
}

/* The window's profile: 1, 0 if there is no such window, or -errno. */
static int read_window(struct store_reduce *reduce, struct choice *choice, struct profile **ret)
{
	struct statement *row = reduce->statements[HORIZON];
	struct window window = { .id = choice->window };
	bool found = false;
	const struct store_batch batch = { .windows = &window, .found = &found, .n = 1 };
	size_t n;
	int r;

	STATEMENT_BIND(row, choice->window);
	r = statement_step(row);
	if (r <= 0)
		return r;
	choice->horizon = statement_int(row, 0);
	r = statement_reset(row);
	if (r >= 0)
		r = store_read_windows(reduce->modules.read, &batch, &n, ret);
	return r < 0 ? r : found;
}

static int replace_counts(struct store_reduce *reduce, const struct choice *choice,
			  const struct profile *profile)
{
	const struct store_reduce_modules *modules = &reduce->modules;
	int r;

	r = store_reduce_clear(reduce, choice->window);
	if (r >= 0)
		r = store_write_again(modules->write, choice->window, choice->horizon, profile);
	/* the rows of others may have come later */
	if (r >= 0)
		r = store_first_ids_note_newest(modules->first_ids, modules->write->modules.intern,
						choice->window, 0);
	return r;
}

/* 0 or -errno. What cannot be written again, since rows are missing, is left as it was. */
static int rewrite(struct store_reduce *reduce, const struct choice *choice,
		   const struct profile *profile)
{
	const struct store_reduce_modules *modules = &reduce->modules;
	int r;

	r = database_run(reduce->database, "SAVEPOINT reduce");
	if (r < 0)
		return r;
	r = replace_counts(reduce, choice, profile);
	if (r == -ENOENT) {
		store_intern_forget(modules->write->modules.intern); /* it knows of renewed rows */
		return database_run(reduce->database, "ROLLBACK TO reduce; RELEASE reduce");
	}
	if (r >= 0)
		r = database_run(reduce->database, "RELEASE reduce");
	if (r >= 0)
		r = store_share_remove(modules->share, choice->window);
	if (r >= 0)
		r = store_share_add(modules->share, choice->window, profile);
	store_reclaim_note(&reduce->pruned, choice->window);
	reduce->n_pruned++;
	return r;
}

int store_reduce_next(struct store_reduce *reduce, uint64_t floor, int64_t newest, uint64_t *n_rows)
{
	struct choice choice = { .floor = floor };
	_cleanup_(profile_freep) struct profile *p = NULL;
	int r;

	r = store_share_find(reduce->modules.share, floor * WORTH, newest, &choice.uid,
			     &choice.window);
	if (r <= 0)
		return r;
	store_share_pass(reduce->modules.share, choice.uid, choice.window);
	r = read_window(reduce, &choice, &p);
	if (r < 0)
		return r;
	if (r == 0)
		return 1; /* rows of somebody else's */
	*n_rows += p->n_processes + p->n_stacks + p->n_streams + p->n_branches + p->n_blocks;
	r = profile_limit(p, max_rows, &choice);
	if (r > 0)
		r = profile_finalize(p) ?: rewrite(reduce, &choice, p);
	return r < 0 ? r : 1;
}
