/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/object/symbol-ranges.h"

#include <stdlib.h>

#include "common/util/compare.h"

static int compare_offsets(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return COMPARE(*a, *b);
}

int symbol_ranges_for_each(const struct symbol_table *table, uint64_t *offsets, size_t n,
			   symbol_ranges_handler handler, void *userdata)
{
	size_t i = SYMBOL_TABLE_NONE;
	uint64_t first, last = 0;

	if (n)
		qsort(offsets, n, sizeof(*offsets), compare_offsets);
	for (size_t at = 0; at < n; at++) {
		int r;

		if (at && offsets[at] <= last)
			continue;
		i = symbol_table_find_near(table, offsets[at], i);
		symbol_table_get_range(table, offsets[at], i, &first, &last);
		r = handler(first, last, i, userdata);
		if (r < 0)
			return r;
	}
	return 0;
}
