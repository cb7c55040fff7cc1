/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/function-shares.h"

#include <errno.h>
#include <stdlib.h>

#include "client/view/share.h"
#include "common/util/cleanup.h"

static struct share_key key_of(const struct profile *profile, const struct functions_place *place)
{
	const struct profile_function *function;

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
static int find_rows(struct shares *all, const struct functions *functions, size_t *rows)
{
	for (size_t i = 0; i < functions->n_places; i++) {
		struct share_key key = key_of(functions->profile, &functions->places[i]);
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

static int fill(struct function_shares *shares, const struct functions *functions)
{
	_cleanup_free_ size_t *rows = calloc(functions->n_places + 1, sizeof(*rows));
	int r;

	if (!rows)
		return -ENOMEM;
	r = shares_new(&shares->all);
	if (r >= 0)
		r = find_rows(shares->all, functions, rows);
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

int function_shares_new(struct function_shares **ret, const struct functions *functions)
{
	_cleanup_(function_shares_freep) struct function_shares *shares =
		calloc(1, sizeof(*shares));
	int r = shares ? fill(shares, functions) : -ENOMEM;

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
