/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines of the two text formats, which differ in a few heads. */
#pragma once

#include <stdio.h>

enum metric_type { METRIC_GAUGE, METRIC_COUNTER };

enum metrics_format {
	METRICS_OPENMETRICS, /* as an endpoint serves it */
	METRICS_PROMETHEUS,  /* as node_exporter reads files */
};

/* What stands above the series of a family; @name is without "_total", @unit may be NULL. */
struct metric_head {
	const char *name, *unit, *help;
	enum metric_type type;
};
void metric_write_head(FILE *f, enum metrics_format format, const struct metric_head *head);

/* The name with what its type adds. */
void metric_write_name(FILE *f, const char *name, enum metric_type type);

/* NAME="VALUE", where the value may have any bytes: those that are no text are escaped. -ENOMEM. */
int metric_write_label(FILE *f, const char *name, const char *value);
