/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which rows of a view, and in what order: for who looks at it live.
 */
#pragma once

#include <stddef.h>

#include "client/view/top.h"

/* The orders a view has; number 0 is the one it comes in. */
size_t top_n_orders(enum view_by by);
const char *top_order_name(enum view_by by, size_t order);
#define TOP_ORDER_MISPREDICTED                                             \
	3 /* of VIEW_BRANCH: by how large a share is mispredicted at least \
	   */
void top_sort(struct top *top, size_t order);

/*
 * Keeps the rows that have @text anywhere in their names (functions, files, objects, processes,
 * units), in upper or lower case; of a tree those above and below these, too. 0 or -ENOMEM.
 */
int top_search(struct top *top, const char *text);
