/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of a sample that is counted record by record. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/record/event.h"

struct counted_snapshot {
	const struct branch_record *rows; /* newest first; borrowed */
	uint32_t n_rows;
	uint32_t context;
	bool gaps;     /* no run between two records is known */
	bool has_leaf; /* there is no call chain: the address counts as a record without target */
	uint64_t leaf, weight;
};

static inline uint64_t counted_snapshot_n_rows(const struct counted_snapshot *snapshot)
{
	return (uint64_t)snapshot->n_rows + snapshot->has_leaf;
}
