/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/other.h"

struct other_sums other_sum_up(const struct profile *profile)
{
	struct other_sums sums = {};

	for (size_t i = 0; i < profile->n_branches; i++)
		if (other_is_branch(&profile->branches[i]))
			sums.taken += profile->branches[i].taken;
	for (size_t i = 0; i < profile->n_streams; i++)
		if (other_is_stream(&profile->streams[i]))
			sums.hits += profile->streams[i].hits;
	for (size_t i = 0; i < profile->n_blocks; i++)
		if (other_is_block(&profile->blocks[i])) {
			sums.runs += profile->blocks[i].runs;
			sums.cycles += profile->blocks[i].cycles;
		}
	return sums;
}
