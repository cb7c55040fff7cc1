/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/function-rows.h"

#include <errno.h>

static int64_t add_row(struct store_lookup *lookup, struct function_sum *sum, int64_t function,
		       int64_t object)
{
	struct location at = { .offset = UINT64_MAX };
	const struct profile *names = sum->names;
	const char *name = NULL;
	int r;

	r = function != 0 ? store_lookup_function(lookup, function, &at) :
			    store_lookup_object(lookup, object, &at.object);
	if (r < 0)
		return r;
	if (function != 0)
		name = names->functions[names->n_functions - 1]
			       .name; /* it was not looked up before */
	return function_sum_add_row(sum, function, object, at, name);
}

int64_t function_rows_find(struct store_lookup *lookup, struct function_sum *sum, int64_t function,
			   int64_t object)
{
	int64_t row = function_sum_find(sum, function, object);

	return row == -ENOENT ? add_row(lookup, sum, function, object) : row;
}

int64_t function_rows_find_object(struct store_lookup *lookup, struct function_sum *sum,
				  int64_t object)
{
	int64_t row = function_sum_find_other(sum, SUM_OBJECT, object);
	uint32_t index;
	int r;

	if (row != -ENOENT)
		return row;
	r = store_lookup_object(lookup, object, &index);
	return r < 0 ? r : function_sum_add_other(sum, SUM_OBJECT, object, index);
}
