/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/window-sum.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"

struct window_sum_row {
	struct id_key key;
	int64_t index;
};

int window_sum_new(struct window_sum **ret, unsigned int tables)
{
	_cleanup_(window_sum_freep) struct window_sum *sum = calloc(1, sizeof(*sum));
	int r;

	if (!sum)
		return -ENOMEM;
	r = profile_new(&sum->profile);
	if (r < 0)
		return r;
	sum->tables = tables;
	*ret = TAKE_PTR(sum);
	return 0;
}

static void forget_rows(struct window_sum_rows *rows)
{
	free(rows->rows);
	id_map_clear(&rows->numbers);
	*rows = (struct window_sum_rows){ 0 };
}

static void forget_ids(struct window_sum *sum)
{
	store_lookup_end(&sum->lookup);
	id_map_clear(&sum->processes);
	id_map_clear(&sum->gone);
	for (size_t i = 0; i < N_PROFILE_TABLES; i++)
		forget_rows(&sum->rows[i]);
}

struct window_sum *window_sum_free(struct window_sum *sum)
{
	if (!sum)
		return NULL;
	forget_ids(sum);
	profile_free(sum->profile);
	free(sum);
	return NULL;
}

int window_sum_clear(struct window_sum *sum)
{
	struct profile *profile;
	int r = profile_new(&profile);

	if (r < 0)
		return r;
	forget_ids(sum);
	profile_free(sum->profile);
	sum->profile = profile;
	sum->n_windows = 0;
	return 0;
}

void window_sum_use(struct window_sum *sum, uint64_t number, const struct store_lookup *lookup)
{
	if (sum->database != number)
		forget_ids(sum);
	sum->database = number;
	sum->lookup.database = lookup->database;
	for (size_t i = 0; i < N_STORE_LOOKUP; i++)
		sum->lookup.statements[i] = lookup->statements[i];
	store_lookup_begin(&sum->lookup, sum->profile);
}

static bool is_next(const struct window_sum_rows *rows, struct id_key key)
{
	const struct id_key *next = &rows->rows[rows->next].key;

	return rows->next < rows->n && next->a == key.a && next->b == key.b && next->c == key.c;
}

int64_t window_sum_find(struct window_sum *sum, enum profile_table table, struct id_key key)
{
	struct window_sum_rows *rows = &sum->rows[table];
	const struct id_value *found;

	if (!is_next(rows, key)) {
		found = id_map_find(&rows->numbers, key);
		if (!found)
			return -ENOENT;
		rows->next = (size_t)found->id;
	}
	return rows->rows[rows->next++].index;
}

int window_sum_put(struct window_sum *sum, enum profile_table table, struct id_key key,
		   int64_t index)
{
	struct window_sum_rows *rows = &sum->rows[table];

	if (index < 0)
		return (int)index;
	if (ARRAY_RESERVE(&rows->rows, &rows->cap, rows->n + 1) < 0 ||
	    id_map_put(&rows->numbers, key, (struct id_value){ (int64_t)rows->n, 0 }) < 0)
		return -ENOMEM;
	rows->rows[rows->n++] = (struct window_sum_row){ key, index };
	return 0;
}

size_t window_sum_n_rows(const struct window_sum *sum)
{
	const struct profile *p = sum->profile;

	return p->n_functions + p->n_stacks + p->n_streams + p->n_branches + p->n_blocks;
}

size_t window_sum_bytes(const struct window_sum *sum)
{
	const struct store_lookup *lookup = &sum->lookup;
	size_t n = id_map_bytes(&sum->processes) + id_map_bytes(&sum->gone) +
		   id_map_bytes(&lookup->objects) + id_map_bytes(&lookup->functions) +
		   id_map_bytes(&lookup->places) + id_map_bytes(&lookup->stacks.nodes) +
		   id_map_bytes(&lookup->stacks.indices) + id_map_bytes(&lookup->streams.nodes) +
		   id_map_bytes(&lookup->streams.indices);

	for (size_t i = 0; i < N_PROFILE_TABLES; i++)
		n += id_map_bytes(&sum->rows[i].numbers) +
		     sum->rows[i].cap * sizeof(*sum->rows[i].rows);
	return n + profile_bytes(sum->profile);
}

int window_sum_take(struct window_sum *sum, struct profile **ret)
{
	int r;

	forget_ids(sum);
	r = profile_finalize(sum->profile);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(sum->profile);
	return 0;
}
