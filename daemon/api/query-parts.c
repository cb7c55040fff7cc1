/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/query-parts.h"

#include <string.h>

#include "common/profile/filter.h"
#include "common/profile/tables.h"
#include "common/util/cleanup.h"

void query_drop_parts(struct query *q)
{
	for (size_t i = 0; i < q->n_parts; i++)
		if (!q->is_borrowed[i])
			profile_free(q->parts[i]);
	memset(q->is_borrowed, 0, sizeof(q->is_borrowed));
	q->n_parts = 0;
}

int query_add_filtered(struct query *q, const struct profile *profile)
{
	struct profile *part;
	int r = profile_filter(&part, profile, &q->request.filter);

	if (r < 0)
		return r;
	profile_drop_tables(part, ~q->request.tables);
	q->parts[q->n_parts++] = part;
	return 0;
}

int query_take_sum(struct query *q)
{
	_cleanup_(profile_freep) struct profile *sum = NULL;
	int r = window_sum_take(q->sum, &sum);

	q->sum = window_sum_free(q->sum);
	if (r < 0)
		return r;
	if (profile_filter_is_by_process(&q->request.filter))
		return query_add_filtered(q, sum); /* what is counted is what matches */
	q->parts[q->n_parts++] = TAKE_PTR(sum);
	return 0;
}

int query_add_up(struct query *q)
{
	struct profile *sum;
	int r;

	if (q->n_parts == 1 && !q->is_borrowed[0])
		return 0;
	r = profile_merge(&sum, (const struct profile *const *)q->parts, q->n_parts);
	if (r < 0)
		return r;
	query_drop_parts(q);
	q->parts[q->n_parts++] = sum;
	return 0;
}
