/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Closing a window: the trees of stacks and of streams. */
#pragma once

#include <stdint.h>

#include "common/builder/flush-locate.h"
#include "common/profile/profile.h"

/* Adds @stack, whose frame is at @address of process context number @context, to the profile, or to
 * its row there. Sets its process and frame. Its index, or -ENOMEM. */
int64_t flush_paths_add_stack(struct flush *f, struct profile_stack *stack, uint32_t context,
			      uint64_t address);

/* Add the tree of stacks, or of streams, to the profile. 0 or -ENOMEM. */
int flush_paths_stacks(struct flush *f);
int flush_paths_streams(struct flush *f);
