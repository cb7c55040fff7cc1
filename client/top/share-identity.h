/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stays the same of a row of shares from one profile to the next: its names, as a number. Two
 * rows have one number with a probability of 2^-64.
 */
#pragma once

#include <stdint.h>

#include "client/top/shares.h"
#include "client/view/view.h"
#include "common/profile/profile.h"

/* Adds to @hash (fnv.h) a place in code: the object's path, and the offset. */
uint64_t identity_add_location(uint64_t hash, const struct profile *profile, struct location at);

/* Of a row of the view @by. */
uint64_t share_identity(const struct profile *profile, enum view_by by,
			const struct share_key *key);
