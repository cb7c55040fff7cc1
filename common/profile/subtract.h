/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was counted after a profile was taken, by a later one of the same sampling. */
#pragma once

#include "common/profile/profile.h"

/*
 * *@ret is a new finalized profile: @whole without what is in @part, both finalized; its info is
 * that of @whole. @part was taken earlier, of the same window or recording. What was learned since
 * is no difference: an object is found by its file if its build-id was not known yet, a process by
 * its number if its unit was not. Samples of a stack that has been pruned since are taken from its
 * callers. A count that is still larger in @part becomes 0. 0 or -ENOMEM.
 */
int profile_subtract(struct profile **ret, const struct profile *whole, const struct profile *part);
