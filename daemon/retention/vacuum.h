/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making the database small at once, as somebody asked: the oldest windows go, then what only they
 * referred to, then free pages. How much a window has alone is known only after it went; so windows
 * of half the excess go at a time. The newest window and marked ones stay.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/database/database.h"
#include "daemon/retention/trim.h"

#define N_STORE_VACUUM 2

/* What is asked for. */
struct store_vacuum_request {
	uint64_t max_bytes; /* in use; 0: no limit */
	uint64_t keep_us;   /* windows that ended longer before the newest did go; 0: none */
};

enum store_vacuum_phase {
	VACUUM_REMOVE,
	VACUUM_SWEEP,
	VACUUM_SHRINK,
	VACUUM_DONE,
};

struct store_vacuum {
	struct store_vacuum_request request;
	enum store_vacuum_phase phase;
	bool begun;
	uint64_t goal_bytes; /* of this round of removing */
	uint64_t n_round, n_idle;
	/* so far */
	uint64_t n_removed, bytes_before, bytes_after;
};

struct store_vacuuming {
	struct store_trim *trim; /* borrowed */
	struct statement *statements[N_STORE_VACUUM];
};

/* 0 or -errno. */
int store_vacuuming_init(struct store_vacuuming *vacuuming, struct database *database,
			 struct store_trim *trim);

/*
 * A piece of some ms, in a transaction of the caller; of a window with many rows as long as its
 * removal takes. @vacuum is to be kept as it was if the transaction is rolled back. 1: there is
 * more to do; 0; or -errno.
 */
int store_vacuuming_step(struct store_vacuuming *vacuuming, struct store_vacuum *vacuum);
