/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rules of the places that stacks lead through most. Stacks have most of their frames in common
 * with those before, and a search through a large table misses the processor's cache a few times.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/unwind/table.h"

#define RULE_CACHE_PLACES 16384 /* a power of two; 256 KiB */

/* Zeroed: nothing is remembered. */
struct rule_cache {
	struct rule_cache_place {
		uint32_t table; /* its number and 1; 0: free */
		uint32_t offset;
		const struct unwind_rule *rule; /* borrowed from the table */
	} places[RULE_CACHE_PLACES];
};

/* To be called whenever a number gets another table, or tables are freed. */
void rule_cache_clear(struct rule_cache *cache);

/*
 * What unwind_table_find() says of @table, which has that number. Where it says NULL, *@ret_by_fp
 * is what unwind_table_is_other_code() says, and false elsewhere.
 */
const struct unwind_rule *rule_cache_find(struct rule_cache *cache, uint32_t number,
					  const struct unwind_table *table, uint64_t offset,
					  bool *ret_by_fp);
