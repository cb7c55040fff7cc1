/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Brings the stacks together that end in the same function, so that a reader finds the function
 * first, then the ways to it.
 */
#pragma once

#include "client/stack/stack.h"

/* Gives each row the group of its leaf function: code without symbols is one function of its
 * object. 0 or -ENOMEM. */
int view_stacks_add_groups(struct view_stacks *stacks, const struct profile *profile);

/*
 * Sorts the first @n rows by their leaf function, that with most samples first; those of one
 * function stay in their order. The groups count all rows, also those past @n. 0 or -ENOMEM.
 */
int view_stacks_group(struct view_stacks *stacks, const struct profile *profile, size_t n);

/* Whether row @i begins a group: it has another leaf function than the row before. */
bool view_stacks_begins_group(const struct view_stacks *stacks, size_t i);
