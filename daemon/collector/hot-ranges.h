/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which functions are hot: the thread that stores a window ranks them, and the one that collects
 * tells the BPF programs their addresses.
 */
#pragma once

#include "common/process/processes.h"
#include "common/profile/profile.h"
#include "daemon/sampler/ticks.h"

struct hot_places;

/* Zeroed there is no ranking. */
struct hot_ranges {
	struct hot_places *_Atomic next; /* that has not been told yet; NULL: none */
};

void hot_ranges_done(struct hot_ranges *hot);

/* From the next update on the functions are hot that hold at least @share in @profile; 0: all, as
 * before the first ranking. Without memory for it the ranking before stays. */
void hot_ranges_rank(struct hot_ranges *hot, const struct profile *profile, double share);

/*
 * Tells a ranking that is new, without processes that are gone, and functions of objects that are
 * not mapped any more. @ticks is NULL if there are none.
 */
void hot_ranges_update(struct hot_ranges *hot, struct ticks *ticks, struct processes *processes);
