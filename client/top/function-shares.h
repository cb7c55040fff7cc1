/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The views by function, object, process and unit of what the daemon counted, and their rows in
 * each part of the time.
 */
#pragma once

#include "client/rpc/functions.h"
#include "client/top/call-cost.h"
#include "client/top/shares.h"
#include "client/view/view.h"
#include "common/util/macro.h"

struct function_shares_count {
	uint64_t self, total;
};

struct function_shares {
	struct shares *all;                   /* unsorted; the objects are those of the profile */
	struct call_cost *costs;              /* by function of the profile */
	struct function_shares_count *counts; /* by part and row: see function_shares_count_of() */
};

/* True if such counts are all that the view takes, and *@ret is how they are to be counted. */
bool function_shares_suffice(enum view_by by, enum functions_by *ret);

/* Of @functions counted for this view. -ENOMEM. */
int function_shares_new(struct function_shares **ret, enum view_by by,
			const struct functions *functions);
struct function_shares *function_shares_free(struct function_shares *shares);
DEFINE_CLEANUP(struct function_shares *, function_shares_free);

/*
 * The rows with samples alone, hottest first, as view_shares() has them. What is borrowed from
 * @functions remains so. -ENOMEM.
 */
int function_shares_view(struct shares **ret, enum view_by by, const struct functions *functions);

/* What row @row of all counted in part @part. */
const struct function_shares_count *function_shares_count_of(const struct function_shares *shares,
							     size_t part, size_t row);
