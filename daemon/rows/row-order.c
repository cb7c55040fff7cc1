/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/row-order.h"

#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/compare.h"

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
	return ARRAY_RESERVE(&order->rows, &order->cap, n);
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
