/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/vacuum.h"

#include "common/util/clock.h"
#include "common/util/macro.h"

/* What a piece may take, but for what it does last. */
#define PIECE_NS 8000000ULL

enum {
	NEWEST_END,
	OLDEST,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[NEWEST_END] = "SELECT id, start_us + length_us FROM window ORDER BY id DESC LIMIT 1",
	[OLDEST] = "SELECT id, start_us + length_us FROM window w WHERE NOT EXISTS (SELECT 1 "
		   "FROM mark WHERE w.id BETWEEN first AND last) ORDER BY id LIMIT 1",
};

_Static_assert(N_STATEMENTS == N_STORE_VACUUM, "vacuum.h has another number");

int store_vacuuming_init(struct store_vacuuming *vacuuming, struct database *database,
			 struct store_trim *trim)
{
	*vacuuming = (struct store_vacuuming){ .trim = trim };
	return database_prepare(database, sql, N_STATEMENTS, vacuuming->statements);
}

struct end {
	int64_t id, us;
};

/* 1; 0: there is none; or -errno. */
static int find(struct store_vacuuming *vacuuming, int which, struct end *ret)
{
	int64_t row[2];
	int r = statement_first(vacuuming->statements[which], row, 2);

	if (r > 0)
		*ret = (struct end){ row[0], row[1] };
	return r;
}

static bool is_old(const struct store_vacuum *vacuum, const struct end *newest,
		   const struct end *oldest)
{
	uint64_t keep_us = vacuum->request.keep_us;

	return keep_us > 0 && oldest->us < newest->us &&
	       (uint64_t)newest->us - (uint64_t)oldest->us > keep_us;
}

/* Removes the oldest window if it is to go: 1; 0; or -errno. */
static int remove_one(struct store_vacuuming *vacuuming, struct store_vacuum *vacuum)
{
	struct store_trim_size size;
	struct end newest, oldest;
	bool is_large;
	int r;

	r = store_trim_measure(vacuuming->trim, &size);
	if (r >= 0)
		r = find(vacuuming, NEWEST_END, &newest);
	if (r > 0)
		r = find(vacuuming, OLDEST, &oldest);
	if (r <= 0 || oldest.id == newest.id)
		return MIN(r, 0);
	is_large = vacuum->request.max_bytes > 0 && size.used_bytes > vacuum->goal_bytes;
	if (!is_large && !is_old(vacuum, &newest, &oldest))
		return 0;
	r = store_trim_remove(vacuuming->trim, oldest.id);
	vacuum->n_removed++;
	vacuum->n_round++;
	return r < 0 ? r : 1;
}

/* Chooses what the next round of removing has to reach. */
static int begin_round(struct store_vacuuming *vacuuming, struct store_vacuum *vacuum)
{
	uint64_t max_bytes = vacuum->request.max_bytes;
	struct store_trim_size size;
	int r;

	r = store_trim_measure(vacuuming->trim, &size);
	if (r < 0)
		return r;
	vacuum->phase = VACUUM_REMOVE;
	vacuum->n_round = vacuum->n_idle = 0;
	vacuum->goal_bytes = size.used_bytes > max_bytes ?
				     max_bytes + (size.used_bytes - max_bytes) / 2 :
				     UINT64_MAX;
	if (!vacuum->begun)
		vacuum->bytes_before = size.bytes;
	vacuum->begun = true;
	return 1;
}

/*
 * A round that is under way goes by an older horizon, so the next is made, too. 1; 0: nothing is
 * left to sweep; or -errno.
 */
static int sweep(struct store_vacuuming *vacuuming, struct store_vacuum *vacuum)
{
	int r = store_trim_sweep(vacuuming->trim);

	vacuum->n_idle = r > 0 ? 0 : vacuum->n_idle + 1;
	return r < 0 ? r : vacuum->n_idle < 2;
}

static int end_sweep(struct store_vacuuming *vacuuming, struct store_vacuum *vacuum)
{
	struct store_trim_size size;
	int r = store_trim_measure(vacuuming->trim, &size);

	if (r < 0)
		return r;
	if (vacuum->request.max_bytes > 0 && size.used_bytes > vacuum->request.max_bytes &&
	    vacuum->n_round > 0)
		return begin_round(vacuuming, vacuum);
	vacuum->phase = VACUUM_SHRINK;
	return 1;
}

static int shrink(struct store_vacuuming *vacuuming, struct store_vacuum *vacuum)
{
	struct store_trim_size before = { 0, 0 }, after = { 0, 0 };
	int r;

	r = store_trim_measure(vacuuming->trim, &before);
	if (r >= 0 && before.bytes > before.used_bytes)
		r = store_trim_shrink(vacuuming->trim);
	if (r >= 0)
		r = store_trim_measure(vacuuming->trim, &after);
	if (r < 0)
		return r;
	vacuum->bytes_after = after.bytes;
	/* what is left may be pages that SQLite needs for itself */
	if (after.bytes > after.used_bytes && after.bytes < before.bytes)
		return 1;
	vacuum->phase = VACUUM_DONE;
	return 0;
}

static int do_some(struct store_vacuuming *vacuuming, struct store_vacuum *vacuum)
{
	int r;

	if (!vacuum->begun)
		return begin_round(vacuuming, vacuum);
	switch (vacuum->phase) {
	case VACUUM_REMOVE:
		r = remove_one(vacuuming, vacuum);
		if (r == 0)
			vacuum->phase = VACUUM_SWEEP;
		return r < 0 ? r : 1;
	case VACUUM_SWEEP:
		r = sweep(vacuuming, vacuum);
		return r == 0 ? end_sweep(vacuuming, vacuum) : r;
	case VACUUM_SHRINK:
		return shrink(vacuuming, vacuum);
	case VACUUM_DONE:
		break;
	}
	return 0;
}

int store_vacuuming_step(struct store_vacuuming *vacuuming, struct store_vacuum *vacuum)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + PIECE_NS;
	enum store_vacuum_phase phase = vacuum->phase;
	int r;

	/* a piece is of one phase: sweeping and shrinking are pieces as they are */
	do
		r = do_some(vacuuming, vacuum);
	while (r > 0 && phase == VACUUM_REMOVE && vacuum->phase == phase &&
	       clock_ns(CLOCK_MONOTONIC) < until_ns);
	return r;
}
