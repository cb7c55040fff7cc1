/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The store's counts by function, object, process and so on. */
#include <errno.h>

#include "common/util/cleanup.h"
#include "daemon/store/open.h"
#include "daemon/store/store.h"

/* The ids of a sum are of one database. */
static int begin(struct store *store, struct function_sum *sum, struct fault *fault)
{
	int r = store_want_to_read(store, fault);

	if (r < 0)
		return r;
	if (sum->database != 0 && sum->database != store->n_opened)
		return fault_set(fault, -EAGAIN,
				 "%s: another database is in its place since: try again",
				 store->path);
	sum->database = store->n_opened;
	return 0;
}

/* Ends what was read, with the result @r. */
static int end(struct store *store, int r, struct fault *fault)
{
	struct fault why;

	database_roll_back(store->database); /* nothing was written */
	if (r >= 0)
		return r;
	r = database_explain(store->database, r, fault);
	why = *fault;
	if (store_heal(store, r, &why) == 0) /* not tried again: the sum is void */
		*fault = why;
	return r;
}

int store_read_functions(struct store *store, struct window *window,
			 const struct profile_filter *filter, struct function_sum *sum,
			 struct fault *fault)
{
	int r = begin(store, sum, fault);

	if (r < 0)
		return r;
	r = database_begin_reading(store->database);
	if (r >= 0)
		r = store_functions_read(&store->functions, &store->read, window, filter, sum);
	return end(store, r, fault);
}

int store_end_slot(struct store *store, struct function_sum *sum, struct count_slot **ret,
		   struct fault *fault)
{
	_cleanup_(count_slot_freep) struct count_slot *slot = NULL;
	int r = count_slot_end(sum, &slot);

	if (r < 0)
		fault_set(fault, r, "%s: out of memory", store->path);
	if (r <= 0)
		return r;
	r = begin(store, sum, fault);
	if (r < 0)
		return r;
	slot->database = store->n_opened;
	slot->n_pruned = store->reduce.n_pruned;
	r = database_begin_reading(store->database);
	if (r >= 0)
		r = store_slots_end(&store->functions.slots, slot);
	r = end(store, r, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(slot);
	return 1;
}

int store_add_slot(struct store *store, const struct count_slot *slot, struct function_sum *sum,
		   struct fault *fault)
{
	int r = begin(store, sum, fault);

	if (r < 0 || slot->database != store->n_opened || slot->n_pruned != store->reduce.n_pruned)
		return MIN(r, 0);
	r = database_begin_reading(store->database);
	if (r >= 0)
		r = store_slots_add(&store->functions.slots, &store->read.lookup, slot, sum);
	return end(store, r, fault);
}

int store_name_functions(struct store *store, struct function_sum *sum, struct fault *fault)
{
	int r;

	if (sum->n_named == sum->n_rows)
		return 0;
	r = begin(store, sum, fault);
	if (r < 0)
		return r;
	r = database_begin_reading(store->database);
	if (r >= 0)
		r = store_owners_name(&store->functions.owners, sum);
	return end(store, r, fault);
}

int store_find_programs(struct store *store, struct program_sum *programs, struct function_sum *sum,
			struct fault *fault)
{
	int r = begin(store, sum, fault);

	if (r < 0)
		return r;
	r = database_begin_reading(store->database);
	if (r >= 0)
		r = store_programs_find(&store->functions.programs, programs, sum);
	return end(store, r, fault);
}
