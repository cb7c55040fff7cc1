/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counting the rows of snapshots: which of them can be believed, and how long the runs between
 * these are. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/builder/branch-table.h"
#include "common/builder/counted-snapshot.h"

struct branch_counter {
	struct branch_table table;
	uint64_t n_zero, n_wrong_path; /* rows set aside */
	uint64_t n_runs;               /* those between rows that are not */
};

/* At most @max_counts distinct rows. 0 or -ENOMEM. */
int branch_counter_init(struct branch_counter *counter, size_t max_counts);
void branch_counter_done(struct branch_counter *counter);

/* 0 or -ENOMEM. */
int branch_counter_add(struct branch_counter *counter, const struct counted_snapshot *snapshot);
