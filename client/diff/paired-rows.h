/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pairs the rows of two profiles, however differently the two were built and loaded. Objects match
 * as object-match.h says; functions by name without compiler suffixes (".isra.0"); processes by
 * executable, and by the name that they gave themselves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/diff/line-map.h"
#include "client/diff/object-match.h"
#include "client/top/shares.h"
#include "client/view/view.h"

/* Samples of a row in one part of time, or in all of it. */
struct paired_count {
	uint64_t self, total;
};

struct paired_row {
	bool is_in[N_SIDES];
	struct share_key keys[N_SIDES]; /* in that side's profile; of several the hottest one's */
	struct paired_count hottest[N_SIDES]; /* its samples */
	struct paired_count counts[N_SIDES];
	struct paired_count variances[N_SIDES]; /* what estimating adds to those of counts */
	bool line_changed; /* the line differs in the sources of the other side */
};

struct paired_rows {
	struct paired_row *rows;
	size_t n_rows, cap_rows;

	/* Of row i in part k of a side: counts[side][i * n_parts[side] + k]. */
	struct paired_count *parts[N_SIDES];
	size_t n_parts[N_SIDES];

	/* private */
	enum view_by by;
	const struct object_match *objects;
	struct line_map *map;
	struct fault *fault;
	struct shares *names; /* the common names of rows */
	bool line_changed;    /* the line found last is not in the sources of both sides */
};

/* Borrows all. Without @map lines match by file and number. -ENOMEM. */
int paired_rows_new(struct paired_rows **ret, enum view_by by, const struct object_match *objects,
		    struct line_map *map, struct fault *fault);
struct paired_rows *paired_rows_free(struct paired_rows *paired);
DEFINE_CLEANUP(struct paired_rows *, paired_rows_free);

/*
 * Adds the rows of @shares; @profile is the whole profile of one side. Borrows the keys. -ENOMEM;
 * here and below another negative errno and the fault given to paired_rows_new() where sources
 * cannot be compared.
 */
int paired_rows_add(struct paired_rows *paired, enum side side, const struct profile *profile,
		    const struct shares *shares);

/* After the whole profiles of both sides: side @side has @n parts. Then add each part. -ENOMEM. */
int paired_rows_set_parts(struct paired_rows *paired, enum side side, size_t n);
int paired_rows_add_part(struct paired_rows *paired, enum side side, size_t part,
			 const struct profile *profile, const struct shares *shares);

/* The same for the row number @row alone; the part has @samples samples. */
void paired_rows_add_count(struct paired_rows *paired, enum side side, size_t part, size_t row,
			   const struct paired_count *count, uint64_t samples);

/* The number of the row of a key of @profile; n_rows or more if there is none. @numbers are from
 * object_match_number(). -ENOMEM. */
int64_t paired_rows_find(struct paired_rows *paired, enum side side, const struct profile *profile,
			 const uint32_t *numbers, const struct share_key *key);
