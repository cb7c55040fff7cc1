/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top/trends.h"

#include <errno.h>
#include <stdlib.h>

#include "client/top/function-shares.h"
#include "client/top/share-identity.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

struct trends_row {
	uint64_t identity;
	size_t number; /* in the shares */
};

static int compare_rows(const void *p, const void *q)
{
	const struct trends_row *a = p, *b = q;

	return COMPARE(a->identity, b->identity);
}

static void fill(struct trends *trends, enum view_by by, const struct function_shares *counted,
		 const struct functions *functions)
{
	for (size_t row = 0; row < trends->n_rows; row++) {
		const struct share_key *key = &counted->all->rows[row].key;

		trends->rows[row] = (struct trends_row){
			.identity = share_identity(functions->profile, by, key),
			.number = row,
		};
		for (size_t part = 0; part < trends->n_points; part++) {
			uint64_t samples = functions->parts[part].samples;
			uint64_t self = function_shares_count_of(counted, part, row)->self;

			trends->shares[row * trends->n_points + part] =
				samples > 0 ? (double)self / (double)samples : -1;
		}
	}
	qsort(trends->rows, trends->n_rows, sizeof(*trends->rows), compare_rows);
}

int trends_new(struct trends **ret, enum view_by by, const struct functions *functions)
{
	_cleanup_(function_shares_freep) struct function_shares *counted = NULL;
	_cleanup_(trends_freep) struct trends *trends = calloc(1, sizeof(*trends));
	int r = trends ? function_shares_new(&counted, by, functions) : -ENOMEM;

	if (r < 0)
		return r;
	trends->n_points = functions->n_parts;
	trends->n_rows = counted->all->n_rows;
	trends->rows = calloc(trends->n_rows + 1, sizeof(*trends->rows));
	trends->shares = calloc(trends->n_rows * trends->n_points + 1, sizeof(*trends->shares));
	if (!trends->rows || !trends->shares)
		return -ENOMEM;
	fill(trends, by, counted, functions);
	*ret = TAKE_PTR(trends);
	return 0;
}

struct trends *trends_free(struct trends *trends)
{
	if (!trends)
		return NULL;
	free(trends->rows);
	free(trends->shares);
	free(trends);
	return NULL;
}

const double *trends_find(const struct trends *trends, uint64_t identity)
{
	const struct trends_row wanted = { .identity = identity };
	const struct trends_row *row =
		bsearch(&wanted, trends->rows, trends->n_rows, sizeof(wanted), compare_rows);

	return row ? &trends->shares[row->number * trends->n_points] : NULL;
}
