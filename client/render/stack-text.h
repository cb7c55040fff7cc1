/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Call stacks for people: one by one, or as a tree. */
#pragma once

#include "client/stack/stack.h"
#include "client/stack/tree.h"
#include "client/term/output.h"
#include "client/view/place.h"

struct stack_text {
	const struct places *places;
	const struct view_stacks *stacks;
	uint64_t samples; /* of all stacks */
	uint64_t machine; /* of all processes of the machine; 0: these are all */
	bool verbose;     /* addresses as symbol+0x12/0x40, the object with its whole path */
};

/*
 * Row @i: a blank line, then "12.00%  34 samples, 5.0 of 45 frames stitched", then the frames, each
 * " 1234 symbol+0x12 (object)" with the object in full, or " 1234 symbol ×41 (object)" of a
 * recursion. If it is the @first one shown or begins a group, the group's function and samples
 * follow the blank line. 0 or -ENOMEM.
 */
int stack_text_write(const struct stack_text *text, struct output *output, size_t i, bool first);

/* The number of its lines, without those of a group. */
size_t stack_text_lines(const struct view_stacks *stacks, const struct view_stack *stack);

struct stack_text_tree {
	const struct places *places;
	const struct view_tree *tree;
	enum view_tree_first order;
	size_t first, n;  /* the rows to write */
	uint64_t samples; /* all of them */
};

/* A line of headings, and the rows. 0 or -ENOMEM. */
int stack_text_write_tree(const struct stack_text_tree *what, struct output *output);
