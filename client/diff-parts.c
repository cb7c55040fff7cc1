/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff-parts.h"

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
		    struct noise_counts *ret)
{
	ret->parts = &parts->counts[side][row * parts->n[side]];
	ret->stride = 1;
	ret->all = parts->all[side];
	ret->n_parts = parts->n[side];
}

int diff_control(const void *rows, size_t n, diff_chance chance_of, double *ret_limit)
{
	_cleanup_free_ double *chances = calloc(n + 1, sizeof(*chances));
	size_t n_telling = 0;

	if (!chances)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		double chance = chance_of(rows, i);

		if (chance >= 0)
			chances[n_telling++] = chance;
	}
	return noise_control(chances, n_telling, ret_limit);
}
