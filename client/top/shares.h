/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shares: rows with the samples taken in them (self), and in them or what they called (total).
 *
 * A view maps each node of the tree of stacks to rows; shares_count() walks the tree once and
 * counts. A sample counts for a row's total once, however often the row is in its stack.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"

/* The name of a row. The view decides which fields are used; the others are zero. */
struct share_key {
	const char *symbol; /* NULL: no symbol is known */
	const char
		*group; /* of processes: a unit, a name, a container, a user's number; NULL: none */
	const char *file; /* NULL: no source line is known */
	uint64_t start;   /* distinguishes functions of one name and object */
	uint32_t line;
	uint32_t object;  /* PROFILE_NONE: none */
	uint32_t process; /* index */
};

struct share {
	struct share_key key;
	uint64_t self;
	uint64_t total;
	/* What estimating adds to the variance of both. Where samples are counted by the row's
	 * function, it is of those alone that are elsewhere. */
	uint64_t self_variance, total_variance;
	uint64_t predicted, mispredicted; /* of the branches that start in it, if wanted; else 0 */
};

struct shares {
	struct share *rows;
	size_t n_rows, cap_rows;
	struct shares_index *index;
	struct strings *strings;
};

/* The rows a node belongs to: @n numbers in groups[] from @first, the innermost first. */
struct share_range {
	uint32_t first, n;
};

int shares_new(struct shares **ret);
struct shares *shares_free(struct shares *shares);
DEFINE_CLEANUP(struct shares *, shares_free);

/* The number of the row @key, which is added without counts if it is new; or -ENOMEM. */
int64_t shares_find(struct shares *shares, const struct share_key *key);

/* For qsort() of shares: largest self first, then largest total, then by keys. */
int share_compare(const void *p, const void *q);

/*
 * Counts the stacks of @profile: node i belongs to the rows of ranges[i]. Then sorts by
 * share_compare(), which invalidates row numbers. With @exact each row has all samples of the
 * functions whose samples it has. 0 or -ENOMEM.
 */
int shares_count(struct shares *shares, const struct profile *profile,
		 const struct share_range *ranges, const uint32_t *groups, bool exact);
