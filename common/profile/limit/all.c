/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One limit for all users and tables of a profile, from which the limit of each follows. */
#include <errno.h>
#include <stdlib.h>

#include "common/profile/limit/limit.h"
#include "common/profile/tables.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/macro.h"

/* The rows of a table that a user has, or some of them. */
struct portion {
	uint64_t key; /* the table, and whose they are */
	uint64_t n;
};

struct portions {
	struct portion *rows;
	size_t n, cap;
	uint64_t floor; /* the most that may be left of each */
};

static void portions_done(struct portions *portions)
{
	free(portions->rows);
}

static int compare_portions(const void *p, const void *q)
{
	const struct portion *a = p, *b = q;

	return COMPARE(a->key, b->key);
}

static uint32_t uid_of(const struct profile *p, uint32_t process)
{
	return process == PROFILE_NONE ? UINT32_MAX : p->processes[process].uid;
}

/* One more row: neighbours are of one user, as a rule. */
static int add_row(struct portions *portions, enum profile_table table, uint32_t uid)
{
	uint64_t key = (uint64_t)table << 32 | uid;
	struct portion *last = portions->n > 0 ? &portions->rows[portions->n - 1] : NULL;

	if (last && last->key == key) {
		last->n++;
		return 0;
	}
	if (ARRAY_RESERVE(&portions->rows, &portions->cap, portions->n + 1) < 0)
		return -ENOMEM;
	portions->rows[portions->n++] = (struct portion){ key, 1 };
	return 0;
}

#define LIST(table, rows)                                                         \
	for (size_t i = 0; r == 0 && tables >> (table)&1 && i < p->n_##rows; i++) \
		r = add_row(portions, table, uid_of(p, p->rows[i].process));

static int list_rows(const struct profile *p, unsigned int tables, struct portions *portions)
{
	int r = 0;

	LIST(PROFILE_STACKS, stacks)
	LIST(PROFILE_STREAMS, streams)
	LIST(PROFILE_BRANCHES, branches)
	LIST(PROFILE_BLOCKS, blocks)
	return r;
}

/* Those of one key become one. */
static void add_up(struct portions *portions)
{
	struct portion *rows = portions->rows;
	size_t n = 0;

	if (portions->n > 0)
		qsort(rows, portions->n, sizeof(*rows), compare_portions);
	for (size_t i = 0; i < portions->n; i++)
		if (n > 0 && rows[n - 1].key == rows[i].key)
			rows[n - 1].n += rows[i].n;
		else
			rows[n++] = rows[i];
	portions->n = n;
}

static uint64_t sum_up(const struct portions *portions, uint64_t floor)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < portions->n; i++)
		sum += MIN(portions->rows[i].n, floor);
	return sum;
}

/* The largest floor with which the sum is @max, or less. */
static void find_floor(struct portions *portions, uint64_t max)
{
	uint64_t low = 0, high = max;

	while (low < high) {
		uint64_t middle = high - (high - low) / 2;

		if (sum_up(portions, middle) <= max)
			low = middle;
		else
			high = middle - 1;
	}
	portions->floor = low;
}

static uint64_t get_floor(uint32_t uid, void *userdata)
{
	const struct portions *portions = userdata;

	return portions->floor;
}

int profile_limit_all(struct profile *profile, unsigned int tables, uint64_t max)
{
	_cleanup_(portions_done) struct portions portions = {};
	int r = list_rows(profile, tables, &portions);

	if (r < 0)
		return r;
	add_up(&portions);
	if (sum_up(&portions, UINT64_MAX) <= max)
		return 0;
	find_floor(&portions, max);
	return profile_limit_tables(profile, tables, get_floor, &portions);
}
