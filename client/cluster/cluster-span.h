/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A span of time as the tables of sums have it: whole days by those of a day, whole hours before
 * and behind these by those of an hour, and the rest by those of a minute. Days are those of UTC.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/source/profile-source.h"

enum cluster_grain {
	CLUSTER_MINUTE,
	CLUSTER_HOUR,
	CLUSTER_DAY,
	N_CLUSTER_GRAINS,
};

/* Seconds since 1970. */
struct cluster_time {
	uint64_t start, end;
};

/* The times to take from the table of one grain: some may be empty. */
struct cluster_piece {
	struct cluster_time times[2];
};

uint64_t cluster_grain_s(enum cluster_grain grain);

/*
 * The whole minutes that have all of what @settings name. -EINVAL and @fault if that is no span of
 * time, but windows of a daemon or a recording.
 */
int cluster_span_of(struct cluster_time *ret, const struct profile_source_settings *settings,
		    struct fault *fault);

/* @span, which begins and ends with multiples of a minute, by grains up to @coarsest. */
void cluster_span_split(struct cluster_piece ret[N_CLUSTER_GRAINS], struct cluster_time span,
			enum cluster_grain coarsest);
