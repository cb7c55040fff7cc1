/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order in which rows of counts are written: that of their keys in the database. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The key of a row behind its window, and which row of the profile it is. */
struct row_order_key {
	int64_t process, a, b;
	size_t index;
};

struct row_order {
	struct row_order_key *rows;
	size_t n, cap;
};

/* Empties @order, and makes room for @n rows. 0 or -ENOMEM. */
int row_order_begin(struct row_order *order, size_t n);
void row_order_done(struct row_order *order);

static inline void row_order_add(struct row_order *order, int64_t process, int64_t a, int64_t b,
				 size_t index)
{
	order->rows[order->n++] = (struct row_order_key){ process, a, b, index };
}

void row_order_sort(struct row_order *order);
