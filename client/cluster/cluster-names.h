/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that a list of the user's, with patterns in it, means. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/cluster/cluster.h"

struct cluster_names {
	char **names;
	size_t n, cap;
};

void cluster_names_done(struct cluster_names *names);

/* Which names the rows have, and which of them to keep. */
struct cluster_names_wanted {
	const char *what; /* "host" or "unit" */
	const char *list; /* of the user */
	const char *sql;  /* its answer has a name in each row */
	bool (*is_in)(const char *name, const char *list);
};

/* -ENOENT and @fault, which says what there is, if there is none; -errno and @fault. */
int cluster_names_find(struct cluster_names *ret, struct cluster *cluster,
		       const struct cluster_names_wanted *wanted, struct fault *fault);
