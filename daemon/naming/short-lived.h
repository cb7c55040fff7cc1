/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine that builds starts and ends hundreds of compilers in each window. Apart they would be
 * most of its rows, with a few samples each: they are counted together, as where windows are merged
 * with age (see struct profile_process).
 */
#pragma once

#include "common/profile/profile.h"

#define SHORT_LIVED_MIN 16u /* of fewer, each is kept apart */

/*
 * Makes one of the processes of one name, executable, unit and user that have both started and
 * exited since @profile began, where at least SHORT_LIVED_MIN have. Then the profile is no
 * longer finalized, and finalizing it adds up their rows. Without memory they stay apart.
 */
void short_lived_unite(struct profile *profile);
