/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Closing a window: what was counted by raw address becomes a profile. */
#pragma once

#include "common/builder/builder-state.h"
#include "common/process/processes.h"
#include "common/profile/profile.h"

/*
 * Turns the counts of @builder into rows of its profile, which is not finalized then: those of
 * stacks and ticks, or all, and then the process contexts are released, too. 0, or -ENOMEM: then
 * the builder can only be freed.
 */
int flush_builder(struct builder *builder, const struct processes *processes, bool only_stacks);
