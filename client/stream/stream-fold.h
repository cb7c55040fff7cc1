/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folds the loops of a branch path: equal turns that follow each other become one, also where the
 * number of turns of an inner loop differs. A turn that the end of the path has cut is left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/stream/stream.h"

/* The frames of a branch by number. */
struct stream_branch {
	uint32_t to, from;
	bool to_changed, from_changed;
};

struct stream_fold_step {
	struct stream_branch branch;
	struct location to, from;
	double cycles;         /* the sum of the means of all turns */
	uint32_t n_loop;       /* it is the last of that many branches that are a turn; 0: none */
	uint32_t fewest, most; /* turns */
};

struct stream_fold {
	struct stream_fold_step steps[VIEW_STREAM_MAX_ROWS];
	size_t n;
};

/* The path of @view that ends in @node, newest branch first. */
void stream_fold_path(struct stream_fold *ret, const struct view_streams *view,
		      const struct stream_branch *branches, uint32_t node);
