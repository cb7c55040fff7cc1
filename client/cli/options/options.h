/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the command line says. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/cli/options/command-id.h"
#include "client/cluster/cluster-source.h"
#include "client/export/export.h"
#include "client/metrics/labels.h"
#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/top/top.h"

#define OPTIONS_DEFAULT_ROWS 20
#define OPTIONS_MAX_CHANGED  64
#define OPTIONS_MAX_EVENTS   16
#define OPTIONS_N_FILTERS    8
#define OPTIONS_MAX_HOSTS    2
#define OPTIONS_MAX_BUILDS   2

/* All strings are the command line's, but for @lists and @addresses. */
struct options {
	enum command_id command;
	struct profile_source_settings source; /* without parts; its event is events[0] */
	const char *events[OPTIONS_MAX_EVENTS];
	size_t n_events;
	char *lists[OPTIONS_N_FILTERS];       /* those of source.filter */
	const char *hosts[OPTIONS_MAX_HOSTS]; /* of -H; see host.h */
	size_t n_hosts;
	char *addresses[OPTIONS_MAX_HOSTS];        /* those of the sockets */
	const char *host_list;                     /* top: the path of a list of hosts */
	uint64_t host_timeout_us;                  /* 0: not given */
	struct cluster_settings cluster;           /* of --cluster; without a url there is none */
	char *cluster_hosts;                       /* that of @cluster */
	const char *build_ids[OPTIONS_MAX_BUILDS]; /* of diff, one of each side; else one */
	size_t n_build_ids;
	struct output_settings output;
	bool json;

	bool follow; /* windows */

	/* top; diff and dump --samples share some */
	struct top_settings top;
	bool by_given;
	bool rows_given;
	bool once;
	uint64_t every_us; /* top and run; 0: one report */
	size_t order;      /* of the rows, see top-order.h */

	/* diff */
	const char *new_window; /* source.window is the old one */
	const char *new_socket; /* its daemon's, as source.socket is that of source.window */
	const char *before, *after;
	const char *changed[OPTIONS_MAX_CHANGED];
	size_t n_changed;
	double percent_limit; /* of top, too; negative: not given */
	bool all;
	bool find_change;            /* source.window is all there is */
	enum view_by views[N_VIEWS]; /* those of --by, top.by first */
	size_t n_views;

	/* annotate */
	const char *symbol;
	bool with_source;

	/* mark */
	const char *mark; /* its name; NULL: list them */
	bool list_marks, delete_mark;

	enum metrics_format metrics_format; /* metrics */

	/* vacuum; 0: not given */
	uint64_t max_bytes, keep_us;

	/* run */
	char *const *argv; /* the command; NULL: not given */
	bool self;         /* without the daemon */

	/* dump */
	bool samples, branches;

	/* export and flame; of a flame graph with --diff source.window and new_window are the sides
	 */
	const struct export_format *export_format;
	const char *output_path; /* export: NULL for stdout; flame: "-" for stdout */
	bool open;
};
