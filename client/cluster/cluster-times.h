/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counts of many hosts in consecutive parts of a span of time. */
#pragma once

#include "client/cluster/cluster-source.h"

/* Parts of whole minutes, hours or days. */
struct cluster_times {
	struct cluster_scope scope;
	struct cluster_question question;
	size_t n;            /* parts of question.part_s from question.where.span.start on */
	uint64_t *n_windows; /* of each part */
};

/*
 * At most @n_wanted parts. The caller calls cluster_times_done() also after a failure. -ENOENT and
 * @fault if no host has sent windows; -errno and @fault.
 */
int cluster_times_open(struct cluster_times *ret, const struct cluster_source_settings *settings,
		       size_t n_wanted, struct fault *fault);
void cluster_times_done(struct cluster_times *times);

/* All functions if @by is by function; of all units if @all_units. -errno and @fault. */
int cluster_times_count(struct functions **ret, struct cluster_times *times, enum cluster_by by,
			bool all_units, struct fault *fault);
