/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/missing.h"

#include "client/view/counters.h"
#include "common/util/macro.h"
#include "common/util/percent.h"

static void add_windows(struct missing *missing, const struct windows *windows)
{
	for (size_t i = 0; i < windows->n; i++) {
		uint64_t gap_us =
			i > 0 ? windows_gap_us(&windows->rows[i - 1], &windows->rows[i]) : 0;

		missing->sampled_us += windows->rows[i].length_us;
		missing->gaps_us += gap_us;
		missing->n_gaps += gap_us > 0;
	}
}

struct missing missing_of(const struct profile_source *source)
{
	const struct profile *profile = source->profile ?: source->all;
	const struct profile_info *info = &profile->info;
	struct missing missing = { .lost = counters_lost(&profile->counters) };

	if (source->is_recording)
		missing.sampled_us = (info->end_ns - info->start_ns) / 1000;
	else
		add_windows(&missing, &source->windows);
	for (size_t i = 0; i < source->n_hosts; i++)
		add_windows(&missing, &source->hosts[i].windows);
	missing.removed_us = MIN(source->removed_us, missing.gaps_us);
	missing.n_removed = MIN(source->n_removed, missing.n_gaps);
	missing.gaps_us -= missing.removed_us;
	missing.n_gaps -= missing.n_removed;
	missing.lost_percent =
		percent_of(missing.lost, missing.lost + profile_source_machine_samples(source));
	missing.estimated_percent =
		percent_of(source->all->counters.samples_estimated, source->all->counters.samples);
	missing.captured_percent = 100 - percent_of(source->all->counters.samples_ticked,
						    source->all->counters.samples);
	return missing;
}
