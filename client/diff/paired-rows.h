/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger: rows of two profiles that are of the same thing, side by side, however differently
 * the two were built and loaded. See pairing.h for objects; functions are the same by name, without
 * what a compiler adds to it when it clones one (".isra.0"); processes by executable, and by the
 * name they have given themselves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/diff/line-map.h"
#include "client/diff/object-match.h"
#include "client/view/shares.h"
#include "client/view/view.h"

/* Samples of a row in one part of time, or in all of it. */
struct paired_count {
	uint64_t self, total;
};

struct paired_row {
	bool is_in[N_SIDES];
	struct share_key keys[N_SIDES]; /* of the profile there; of several that of most samples */
	struct paired_count hottest[N_SIDES]; /* these */
	struct paired_count counts[N_SIDES];
	bool line_changed; /* it is a line that is not the same in the sources of the other side */
};

struct paired_rows {
	struct paired_row *rows;
	size_t n_rows, cap_rows;

	/* Of row i in part k of a side: counts[side][i * n_parts[side] + k]. */
	struct paired_count *parts[N_SIDES];
	size_t n_parts[N_SIDES];

	/* its own */
	enum view_by by;
	const struct object_match *pairing;
	struct line_map *map;
	struct fault *fault;
	struct shares *names; /* what a row is called on both sides alike */
	bool line_changed;    /* the line last found is not in both sources */
};

/* Borrows all. Without @map lines are the same by file and number. -ENOMEM. */
int paired_rows_new(struct paired_rows **ret, enum view_by by, const struct object_match *pairing,
		    struct line_map *map, struct fault *fault);
struct paired_rows *paired_rows_free(struct paired_rows *ledger);
DEFINE_CLEANUP(struct paired_rows *, paired_rows_free);

/*
 * The rows of @shares, which are of @profile, the whole of one side; its keys are borrowed.
 * -ENOMEM; here and below another negative errno and the ledger's fault where sources cannot be
 * compared.
 */
int paired_rows_add(struct paired_rows *ledger, enum side side, const struct profile *profile,
		    const struct shares *shares);

/* Once both wholes are there: side @side has @n parts. Then part @part of these. -ENOMEM. */
int paired_rows_set_parts(struct paired_rows *ledger, enum side side, size_t n);
int paired_rows_add_part(struct paired_rows *ledger, enum side side, size_t part,
			 const struct profile *profile, const struct shares *shares);

/* The same of one row, whose number is known, of a part that has so many samples. */
void paired_rows_add_count(struct paired_rows *ledger, enum side side, size_t part, size_t row,
			   const struct paired_count *count, uint64_t samples);

/* The number of the row of a key of @profile, whose objects have these @numbers: n_rows or more
 * where there is none. -ENOMEM. */
int64_t paired_rows_find(struct paired_rows *ledger, enum side side, const struct profile *profile,
			 const uint32_t *numbers, const struct share_key *key);
