/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of spread.h that is of branch records. */
#pragma once

#include "common/profile/profile.h"
#include "common/profile/spread-share.h"

/*
 * Branches, blocks and streams stand for the samples of their process, of which @captured has one
 * for each. The variance of a sample that was captured itself is @unit. 0 or -ENOMEM.
 */
int spread_records(struct profile *profile, const struct spread_captured *captured, double unit);
