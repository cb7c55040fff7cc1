/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the kind of a branch. Most hardware does not report it, so it is read from the branch
 * instruction, if the binary is available.
 */
#pragma once

#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"
#include "common/util/macro.h"

struct branch_class;

/* For the branches of @profile. Borrows both. -ENOMEM. */
int branch_class_new(struct branch_class **ret, const struct profile *profile,
		     struct symbolizer *symbolizer);
struct branch_class *branch_class_free(struct branch_class *class);
DEFINE_CLEANUP(struct branch_class *, branch_class_free);

/*
 * Reads the instructions of @n branches in one go, so that branch_class_find() has them. 0 or
 * -ENOMEM.
 */
int branch_class_load(struct branch_class *class, const struct profile_branch *branches, size_t n);

/*
 * The kind of @branch: from the profile, else from its instruction; BRANCH_IRQ for a branch into
 * the kernel that is not a system call; BRANCH_UNKNOWN without either. -ENOMEM.
 */
int branch_class_find(struct branch_class *class, const struct profile_branch *branch,
		      enum branch_kind *ret);
