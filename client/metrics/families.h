/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metrics that are members of the daemon's status: their names, units and labels. */
#pragma once

#include <stddef.h>

#include "client/metrics/labels.h"

#define FAMILY_MAX_SERIES 12

/* One value of a family: the member of the status, as in "store.bytes", and the value of the label.
 */
struct family_series {
	const char *path, *value;
};

struct family {
	const char *name; /* without "_total" */
	enum metric_type type;
	const char *unit; /* the last word of the name; NULL: a plain number */
	const char *help;
	double divisor;                                 /* of the member to the unit; 0: 1 */
	const char *label;                              /* NULL: the family has one series */
	struct family_series series[FAMILY_MAX_SERIES]; /* up to one without a path */
};

extern const struct family families[];
extern const size_t n_families;
