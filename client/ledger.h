/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger: rows of two profiles that are of the same thing, side by side, however differently the
 * two were built and loaded. See pairing.h for objects; functions are the same by name, without what a
 * compiler adds to it when it clones one (".isra.0"); processes by executable, and by the name they have
 * given themselves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/line-map.h"
#include "client/pairing.h"
#include "client/shares.h"
#include "client/view.h"

/* Samples of a row in one part of time, or in all of it. */
struct ledger_count {
	uint64_t self, total;
};

struct ledger_row {
	bool is_in[N_SIDES];
	struct share_key keys[N_SIDES]; /* of the profile there; of several that of most samples */
	struct ledger_count hottest[N_SIDES]; /* these */
	struct ledger_count counts[N_SIDES];
	bool line_changed; /* it is a line that is not the same in the sources of the other side */
};

struct ledger {
	struct ledger_row *rows;
	size_t n_rows, cap_rows;

	/* Of row i in part k of a side: counts[side][i * n_parts[side] + k]. */
	struct ledger_count *parts[N_SIDES];
	size_t n_parts[N_SIDES];

	/* its own */
	enum view_by by;
	const struct pairing *pairing;
	struct line_map *map;
	struct fault *fault;
	struct shares *names; /* what a row is called on both sides alike */
	bool line_changed;    /* the line last found is not in both sources */
};

/* Borrows all. Without @map lines are the same by file and number. -ENOMEM. */
int ledger_new(struct ledger **ret, enum view_by by, const struct pairing *pairing,
	       struct line_map *map, struct fault *fault);
struct ledger *ledger_free(struct ledger *ledger);
DEFINE_CLEANUP(struct ledger *, ledger_free);

/*
 * The rows of @shares, which are of @profile, the whole of one side; its keys are borrowed. -ENOMEM; here and
 * below another negative errno and the ledger's fault where sources cannot be compared.
 */
int ledger_add(struct ledger *ledger, enum side side, const struct profile *profile,
	       const struct shares *shares);

/* Once both wholes are there: side @side has @n parts. Then part @part of these. -ENOMEM. */
int ledger_set_parts(struct ledger *ledger, enum side side, size_t n);
int ledger_add_part(struct ledger *ledger, enum side side, size_t part,
		    const struct profile *profile, const struct shares *shares);

/* The same of one row, whose number is known, of a part that has so many samples. */
void ledger_add_count(struct ledger *ledger, enum side side, size_t part, size_t row,
		      const struct ledger_count *count, uint64_t samples);

/* The number of the row of a key of @profile, whose objects have these @numbers: n_rows or more where there is none. -ENOMEM. */
int64_t ledger_find(struct ledger *ledger, enum side side, const struct profile *profile,
		    const uint32_t *numbers, const struct share_key *key);
