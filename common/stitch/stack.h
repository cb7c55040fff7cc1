/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The call stack of a sample, from its call chain, or in call-stack mode from its branch records,
 * stitched or alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record/event.h"
#include "common/stitch/stitch.h"

struct stack_frame {
	uint64_t address; /* to show: the return address of a caller or, from a record, its call */
	uint64_t place;   /* in the function: for a return address the byte before it */
};

/* Zeroed it is empty; it can be filled again and again. */
struct stack {
	struct stack_frame *frames; /* the leaf first */
	size_t n, cap;
	/* Of @frames, the outermost ones, which are from records of earlier samples. */
	size_t n_stitched;
};

/* The stack of a sample. With @stitch NULL only its own records are used. Without a call chain and
 * records it is empty, unless stitching finds it. 0 or -ENOMEM. */
int stack_fill(struct stack *stack, struct stitch *stitch, const struct event *event);

/* As stack_fill(), except that stitched callers are not copied but returned in *@ret. */
int stack_fill_above(struct stack *stack, struct stitch *stitch, const struct event *event,
		     struct stitched *ret);

/* Adds a frame at the outer end. 0 or -ENOMEM. */
int stack_push(struct stack *stack, uint64_t address, uint64_t place);

/* Drops the outermost frames that are in user code. */
void stack_drop_user(struct stack *stack);
void stack_done(struct stack *stack);
