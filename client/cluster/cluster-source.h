/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counts of many hosts in a span of time, as a source. */
#pragma once

#include <stdio.h>

#include "client/cluster/cluster-counts.h"
#include "client/cluster/cluster-hosts.h"
#include "client/cluster/cluster-sql.h"
#include "client/cluster/cluster.h"
#include "client/source/profile-source.h"

struct cluster_settings {
	const char *url;   /* http:// or https:// */
	const char *hosts; /* a list of names and patterns; NULL: all */
	/* Lists of the first hexadecimal digits of build-ids; NULL: any. See struct cluster_where.
	 */
	const char *build_id, *without_build_id;
};

struct cluster_source_settings {
	struct cluster_settings cluster;
	/* @window and its filters of units, objects and symbols count. */
	struct profile_source_settings source;
	enum cluster_by by;
	bool by_host; /* each host is a part: see profile_source.parts */
};

/* *@ret has functions, and as its hosts those that have sent windows. -errno and @fault. */
int cluster_source_open(struct profile_source **ret, const struct cluster_source_settings *settings,
			struct fault *fault);

/* Says if the filters leave nothing. */
void cluster_source_say(const struct profile_source *source, FILE *f);

/* What is asked of which server. The caller calls cluster_scope_done() also after a failure. */
struct cluster_scope {
	struct cluster *cluster;
	struct cluster_where where; /* borrows the names below */
	struct cluster_names hosts, units;
};

/* The names are looked up. -errno and @fault. */
int cluster_scope_open(struct cluster_scope *ret, const struct cluster_source_settings *settings,
		       struct fault *fault);
void cluster_scope_done(struct cluster_scope *scope);
