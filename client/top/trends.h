/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the share of each row of a view moved: in consecutive parts of the time, as the daemon
 * counts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/rpc/functions.h"
#include "client/view/view.h"
#include "common/util/macro.h"

struct trends {
	size_t n_points;
	struct trends_row *rows; /* by identity */
	size_t n_rows;
	double *shares; /* by row and point: those of self; -1 where nobody sampled */
};

/* Of @functions counted for this view, which are not borrowed. -ENOMEM. */
int trends_new(struct trends **ret, enum view_by by, const struct functions *functions);
struct trends *trends_free(struct trends *trends);
DEFINE_CLEANUP(struct trends *, trends_free);

/* The points of the row of that share_identity(), the oldest first; NULL: it had no samples. */
const double *trends_find(const struct trends *trends, uint64_t identity);
