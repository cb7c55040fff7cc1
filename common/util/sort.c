/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Each element is put where it belongs among those before it, until too many had to make room. */
void sort_nearly(void *array, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	char *elements = array, moved[SORT_MAX_SIZE];
	size_t n_moves = 0;

	assert(size <= sizeof(moved));
	for (size_t i = 1; i < n; i++) {
		size_t to = i;

		while (to > 0 && n_moves < n &&
		       compare(elements + (to - 1) * size, elements + i * size) > 0) {
			to--;
			n_moves++;
		}
		if (to < i) {
			memcpy(moved, elements + i * size, size);
			memmove(elements + (to + 1) * size, elements + to * size, (i - to) * size);
			memcpy(elements + to * size, moved, size);
		}
		if (n_moves >= n) {
			qsort(array, n, size, compare);
			return;
		}
	}
}
