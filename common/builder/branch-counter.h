/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the branch records of snapshots: which of them are valid, and how long the runs between
 * the valid ones are. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/builder/branch-table.h"
#include "common/builder/counted-snapshot.h"

/* It shares no cache line with what the owner of a thread that counts uses meanwhile. */
struct branch_counter {
	_Alignas(128) struct branch_table table;
	uint64_t n_zero, n_wrong_path; /* skipped records */
	uint64_t n_runs;               /* between records that were not skipped */
};

/* At most @max_counts distinct records. 0 or -ENOMEM. */
int branch_counter_init(struct branch_counter *counter, size_t max_counts);
void branch_counter_done(struct branch_counter *counter);

/* 0 or -ENOMEM. */
int branch_counter_add(struct branch_counter *counter, const struct counted_snapshot *snapshot);
