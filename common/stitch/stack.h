/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call stack of a sample, from what there is: its call chain, or in call-stack mode the rows,
 * stitched or alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record/event.h"
#include "common/stitch/stitch.h"

struct stack_frame {
	uint64_t address; /* to be shown: of a caller the return address or, from a row, its call */
	uint64_t place;   /* in the function; of a return address the byte before */
};

/* Zeroed it is empty; it can be filled again and again. */
struct stack {
	struct stack_frame *frames; /* the leaf first */
	size_t n, cap;
	size_t n_stitched; /* of these, the outermost that are from earlier samples' rows */
};

/*
 * The stack of a sample. @stitch NULL: by its own rows alone. Where there is neither chain nor row
 * it is empty, unless stitching knows it. 0 or -ENOMEM.
 */
int stack_fill(struct stack *stack, struct stitch *stitch, const struct event *event);

/* The same, but that callers which were stitched are left where they are, in *@ret. */
int stack_fill_above(struct stack *stack, struct stitch *stitch, const struct event *event,
		     struct stitched *ret);
void stack_done(struct stack *stack);
