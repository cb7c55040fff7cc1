/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the stack of the current sample, which the builder has put together. */
#pragma once

#include "common/builder/builder-state.h"
#include "common/record/event.h"

/* Counts it in the tree, its period only the @first time. 1 if the leaf is still to be counted with
 * the records: there is no call chain, or the tree of stacks is full. Thus the samples of the
 * function itself stay exact. 0, or -ENOMEM. */
int count_stack(struct builder *b, uint32_t context, const struct sample *s, bool first);

/* Whether the tree has room for it beside those that wait to be counted. */
bool count_stack_may_wait(const struct builder *b);

/* The number of its frames, and the address of the innermost; there is one. */
size_t count_stack_depth(const struct builder *b);
uint64_t count_stack_leaf(const struct builder *b);
