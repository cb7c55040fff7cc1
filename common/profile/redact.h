/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the unprivileged may not learn from a profile, though it is of their own processes. */
#pragma once

#include "common/profile/profile.h"

/*
 * Replaces the sealed *@profile by one without addresses of the kernel: where it and its modules
 * were loaded, and places in kernel code that belongs to no object. Names and offsets stay. 0 or
 * -ENOMEM, with *@profile as it was.
 */
int profile_redact(struct profile **profile);

/* What the offset of a place in @profile becomes. */
uint64_t profile_redact_offset(const struct profile *profile, struct location at);
