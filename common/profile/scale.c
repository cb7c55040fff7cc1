/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/scale.h"

#include <stddef.h>

#include "common/util/macro.h"

static void scale_streams(struct profile *p, uint64_t factor)
{
	for (size_t i = 0; i < p->n_streams; i++) {
		struct profile_stream *row = &p->streams[i];

		row->hits *= factor;
		row->pruned *= factor;
		row->cycles *= factor;
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
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block *row = &p->blocks[i];

		row->runs *= factor;
		row->cycles *= factor;
		row->cycles_rows *= factor;
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
	}
	scale_streams(profile, factor);
	scale_branches(profile, factor);
}

/* Those that count no samples of the tables, nor what came with them. */
static bool is_counted_once(size_t offset)
{
	static const size_t once[] = {
#define COUNTER(name) offsetof(struct profile_counters, name)
		COUNTER(weight),        COUNTER(samples_other_event), COUNTER(samples_guest),
		COUNTER(samples_limit), COUNTER(samples_estimated),   COUNTER(tasks_evicted),
		COUNTER(lost_records),  COUNTER(lost_samples),        COUNTER(skipped),
		COUNTER(throttled),     COUNTER(records_unknown),     COUNTER(out_of_order),
#undef COUNTER
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

	if (n == 1)
		return;
	profile_scale_rows(profile, n);
#define X(name, what)                                                  \
	if (!is_counted_once(offsetof(struct profile_counters, name))) \
		counters->name *= n;
	PROFILE_COUNTERS(X)
#undef X
	counters->samples_estimated += counters->samples - taken;
}

double profile_sample_unit(const struct profile_counters *counters)
{
	uint64_t estimated = counters->samples_estimated;

	if (estimated == 0 || estimated >= counters->samples)
		return 1;
	return (double)counters->samples / (double)(counters->samples - estimated);
}
