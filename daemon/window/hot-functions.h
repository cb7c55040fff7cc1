/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions whose machine code is worth keeping. */
#pragma once

#include <stddef.h>

#include "common/profile/profile.h"

#define HOT_FUNCTIONS_MAX       32
#define HOT_FUNCTIONS_MAX_BYTES (64u << 10) /* longer functions are left out */

/*
 * The functions of the finalized @profile with at least a thousandth of its samples each, the
 * hottest first, that have a size and are of a file with a build-id: their numbers. 0 or -ENOMEM.
 */
int hot_functions_find(const struct profile *profile, size_t ret[HOT_FUNCTIONS_MAX], size_t *ret_n);
