/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Removes the kernel's addresses from a profile before unprivileged users get it. */
#pragma once

#include "common/profile/profile.h"

/*
 * Replaces the finalized *@profile by one without the load addresses of the kernel and its modules,
 * and without locations in kernel code outside of all objects. Names and offsets stay. 0, or
 * -ENOMEM with *@profile unchanged.
 */
int profile_redact(struct profile **profile);

/* The offset that profile_redact() gives to a location of @profile. */
uint64_t profile_redact_offset(const struct profile *profile, struct location at);
