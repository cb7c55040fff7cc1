/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sorts and searches the rows of a view, for the live display and for --sort.
 */
#pragma once

#include <stddef.h>

#include "client/top/top.h"

/* The number of a view's orders; number 0 is the default. */
size_t top_n_orders(enum view_by by);
const char *top_order_name(enum view_by by, size_t order);
/* What --sort calls it; NULL: nothing, or there is no such order. */
const char *top_order_word(enum view_by by, size_t order);
/* The order of the view by @by that --sort calls @word; -EINVAL. */
int top_order_parse(size_t *ret, enum view_by by, const char *word);
/* Of functions, objects and the like: by what they and their callees take. */
#define TOP_ORDER_TOTAL        1
/* Of branches: by the lower bound of the mispredicted share. */
#define TOP_ORDER_MISPREDICTED 3
void top_sort(struct top *top, size_t order);

/*
 * Keeps the rows with @text in their names (functions, files, objects, processes, units), ignoring
 * case; of a tree also the rows above and below them. 0 or -ENOMEM.
 */
int top_search(struct top *top, const char *text);
