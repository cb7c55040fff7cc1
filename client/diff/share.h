/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shares of two profiles side by side, by function, line, object, process or unit; and which
 * differences are significant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/diff/comparison.h"
#include "client/stats/significance.h"
#include "client/top/shares.h"
#include "client/view/view.h"

/* A row as it is on one side. */
struct diff_share_end {
	bool there;
	struct share_key key; /* of that side's profile */
	uint64_t self, total;
	double per_call; /* cycles of its own code; 0 where unknown */
};

struct diff_share {
	struct diff_share_end ends[N_SIDES];
	struct significance self, total;
	bool significant, total_significant;
	enum change change;
};

struct diff_shares {
	enum view_by by;
	struct diff_share *rows; /* significant ones first, then by the size of the difference */
	size_t n_compared;       /* including rows below the limit */
	size_t n_rows, n_significant;
	struct shares *names[N_SIDES];            /* the rows borrow their keys from these */
	struct function_shares *counted[N_SIDES]; /* or these, where the daemon counted functions */
};

/*
 * The rows of view @by, without insignificant ones that have less than @percent_limit on both
 * sides. 0, or -errno and @fault.
 */
int diff_shares_new(struct diff_shares **ret, enum view_by by, const struct comparison *with,
		    bool inlined, double percent_limit, struct fault *fault);
struct diff_shares *diff_shares_free(struct diff_shares *shares);
DEFINE_CLEANUP(struct diff_shares *, diff_shares_free);

/* The side whose key names the row: the new side where it has the row. */
enum side diff_share_side(const struct diff_share *row);
