/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "common/profile/profile.h"

/*
 * Leaves out the rows that count nothing, and processes to which no other row refers. The profile
 * was finalized, and is to be again. 0; or -ENOMEM: then only some are left out.
 */
int profile_drop_empty(struct profile *profile);
