/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/parts.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"

int diff_parts_init(struct diff_parts *parts, const struct comparison *with, size_t n_rows)
{
	for (int side = 0; side < N_SIDES; side++) {
		size_t n = with->sources[side]->n_parts;

		parts->n[side] = n;
		parts->counts[side] = calloc(n_rows * n + 1, sizeof(*parts->counts[side]));
		parts->all[side] = calloc(n + 1, sizeof(*parts->all[side]));
		if (!parts->counts[side] || !parts->all[side])
			return -ENOMEM;
	}
	return 0;
}

void diff_parts_done(struct diff_parts *parts)
{
	for (int side = 0; side < N_SIDES; side++) {
		free(parts->counts[side]);
		free(parts->all[side]);
	}
}

void diff_parts_get(const struct diff_parts *parts, enum side side, size_t row,
		    struct significance_counts *ret)
{
	ret->parts = &parts->counts[side][row * parts->n[side]];
	ret->stride = 1;
	ret->all = parts->all[side];
	ret->n_parts = parts->n[side];
}

int diff_control(const void *rows, size_t n, diff_p_value p_value_of, double *ret_limit)
{
	_cleanup_free_ double *p_values = calloc(n + 1, sizeof(*p_values));
	size_t n_with_enough_data = 0;

	if (!p_values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		double p_value = p_value_of(rows, i);

		if (p_value >= 0)
			p_values[n_with_enough_data++] = p_value;
	}
	return significance_control(p_values, n_with_enough_data, ret_limit);
}
