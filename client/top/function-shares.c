/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top/function-shares.h"

#include <errno.h>
#include <stdlib.h>

#include "client/top/share.h"
#include "common/util/cleanup.h"

bool function_shares_suffice(enum view_by by, enum functions_by *ret)
{
	switch (by) {
	case VIEW_FUNCTION:
		*ret = FUNCTIONS_BY_FUNCTION;
		return true;
	case VIEW_OBJECT:
		*ret = FUNCTIONS_BY_OBJECT;
		return true;
	case VIEW_PROCESS:
		*ret = FUNCTIONS_BY_PROCESS;
		return true;
	case VIEW_COMM:
		*ret = FUNCTIONS_BY_COMM;
		return true;
	case VIEW_UNIT:
	case VIEW_CONTAINER: /* is in the name of its unit */
		*ret = FUNCTIONS_BY_UNIT;
		return true;
	case VIEW_USER:
		*ret = FUNCTIONS_BY_USER;
		return true;
	default:
		return false;
	}
}

static struct share_key key_of(const struct profile *profile, enum view_by by,
			       const struct functions_place *place, char buffer[CONTAINER_TEXT_MAX])
{
	const struct profile_function *function;
	struct share_key key = {};

	if (view_is_owner(by)) {
		share_key_set_owner(&key, by, profile, place->process, buffer);
		return key;
	}
	if (place->function == PROFILE_NONE)
		return (struct share_key){ .object = place->object };
	function = &profile->functions[place->function];
	return (struct share_key){
		.symbol = function->name,
		.start = function->start,
		.object = place->object,
	};
}

/* The row of each place. */
static int find_rows(struct shares *all, enum view_by by, const struct functions *functions,
		     size_t *rows)
{
	char buffer[CONTAINER_TEXT_MAX];

	for (size_t i = 0; i < functions->n_places; i++) {
		struct share_key key =
			key_of(functions->profile, by, &functions->places[i], buffer);
		int64_t row = shares_find(all, &key);

		if (row < 0)
			return (int)row;
		rows[i] = (size_t)row;
	}
	return 0;
}

static void add_part(struct function_shares *shares, const struct functions *functions, size_t part,
		     const size_t *rows)
{
	const struct functions_part *from = &functions->parts[part];
	struct function_shares_count *counts = &shares->counts[part * shares->all->n_rows];

	for (size_t i = 0; i < from->n_rows; i++) {
		const struct functions_row *row = &from->rows[i];
		uint32_t function = functions->places[row->place].function;
		size_t at = rows[row->place];

		shares->all->rows[at].self += row->self;
		shares->all->rows[at].total += row->total;
		shares->all->rows[at].total_variance += row->variance;
		counts[at].self += row->self;
		counts[at].total += row->total;
		if (function != PROFILE_NONE)
			call_cost_add(&shares->costs[function],
				      &(struct call_cost){ .calls = row->calls,
							   .runs = row->runs,
							   .timed_runs = row->timed_runs,
							   .cycles = row->cycles });
	}
}

static int fill(struct function_shares *shares, enum view_by by, const struct functions *functions)
{
	_cleanup_free_ size_t *rows = calloc(functions->n_places + 1, sizeof(*rows));
	int r;

	if (!rows)
		return -ENOMEM;
	r = shares_new(&shares->all);
	if (r >= 0)
		r = find_rows(shares->all, by, functions, rows);
	if (r < 0)
		return r;
	shares->costs = calloc(functions->profile->n_functions + 1, sizeof(*shares->costs));
	shares->counts =
		calloc(functions->n_parts * shares->all->n_rows + 1, sizeof(*shares->counts));
	if (!shares->costs || !shares->counts)
		return -ENOMEM;
	for (size_t i = 0; i < functions->n_parts; i++)
		add_part(shares, functions, i, rows);
	return 0;
}

int function_shares_new(struct function_shares **ret, enum view_by by,
			const struct functions *functions)
{
	_cleanup_(function_shares_freep) struct function_shares *shares =
		calloc(1, sizeof(*shares));
	int r = shares ? fill(shares, by, functions) : -ENOMEM;

	if (r < 0)
		return r;
	*ret = TAKE_PTR(shares);
	return 0;
}

struct function_shares *function_shares_free(struct function_shares *shares)
{
	if (!shares)
		return NULL;
	shares_free(shares->all);
	free(shares->costs);
	free(shares->counts);
	free(shares);
	return NULL;
}

const struct function_shares_count *function_shares_count_of(const struct function_shares *shares,
							     size_t part, size_t row)
{
	return &shares->counts[part * shares->all->n_rows + row];
}

int function_shares_view(struct shares **ret, enum view_by by, const struct functions *functions)
{
	_cleanup_(function_shares_freep) struct function_shares *counted = NULL;
	struct shares *all;
	size_t n = 0;
	int r = function_shares_new(&counted, by, functions);

	if (r < 0)
		return r;
	all = counted->all;
	for (size_t i = 0; i < all->n_rows; i++)
		if (all->rows[i].self > 0 || all->rows[i].total > 0)
			all->rows[n++] = all->rows[i];
	all->n_rows = n;
	if (n > 0)
		qsort(all->rows, n, sizeof(*all->rows), share_compare);
	*ret = TAKE_PTR(counted->all);
	return 0;
}
