/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/profile/limit/limit.h"
#include "common/profile/tables.h"

void store_merge_done(struct store_merge *merge)
{
	merge->sum = profile_free(merge->sum);
}

/* Rare rows go: what they counted stays in the sums, see limit.h. 0 or -ENOMEM. */
static int limit_sum(struct profile *sum)
{
	bool has_branches = sum->n_streams + sum->n_branches + sum->n_blocks > 0;
	int r = profile_limit_all(sum, PROFILE_ALL_TABLES,
				  has_branches ? STORE_SUM_ALL_ROWS : STORE_SUM_ROWS);

	return r > 0 ? profile_finalize(sum) : r;
}

int store_merge_make(struct store_merge *merge, struct store_read *read, struct store_gone *gone)
{
	bool found[STORE_MAX_MERGED] = { false };
	struct store_batch batch = {
		.windows = merge->windows,
		.found = found,
		.n = merge->n,
		.max_rows = SIZE_MAX,
		.merged_to = merge->windows[merge->n - 1].id,
	};
	size_t n;
	int r;

	r = store_gone_prepare(gone, &batch);
	if (r >= 0)
		r = store_read_windows(read, &batch, &n, &merge->sum);
	for (size_t i = 0; r >= 0 && i < merge->n; i++)
		if (!found[i])
			r = -ENOENT;
	return r < 0 ? r : limit_sum(merge->sum);
}
