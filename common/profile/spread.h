/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where only some samples were captured with their stacks, the others (ticks) are known by process
 * and address. They are spread over the captured ones: each captured stack of a function of a
 * process stands for as many samples of it as all others. This is the ratio estimate after
 * stratification by function (Cochran, Sampling Techniques, 1977, 5A.9): the samples of each
 * function, object and process stay exact. Branches, blocks and streams stand for the samples of
 * their process. A captured sample of a cold function has counted
 * several times, in inverse proportion to its probability. What that is beyond one is its surplus,
 * which is taken away: no view is biased by the choice.
 */
#pragma once

#include "common/profile/profile.h"
#include "common/profile/spread-share.h" /* SPREAD_COLD_WEIGHT */

/*
 * Spreads the ticks of a profile that is finalized, and is so afterwards. Of a function without a
 * captured stack the ticks become samples at their addresses; for their callers those of other
 * functions of the process stand, see spread-callers.h, if any were captured. 0; or -ENOMEM:
 * then the profile can only be freed.
 *
 * counters.samples_ticked has the number of ticks, and stacks_variance what estimating adds to the
 * variance of the samples of a stack, beyond samples_variance.
 */
int profile_spread_ticks(struct profile *profile);
