/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Call stacks for people: one by one, or as a tree. */
#pragma once

#include "client/term/output.h"
#include "client/view/place.h"
#include "client/view/stack.h"
#include "client/view/tree.h"

/*
 * A blank line, then "12.00%  34 samples, 5.0 of 45 frames stitched", of @samples in all, then the
 * frames, each "    1234 symbol+0x12 (object)": the object always in full. 0 or -ENOMEM.
 */
int stack_text_write(const struct places *places, struct output *output,
		     const struct view_stacks *stacks, const struct view_stack *stack,
		     uint64_t samples);

/* Lines that it takes. */
size_t stack_text_lines(const struct view_stacks *stacks, const struct view_stack *stack);

/* A line of headings, and @n rows from number @first on, of @samples in all. 0 or -ENOMEM. */
int stack_text_write_tree(const struct places *places, struct output *output,
			  const struct view_tree *tree, enum view_tree_first order, size_t first,
			  size_t n, uint64_t samples);
