/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The share of a function, an object or some processes over time: the daemon's closed windows of a
 * span of time, gathered into points of about equal length.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/cluster/cluster-source.h"
#include "client/history/change.h"
#include "client/history/counts.h"
#include "client/source/profile-source.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

#define HISTORY_MAX_POINTS 200 /* as many parts as the daemon makes */

struct history_settings {
	/*
	 * @window to @socket count. By the filter's symbol and object the samples of those
	 * functions are counted, of all samples of the processes that it selects. Without both all
	 * samples of the processes are counted, of all of the machine.
	 */
	struct profile_source_settings source;
	struct cluster_settings cluster; /* instead of @socket, if it has a URL */
	size_t n_points;                 /* at most, 1 to HISTORY_MAX_POINTS */
};

/* A point without windows has no samples, because nobody took any. */
struct history_point {
	uint64_t start_us, end_us;
	size_t n_windows;
	uint64_t samples;        /* 100 percent */
	uint64_t self, total;    /* of them */
	uint64_t total_variance; /* what estimating adds to that of @total */
};

/* The clearest change of self, or of total if self is 0. */
struct history_found {
	uint64_t time_us;         /* 0: none is larger than noise */
	size_t point;             /* that has the time, or begins at it */
	struct significance test; /* what is before it against the rest */
};

struct history {
	struct history_windows windows;
	struct history_point *points; /* in the order of time */
	size_t n_points;
	struct history_point sum; /* of all points */
	bool has_total;           /* else the totals are 0: only functions have them */
	/* Searched for in parts of the points, so that it hardly depends on how many are shown. */
	struct history_found change;
	struct profile *names; /* of what was counted, with its counters */
	char *similar; /* where a function is not hot: those with its name in theirs that are; or
			  NULL */
};

/* -ENOENT and @fault if no window matches, or nothing in them; -errno and @fault. */
int history_new(struct history **ret, const struct history_settings *settings, struct fault *fault);

/* Of how many samples one is independent of the others, in the self of the point, or in its total
 * if the sum has no self. */
double history_unit(const struct history *history, const struct history_point *point);
struct history *history_free(struct history *history);
DEFINE_CLEANUP(struct history *, history_free);
