/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counting the rows of snapshots: which of them can be believed, and how long the runs between these are. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/builder/counted-snapshot.h"
#include "common/builder/row-table.h"

struct row_counter {
	struct row_table table;
	uint64_t n_zero, n_wrong_path; /* rows set aside */
	uint64_t n_runs;               /* those between rows that are not */
};

/* At most @max_counts distinct rows. 0 or -ENOMEM. */
int row_counter_init(struct row_counter *counter, size_t max_counts);
void row_counter_done(struct row_counter *counter);

/* 0 or -ENOMEM. */
int row_counter_add(struct row_counter *counter, const struct counted_snapshot *snapshot);
