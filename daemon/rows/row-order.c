/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/row-order.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/compare.h"
#include "common/util/macro.h"

static int compare_keys(const void *x, const void *y)
{
	const struct row_order_key *a = x, *b = y;

	RETURN_UNLESS_EQUAL(COMPARE(a->process, b->process));
	RETURN_UNLESS_EQUAL(COMPARE(a->a, b->a));
	return COMPARE(a->b, b->b);
}

int row_order_begin(struct row_order *order, size_t n)
{
	order->n = 0;
	if (n <= order->cap)
		return 0;
	free(TAKE_PTR(order->rows)); /* instead of growing: nothing in it is needed */
	order->cap = 0;
	if (ARRAY_ALLOCATE(&order->rows, n) < 0)
		return -ENOMEM;
	order->cap = n;
	return 0;
}

void row_order_done(struct row_order *order)
{
	free(order->rows);
}

void row_order_sort(struct row_order *order)
{
	if (order->n > 0)
		qsort(order->rows, order->n, sizeof(*order->rows), compare_keys);
}
