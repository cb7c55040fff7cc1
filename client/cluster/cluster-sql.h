/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The questions to the server. All that a user or a host has named goes into them as quoted
 * strings, here and nowhere else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/cluster/cluster-names.h"
#include "client/cluster/cluster-span.h"

/* Which rows count. */
struct cluster_where {
	bool all_servers; /* see cluster_has_all() */
	struct cluster_time span;
	enum cluster_grain coarsest;               /* of the tables that are asked */
	const struct cluster_names *hosts, *units; /* NULL: all */
	/* Lists of hexadecimal digits that a build-id begins with; NULL: any. Only the minutes,
	 * hours and days of a host count in which the first ran, and none of the others. */
	const char *build_id, *without_build_id;
};

enum cluster_by {
	CLUSTER_BY_FUNCTION,
	CLUSTER_BY_UNIT,
	CLUSTER_BY_HOST,
};

enum cluster_parts {
	CLUSTER_WHOLE,
	CLUSTER_PART_HOST,
	CLUSTER_PART_TIME, /* multiples of @part_s since the start of the span */
};

struct cluster_question {
	struct cluster_where where;
	enum cluster_by by;
	enum cluster_parts parts;
	uint64_t part_s; /* a multiple of the coarsest grain */
};

/*
 * What has been counted: rows of the part (nothing, a host, a number), the key of the names, and
 * the samples in it and below it. Heap; NULL: out of memory.
 */
char *cluster_sql_counts(const struct cluster_question *question);
#define CLUSTER_COUNTS_CELLS 4

/*
 * The names: rows of the key, two names (object and symbol; a unit, or a host, and nothing), and
 * the build-id of all of that, if it is one. By the names.
 */
char *cluster_sql_names(const struct cluster_question *question);
#define CLUSTER_NAMES_CELLS 4

/*
 * Rows of each host, by name: windows, samples, lost, microseconds sampled, start and end, the
 * least and the largest name of an event, and of a mode. Units do not count.
 */
char *cluster_sql_hosts(const struct cluster_where *where);
#define CLUSTER_HOSTS_CELLS 11

/* Windows by part of time: rows of its number, and how many there are. */
char *cluster_sql_windows(const struct cluster_question *question);

/* All hosts, or all units, in the days of the span. */
char *cluster_sql_host_names(const struct cluster_where *where);
char *cluster_sql_unit_names(const struct cluster_where *where);
