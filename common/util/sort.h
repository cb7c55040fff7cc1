/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#define SORT_MAX_SIZE 64 /* bytes of an element */

/*
 * qsort() for what is mostly in order, as lists are that others have sorted: then each element is
 * compared about once. Equal elements keep their order, unless there is no memory for it.
 */
void sort_nearly(void *array, size_t n, size_t size, int (*compare)(const void *, const void *));
