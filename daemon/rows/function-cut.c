/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/function-cut.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/compare.h"

struct ranked {
	size_t row;
	uint64_t self;
};

static int compare_self(const void *p, const void *q)
{
	const struct ranked *a = p, *b = q;

	return COMPARE(b->self, a->self);
}

/* Sorts them, most first: returns how many of them stay. */
static size_t choose(struct ranked *ranked, size_t n_ranked, size_t n)
{
	if (n_ranked <= n)
		return n_ranked;
	qsort(ranked, n_ranked, sizeof(*ranked), compare_self);
	while (n > 0 && n < n_ranked && ranked[n].self == ranked[n - 1].self)
		n++;
	return n;
}

static bool is_empty(const struct function_sum_row *row)
{
	return row->tally.self == 0 && row->tally.total == 0;
}

/* Drops the rows that are not in @keeps. */
static void drop_rows(struct function_sum *sum, const bool *keeps)
{
	size_t n = 0;

	for (size_t i = 0; i < sum->n_rows; i++)
		if (keeps[i])
			sum->rows[n++] = sum->rows[i];
	sum->n_rows = n;
}

int function_cut_processes(struct function_sum *sum, size_t n, size_t *ret)
{
	_cleanup_free_ struct ranked *ranked = calloc(sum->n_rows + 1, sizeof(*ranked));
	_cleanup_free_ bool *keeps = calloc(sum->n_rows + 1, sizeof(*keeps));
	size_t n_ranked = 0, n_kept;

	if (!ranked || !keeps)
		return -ENOMEM;
	for (size_t i = 0; i < sum->n_rows; i++)
		if (sum->rows[i].id <= 0)
			keeps[i] = true;
		else if (!is_empty(&sum->rows[i]))
			ranked[n_ranked++] = (struct ranked){ i, sum->rows[i].tally.self };
	n_kept = choose(ranked, n_ranked, n);
	for (size_t i = 0; i < n_kept; i++)
		keeps[ranked[i].row] = true;
	*ret = n_ranked - n_kept;
	drop_rows(sum, keeps);
	return 0;
}
