/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/renew.h"

#include <errno.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* The part of the span of all other windows by which marked ones may be older. */
#define LAG 4

enum {
	OLDEST,
	UNMARKED,
	NEWEST,
	NEXT,
	RAISE,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[OLDEST] = "SELECT id, horizon FROM window ORDER BY id LIMIT 1",
	[UNMARKED] = "SELECT id, horizon FROM window w WHERE NOT EXISTS (SELECT 1 FROM mark "
		     "WHERE w.id BETWEEN first AND last) ORDER BY id LIMIT 1",
	[NEWEST] = "SELECT id, horizon FROM window ORDER BY id DESC LIMIT 1",
	[NEXT] = "SELECT id, horizon FROM window WHERE id > ? AND id < ? ORDER BY id LIMIT 1",
	[RAISE] = "UPDATE window SET horizon = ?1 WHERE id < ?2 AND horizon < ?1",
};

_Static_assert(N_STATEMENTS == N_STORE_RENEW, "renew.h has another number");

struct age {
	int64_t id, horizon;
};

int store_renew_init(struct store_renew *renew, struct database *database,
		     const struct store_renew_modules *modules)
{
	*renew = (struct store_renew){ .database = database, .modules = *modules };
	return database_prepare(database, sql, N_STATEMENTS, renew->statements);
}

void store_renew_forget(struct store_renew *renew)
{
	renew->below = 0;
}

/* 1; 0: there is none; or -errno. */
static int find(struct store_renew *renew, int which, struct age *ret)
{
	int64_t row[2];
	int r = statement_first(renew->statements[which], row, 2);

	if (r > 0)
		*ret = (struct age){ row[0], row[1] };
	return r;
}

static int write_again(struct store_renew *renew, int64_t id, int64_t newest,
		       const struct profile *profile)
{
	const struct store_renew_modules *modules = &renew->modules;
	int r = store_reduce_clear(modules->reduce, id);

	if (r >= 0)
		r = store_write_renewed(modules->write, id, newest, renew->horizon, profile);
	if (r >= 0)
		r = store_first_ids_note_newest(modules->first_ids, modules->write->modules.intern,
						id, 0);
	return r;
}

/* 0 or -errno. A window that cannot be written again is left as it was, and so are all. */
static int renew_window(struct store_renew *renew, int64_t id, int64_t newest)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct window window = { .id = id };
	bool found = false;
	const struct store_batch batch = {
		.windows = &window, .found = &found, .n = 1, .max_rows = SIZE_MAX
	};
	size_t n;
	int r = store_read_windows(renew->modules.read, &batch, &n, &profile);

	if (r >= 0)
		r = database_run(renew->database, "SAVEPOINT renew");
	if (r < 0)
		return r;
	r = write_again(renew, id, newest, profile);
	if (r == -ENOENT) {
		renew->failed = true;
		store_renew_forget(renew);
		store_intern_forget(
			renew->modules.write->modules.intern); /* it knows of what was renewed */
		return database_run(renew->database, "ROLLBACK TO renew; RELEASE renew");
	}
	renew->done = id;
	return r < 0 ? r : database_run(renew->database, "RELEASE renew");
}

static int raise_horizons(struct store_renew *renew)
{
	STATEMENT_BIND(renew->statements[RAISE], renew->horizon, renew->below);
	store_renew_forget(renew);
	return statement_run(renew->statements[RAISE]);
}

static bool is_due(const struct age *oldest, const struct age *unmarked, const struct age *newest,
		   uint64_t n_windows)
{
	int64_t span = newest->id - unmarked->horizon;

	return unmarked->id > oldest->id &&
	       unmarked->horizon - oldest->horizon > MAX(span / LAG, (int64_t)n_windows);
}

int store_renew_step(struct store_renew *renew, uint64_t n_windows)
{
	struct age oldest, unmarked, newest, next;
	int r;

	if (renew->failed)
		return 0;
	r = find(renew, OLDEST, &oldest);
	if (r > 0)
		r = find(renew, UNMARKED, &unmarked);
	if (r > 0)
		r = find(renew, NEWEST, &newest);
	if (r <= 0)
		return r;
	if (!renew->below && is_due(&oldest, &unmarked, &newest, n_windows)) {
		renew->below = unmarked.id;
		renew->horizon = unmarked.horizon;
		renew->done = 0;
	}
	if (!renew->below)
		return 0;
	STATEMENT_BIND(renew->statements[NEXT], renew->done, renew->below);
	r = find(renew, NEXT, &next);
	if (r == 0)
		return raise_horizons(renew);
	if (r > 0)
		r = renew_window(renew, next.id, newest.id);
	return r < 0 ? r : 1;
}
