/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hosts whose windows count, with one window for all of each. */
#pragma once

#include "client/cluster/cluster-sql.h"
#include "client/cluster/cluster.h"
#include "client/source/profile-source.h"

struct cluster_hosts {
	struct profile_source_host
		*rows; /* by name; each with one window, the sum of its windows */
	size_t n, cap;
	uint64_t lost;
	char *event; /* NULL: they differ */
};

/* -errno and @fault; none at all is no failure. */
int cluster_hosts_load(struct cluster_hosts *ret, struct cluster *cluster,
		       const struct cluster_where *where, struct fault *fault);
void cluster_hosts_done(struct cluster_hosts *hosts);

/* The number of the host; -ENOENT. */
int64_t cluster_hosts_find(const struct cluster_hosts *hosts, const char *name);
