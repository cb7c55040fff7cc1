/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds the counts of a row to those of another one with the same key. */
#pragma once

#include "common/profile/profile.h"

static inline void add_counts_of_stack(struct profile_stack *sum, const struct profile_stack *row)
{
	sum->samples += row->samples;
	sum->stitched += row->stitched;
	sum->weight += row->weight;
	sum->pruned += row->pruned;
	sum->ticks += row->ticks;
	sum->variance += row->variance;
}

static inline void add_counts_of_stream(struct profile_stream *sum,
					const struct profile_stream *row)
{
	sum->hits += row->hits;
	sum->pruned += row->pruned;
	sum->cycles += row->cycles;
	sum->variance += row->variance;
}

static inline void add_counts_of_branch(struct profile_branch *sum,
					const struct profile_branch *row)
{
	sum->kind = branch_kind_merge(sum->kind, row->kind);
	sum->taken += row->taken;
	sum->mispredicted += row->mispredicted;
	sum->predicted += row->predicted;
	sum->aborted += row->aborted;
	sum->cycles += row->cycles;
	sum->cycles_rows += row->cycles_rows;
	sum->variance += row->variance;
}

static inline void add_counts_of_block(struct profile_block *sum, const struct profile_block *row)
{
	sum->runs += row->runs;
	sum->cycles += row->cycles;
	sum->cycles_rows += row->cycles_rows;
	sum->variance += row->variance;
}
