/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the servers counted, in the shape of a daemon's counts. */
#pragma once

#include "client/cluster/cluster-hosts.h"
#include "client/cluster/cluster-sql.h"
#include "client/cluster/cluster.h"
#include "client/rpc/functions.h"

struct cluster_counts_settings {
	const struct cluster_question *question;
	const struct cluster_hosts *hosts; /* the parts, where the question has hosts as parts */
	size_t n_times;                    /* the same where it has times */
	const char *object, *symbol;       /* only these rows, see profile_filter; or NULL */
};

/*
 * Of hosts, and of units, *@ret has processes: their comm is the name of a host, or their unit that
 * of a unit. Functions have a number in place of a start; the profile is not finalized. Its samples
 * are those of the rows that @settings leave, those of the parts are of all rows.
 *
 * -errno and @fault.
 */
int cluster_counts_load(struct functions **ret, struct cluster *cluster,
			const struct cluster_counts_settings *settings, struct fault *fault);
