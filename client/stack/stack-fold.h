/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folds recursion: frames of one function that follow each other become one, and stacks that differ
 * only in their number become one. A program of recursive calls has as many stacks as depths, and
 * none of them is hot.
 */
#pragma once

#include "client/stack/stack.h"
#include "common/symbol/symbolizer.h"

/*
 * *@ret has the rows of @stacks, which is of @profile, with recursion folded, hottest first. A
 * leaf, and a caller that stands for several frames, is its whole function; code without a symbol
 * is what code_unit_find() says, with @symbolizer. 0 or -ENOMEM.
 */
int view_stacks_fold(struct view_stacks **ret, const struct view_stacks *stacks,
		     const struct profile *profile, struct symbolizer *symbolizer);
