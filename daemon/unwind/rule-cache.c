/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Direct-mapped: a place is found by a multiplicative hash of the table's number and the offset. */
#include "daemon/unwind/rule-cache.h"

#include <string.h>

#define HASH_FACTOR 0x9e3779b97f4a7c15ull /* 2^64 divided by the golden ratio */

static struct rule_cache_place *place_of(struct rule_cache *cache, uint32_t number, uint32_t offset)
{
	uint64_t hash = ((uint64_t)number << 32 | offset) * HASH_FACTOR;

	return &cache->places[(hash >> 32) % RULE_CACHE_PLACES];
}

void rule_cache_clear(struct rule_cache *cache)
{
	memset(cache, 0, sizeof(*cache));
}

const struct unwind_rule *rule_cache_find(struct rule_cache *cache, uint32_t number,
					  const struct unwind_table *table, uint64_t offset,
					  bool *ret_by_fp)
{
	struct rule_cache_place *place = place_of(cache, number, (uint32_t)offset);
	const struct unwind_rule *rule;

	*ret_by_fp = false;
	if (place->table == number + 1 && place->offset == offset) /* all bits of it */
		return place->rule;
	rule = unwind_table_find(table, offset);
	if (!rule)
		*ret_by_fp = unwind_table_is_other_code(table, offset);
	else if (offset <= UINT32_MAX)
		*place = (struct rule_cache_place){ number + 1, (uint32_t)offset, rule };
	return rule;
}
