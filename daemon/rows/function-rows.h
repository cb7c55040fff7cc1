/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of functions and objects in a sum, by their ids in the database; those seen for the
 * first time are named at once, for the database may change until they are sent. */
#pragma once

#include <stdint.h>

#include "daemon/database/lookup.h"
#include "daemon/rows/function-sum.h"

/* The row of a function, or of what is in none of an object, if @function is 0; or -errno. The
 * lookup is that of sum->names. */
int64_t function_rows_find(struct store_lookup *lookup, struct function_sum *sum, int64_t function,
			   int64_t object);
/* The row of an object as a whole. */
int64_t function_rows_find_object(struct store_lookup *lookup, struct function_sum *sum,
				  int64_t object);
