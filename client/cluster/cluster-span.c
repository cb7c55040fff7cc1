/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cluster/cluster-span.h"

#include <errno.h>

#include "client/source/window-ref.h"
#include "common/util/macro.h"

#define US        1000000
#define RECENT_US (3600 * (uint64_t)US)

static const uint64_t seconds[N_CLUSTER_GRAINS] = { 60, 3600, 86400 };

uint64_t cluster_grain_s(enum cluster_grain grain)
{
	return seconds[grain];
}

static int refuse(const struct window_ref *ref, struct fault *fault)
{
	if (ref->kind == WINDOW_REF_RECORDING)
		return fault_set(fault, -EINVAL,
				 "--cluster is for what hosts have sent: leave it "
				 "out for a recording");
	return fault_set(fault, -EINVAL,
			 "'%s' is a window of one daemon, and a cluster has those of many: give a "
			 "span of time, as in -1h or 10:00..10:10",
			 ref->text);
}

static bool is_time(const struct window_bound *bound)
{
	return bound->kind == BOUND_TIME || bound->kind == BOUND_NONE;
}

int cluster_span_of(struct cluster_time *ret, const struct profile_source_settings *settings,
		    struct fault *fault)
{
	uint64_t since_us, until_us, n_newest;
	struct window_ref ref;
	int r = profile_source_parse_window(settings, &ref, fault);

	if (r < 0)
		return r;
	if (ref.kind == WINDOW_REF_RECORDING ||
	    (ref.kind != WINDOW_REF_RECENT && (!is_time(&ref.first) || !is_time(&ref.last))))
		return refuse(&ref, fault);
	window_ref_span(&ref, &since_us, &until_us, &n_newest);
	if (ref.kind == WINDOW_REF_RECENT) /* sums of ten minutes come late */
		since_us = settings->now_us - RECENT_US;
	until_us = MIN(until_us, settings->now_us + 60 * (uint64_t)US); /* clocks differ */
	ret->start = since_us / US / 60 * 60;
	ret->end = (until_us + 60 * (uint64_t)US - 1) / US / 60 * 60;
	if (ret->start < ret->end)
		return 0;
	return fault_set(fault, -ENOENT, "nothing was sent yet of '%s': it is in the future",
			 ref.text ?: "the last hour");
}

void cluster_span_split(struct cluster_piece ret[N_CLUSTER_GRAINS], struct cluster_time span,
			enum cluster_grain coarsest)
{
	struct cluster_time within = span;

	for (int grain = 0; grain < N_CLUSTER_GRAINS; grain++) {
		uint64_t next = grain < (int)coarsest ? seconds[grain + 1] : 0;
		struct cluster_time whole = {};

		ret[grain] = (struct cluster_piece){};
		if (grain > (int)coarsest)
			continue;
		if (next > 0)
			whole = (struct cluster_time){ (within.start + next - 1) / next * next,
						       within.end / next * next };
		if (whole.start >= whole.end) { /* no larger grain has a part */
			ret[grain].times[0] = within;
			within = (struct cluster_time){};
			continue;
		}
		ret[grain].times[0] = (struct cluster_time){ within.start, whole.start };
		ret[grain].times[1] = (struct cluster_time){ whole.end, within.end };
		within = whole;
	}
}
