/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/slots.h"

#include "common/util/macro.h"
#include "daemon/rows/function-rows.h"

static const char *const sql[] = { "SELECT count(*) FROM window WHERE id BETWEEN ? AND ?" };

int store_slots_init(struct store_slots *slots, struct database *database,
		     struct store_owners *owners, struct store_executables *executables)
{
	slots->owners = owners;
	slots->executables = executables;
	return database_prepare(database, sql, ARRAY_SIZE(sql), &slots->count);
}

/* 0 or -errno. */
static int count_windows(struct store_slots *slots, const struct count_slot *slot, int64_t *ret)
{
	struct statement *row = slots->count;

	STATEMENT_BIND(row, slot->first, slot->last);
	return MIN(statement_first(row, ret, 1), 0);
}

int store_slots_end(struct store_slots *slots, struct count_slot *slot)
{
	return count_windows(slots, slot, &slot->n_windows);
}

static int64_t find_row(struct store_slots *slots, struct store_lookup *lookup,
			struct function_sum *sum, const struct count_slot_row *row)
{
	if (function_sum_is_of_owners(sum->by))
		return store_owners_row(slots->owners, sum, row->id, row->flags & SLOT_IS_GONE);
	if (row->flags & SLOT_IS_OBJECT)
		return function_rows_find_object(lookup, sum, row->id);
	return function_rows_find(lookup, sum, MAX(row->id, (int64_t)0), -MIN(row->id, (int64_t)0));
}

static int add_slot(struct store_slots *slots, struct store_lookup *lookup,
		    const struct count_slot *slot, struct function_sum *sum)
{
	struct count_slot_row row = { 0 };
	size_t at = 0;
	int64_t r = 0;

	while (r >= 0 && count_slot_next(slot, &at, &row)) {
		r = find_row(slots, lookup, sum, &row);
		if (r < 0)
			break;
		function_tally_add(&sum->rows[r].tally, &row.tally);
		sum->rows[r].n_gone += row.n_gone;
	}
	for (size_t i = 0; r >= 0 && i < slot->n_executables; i++)
		r = store_executables_add(slots->executables, sum, slot->executables[i]);
	return r < 0 ? (int)r : function_sum_add_head(sum, slot->head);
}

int store_slots_add(struct store_slots *slots, struct store_lookup *lookup,
		    const struct count_slot *slot, struct function_sum *sum)
{
	int64_t n = 0;
	int r = count_windows(slots, slot, &n);

	if (r < 0 || n != slot->n_windows)
		return r;
	store_lookup_begin(lookup, sum->names);
	r = add_slot(slots, lookup, slot, sum);
	store_lookup_end(lookup);
	return r < 0 ? r : 1;
}
