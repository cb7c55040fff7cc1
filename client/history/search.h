/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which functions became hotter or colder within a span of time, and when: each function's share in
 * 24 parts of the windows is searched for a change, and where there is one, the two parts around it
 * are parted again, until the parts are single windows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/history/counts.h"
#include "client/source/profile-source.h"
#include "client/stats/significance.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct history_moved {
	char *symbol, *object;    /* NULL: code in no function, in no object */
	size_t window;            /* the number of the first window after the change */
	struct significance test; /* of self: the windows before (old) against the others (new) */
};

struct history_search {
	struct history_windows windows;
	uint64_t samples;           /* of all windows */
	struct history_moved *rows; /* the largest difference first */
	size_t n_rows;
	size_t n_left_out; /* rows beyond the limit */
	bool filtered;     /* by processes: the shares are of those */
	bool within_noise; /* nothing changed by more: the rows are the largest differences */
};

/* At most @max_rows; within noise few. -ENOENT and @fault if there are too few windows; -errno and
 * @fault. */
int history_search_new(struct history_search **ret, const struct profile_source_settings *settings,
		       size_t max_rows, struct fault *fault);
struct history_search *history_search_free(struct history_search *search);
DEFINE_CLEANUP(struct history_search *, history_search_free);
