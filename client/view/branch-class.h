/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What kind of branch a branch is. Most hardware does not say, so the instruction it came from is
 * looked at, where the program is at hand.
 */
#pragma once

#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"
#include "common/util/macro.h"

struct branch_class;

/* Of the branches of @profile. Both are borrowed. -ENOMEM. */
int branch_class_new(struct branch_class **ret, const struct profile *profile,
		     struct symbolizer *symbolizer);
struct branch_class *branch_class_free(struct branch_class *class);
DEFINE_CLEANUP(struct branch_class *, branch_class_free);

/*
 * The kind of @branch: as the profile has it; else by its instruction, and BRANCH_IRQ where this is
 * no branch and leads into the kernel. BRANCH_UNKNOWN where neither is known. -ENOMEM.
 */
int branch_class_find(struct branch_class *class, const struct profile_branch *branch,
		      enum branch_kind *ret);
