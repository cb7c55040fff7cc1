/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limiting what users take of a profile by long names, which they can choose: of functions in files
 * that others than root may write and in generated code, of such files, and of the programs of
 * processes that are not root's.
 */
#pragma once

#include <stddef.h>

#include "common/profile/profile.h"

/*
 * Where all such names together have more than @max_bytes, those longer than @max_name are
 * truncated to that, with "..." at the end. 1: then the profile is not finalized any more; 0:
 * nothing was truncated; or -ENOMEM, with some of it truncated.
 */
int profile_limit_names(struct profile *profile, size_t max_bytes, size_t max_name);
