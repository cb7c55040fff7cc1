/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What profile_merge() and profile_subtract() share. */
#pragma once

#include "common/profile/profile.h"

/* Adds the rows of @p to @sum, which is to be finalized afterwards. Not its counters. 0 or -ENOMEM.
 */
int profile_append(struct profile *sum, const struct profile *p);
