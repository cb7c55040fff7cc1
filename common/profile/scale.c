/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/scale.h"

#include <assert.h>
#include <stddef.h>

#include "common/util/macro.h"

/*
 * What is estimated grows as the count does: before the profile is spread it is a part of the
 * count, and afterwards rows are negated alone (subtract.c), which takes their variances away.
 */
static void scale_streams(struct profile *p, uint64_t factor)
{
	for (size_t i = 0; i < p->n_streams; i++) {
		struct profile_stream *row = &p->streams[i];

		row->hits *= factor;
		row->pruned *= factor;
		row->cycles *= factor;
		row->surplus *= factor;
	}
}

static void scale_branches(struct profile *p, uint64_t factor)
{
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch *row = &p->branches[i];

		row->taken *= factor;
		row->mispredicted *= factor;
		row->predicted *= factor;
		row->aborted *= factor;
		row->cycles *= factor;
		row->cycles_rows *= factor;
		row->surplus *= factor;
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block *row = &p->blocks[i];

		row->runs *= factor;
		row->cycles *= factor;
		row->cycles_rows *= factor;
		row->surplus *= factor;
	}
}

void profile_scale_rows(struct profile *profile, uint64_t factor)
{
	for (size_t i = 0; i < profile->n_processes; i++)
		profile->processes[i].samples *= factor;
	for (size_t i = 0; i < profile->n_stacks; i++) {
		struct profile_stack *row = &profile->stacks[i];

		row->samples *= factor;
		row->stitched *= factor;
		row->pruned *= factor;
		row->ticks *= factor;
		row->surplus *= factor;
	}
	scale_streams(profile, factor);
	scale_branches(profile, factor);
}

/* Those that count no samples, nor what came with them. */
static bool is_counted_once(size_t offset)
{
	static const size_t once[] = {
		offsetof(struct profile_counters, weight),
		offsetof(struct profile_counters, samples_estimated),
		offsetof(struct profile_counters, samples_variance),
		offsetof(struct profile_counters, stacks_variance),
		offsetof(struct profile_counters, tasks_evicted),
		offsetof(struct profile_counters, lost_records),
		offsetof(struct profile_counters, throttled),
		offsetof(struct profile_counters, records_unknown),
		offsetof(struct profile_counters, out_of_order),
	};

	for (size_t i = 0; i < ARRAY_SIZE(once); i++)
		if (once[i] == offset)
			return true;
	return false;
}

void profile_scale_samples(struct profile *profile, uint64_t n)
{
	struct profile_counters *counters = &profile->counters;
	uint64_t taken = counters->samples;

	assert(!profile->spread);
	if (n == 1)
		return;
	profile_scale_rows(profile, n);
#define X(name, what)                                                  \
	if (!is_counted_once(offsetof(struct profile_counters, name))) \
		counters->name *= n;
	PROFILE_COUNTERS(X)
#undef X
	counters->samples_estimated += counters->samples - taken;
	/* each of the samples taken has the variance n² instead of the n of n samples */
	counters->samples_variance += (counters->samples - taken) * n;
}

double profile_sample_unit(const struct profile_counters *counters)
{
	double samples = (double)counters->samples;

	return samples > 0 ? (samples + (double)counters->samples_variance) / samples : 1;
}

double profile_row_unit(const struct profile_counters *counters, uint64_t count, uint64_t variance)
{
	double unit = profile_sample_unit(counters);

	if (count > 0)
		return unit + (double)variance / (double)count;
	return unit + (counters->samples > 0 ?
			       (double)counters->stacks_variance / (double)counters->samples :
			       0);
}

double profile_stack_unit(const struct profile_counters *counters, uint64_t count,
			  uint64_t variance, uint64_t of_functions)
{
	double all = (double)counters->samples, n = (double)count, excess;

	if (count == 0 || count == counters->samples || of_functions == 0)
		return profile_row_unit(counters, count, variance);
	excess = (double)variance / n;
	excess *= MAX(1 - n / (double)of_functions, 0.0) / (1 - n / all);
	return profile_sample_unit(counters) + excess;
}

void profile_share_estimated(struct profile_counters *part, const struct profile_counters *all)
{
	double share = all->samples > 0 ? (double)part->samples / (double)all->samples : 0;

	part->samples_estimated = (uint64_t)((double)all->samples_estimated * share);
	part->samples_variance = (uint64_t)((double)all->samples_variance * share);
	part->samples_ticked = (uint64_t)((double)all->samples_ticked * share);
	part->stacks_variance = (uint64_t)((double)all->stacks_variance * share);
}
