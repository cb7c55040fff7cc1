/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is counted of a sample row by row. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/record/event.h"

struct counted_snapshot {
	const struct branch_record *rows; /* newest first; they stay whoever's they are */
	uint32_t n_rows;
	uint32_t context;
	bool gaps;     /* of no run between two rows anything is known */
	bool has_leaf; /* it has no call chain: its address is counted as a row that leads nowhere
			*/
	uint64_t leaf, weight;
};

static inline uint64_t counted_snapshot_n_rows(const struct counted_snapshot *snapshot)
{
	return (uint64_t)snapshot->n_rows + snapshot->has_leaf;
}
