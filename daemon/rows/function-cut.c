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

/* In terms of the finished names. */
static int compare_places(const struct location *a, const struct location *b)
{
	RETURN_UNLESS_EQUAL(COMPARE(a->object, b->object));
	return COMPARE(a->offset, b->offset);
}

static int compare_rows(const void *p, const void *q)
{
	const struct function_sum_row *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(a->kind, b->kind));
	return compare_places(&a->at, &b->at);
}

/* Rows of one function, which was found by several ids, become one. */
static void add_up(struct function_sum *sum)
{
	size_t n = 0;

	qsort(sum->rows, sum->n_rows, sizeof(*sum->rows), compare_rows);
	for (size_t i = 0; i < sum->n_rows; i++) {
		const struct function_sum_row *row = &sum->rows[i];

		if (n > 0 && compare_rows(&sum->rows[n - 1], row) == 0)
			function_tally_add(&sum->rows[n - 1].tally, &row->tally);
		else
			sum->rows[n++] = *row;
	}
	sum->n_rows = n;
}

/* Keeps the functions of the rows, and all objects. */
static int keep_names(struct function_sum *sum)
{
	struct profile *names = sum->names;
	struct profile_maps maps = {};
	struct profile_stack stack = { .parent = PROFILE_NONE, .process = PROFILE_NONE };
	int r = 0;

	names->n_stacks = 0;
	for (size_t i = 0; r >= 0 && i < names->n_objects; i++) {
		stack.frame = (struct location){ (uint32_t)i, UINT64_MAX };
		r = (int)MIN(profile_add_stack(names, &stack), (int64_t)0);
	}
	for (size_t i = 0; r >= 0 && i < sum->n_rows; i++) {
		stack.frame = sum->rows[i].at;
		r = (int)MIN(profile_add_stack(names, &stack), (int64_t)0);
	}
	names->finalized = false;
	if (r == 0)
		r = profile_finalize_maps(names, &maps);
	for (size_t i = 0; r == 0 && i < sum->n_rows; i++)
		if (sum->rows[i].at.object != PROFILE_NONE)
			sum->rows[i].at.object = maps.objects[sum->rows[i].at.object];
	profile_maps_done(&maps);
	return r;
}

#define NOTABLE 1000

/* What is said of a program beside its rows follows from these: what runs a program, by its total,
 * and code that was made at run time. */
static bool is_notable(const struct function_sum *sum, const struct function_sum_row *row)
{
	const struct location *at = &row->at;

	return at->offset == UINT64_MAX ||
	       row->tally.total >= sum->names->counters.samples / NOTABLE ||
	       (at->object != PROFILE_NONE &&
		sum->names->objects[at->object].kind == OBJECT_MEMORY);
}

/* Which of the rows stay. */
static int choose_functions(const struct function_sum *sum, size_t n, bool *keeps, size_t *ret)
{
	_cleanup_free_ struct ranked *ranked = calloc(sum->n_rows + 1, sizeof(*ranked));
	size_t n_ranked = 0, n_kept;

	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < sum->n_rows; i++) {
		const struct function_sum_row *row = &sum->rows[i];

		if (row->kind != sum->by)
			continue;
		keeps[i] = is_notable(sum, row);
		if (row->at.offset != UINT64_MAX && !is_empty(row))
			ranked[n_ranked++] = (struct ranked){ i, row->tally.self };
	}
	n_kept = choose(ranked, n_ranked, n);
	for (size_t i = 0; i < n_kept; i++)
		keeps[ranked[i].row] = true;
	*ret = 0;
	for (size_t i = n_kept; i < n_ranked; i++)
		*ret += !keeps[ranked[i].row];
	return 0;
}

int function_cut_functions(struct function_sum *sum, size_t n, size_t *ret)
{
	_cleanup_free_ bool *keeps = NULL;
	int r;

	for (size_t i = 0; i < sum->n_rows; i++)
		sum->rows[i].self = sum->rows[i].tally.self;
	r = function_sum_finish(sum, false);
	if (r < 0)
		return r;
	if (sum->n_rows > 0)
		add_up(sum);
	keeps = calloc(sum->n_rows + 1, sizeof(*keeps));
	if (!keeps)
		return -ENOMEM;
	r = choose_functions(sum, n, keeps, ret);
	if (r < 0)
		return r;
	drop_rows(sum, keeps);
	return keep_names(sum);
}
