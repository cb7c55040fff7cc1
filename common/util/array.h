/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growing a plain array: a pointer, a count and a capacity kept by its owner. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * Makes room for @n elements of @size bytes in the heap array at *@p, whose capacity is *@cap
 * elements; it at least doubles, so that appending is cheap. The new part is not initialised.
 * 0, or -ENOMEM with everything as it was.
 */
int array_reserve_raw(void *p, size_t *cap, size_t n, size_t size);

/* ARRAY_RESERVE(&x->rows, &x->cap_rows, x->n_rows + 1) */
#define ARRAY_RESERVE(p, cap, n) array_reserve_raw(p, cap, n, sizeof(**(p)))

/* Sets *@p to a new heap array of @n elements, not NULL even where @n is 0. 0 or -ENOMEM. */
#define ARRAY_ALLOCATE(p, n) ((*(p) = reallocarray(NULL, (n) ?: 1, sizeof(**(p)))) ? 0 : -ENOMEM)

/* The same, zeroed. */
#define ARRAY_ALLOCATE_ZEROED(p, n) ((*(p) = calloc((n) ?: 1, sizeof(**(p)))) ? 0 : -ENOMEM)
