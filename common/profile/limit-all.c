/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One limit for all users and tables of a profile, from which the limit of each follows. */
#include <errno.h>
#include <stdlib.h>

#include "common/profile/limit.h"
#include "common/profile/tables.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/macro.h"

/* A row: its table, and whose it is. */
#define KEY(table, uid) ((uint64_t)(table) << 32 | (uid))

struct portions {
	uint64_t *rows; /* how many each user has in each table that he has rows in */
	size_t n;
	uint64_t floor; /* the most that may be left of each */
};

static int compare_keys(const void *p, const void *q)
{
	const uint64_t *a = p, *b = q;

	return COMPARE(*a, *b);
}

static uint32_t uid_of(const struct profile *p, uint32_t process)
{
	return process == PROFILE_NONE ? UINT32_MAX : p->processes[process].uid;
}

#define LIST(table, rows)                                               \
	for (size_t i = 0; tables >> (table)&1 && i < p->n_##rows; i++) \
		keys[n++] = KEY(table, uid_of(p, p->rows[i].process));

static size_t list_rows(const struct profile *p, unsigned int tables, uint64_t *keys)
{
	size_t n = 0;

	LIST(PROFILE_STACKS, stacks)
	LIST(PROFILE_STREAMS, streams)
	LIST(PROFILE_BRANCHES, branches)
	LIST(PROFILE_BLOCKS, blocks)
	return n;
}

/* Equal keys are counted, in the place of the keys. */
static void count_rows(struct portions *portions, size_t n_keys)
{
	uint64_t *keys = portions->rows;
	size_t n = 0;

	qsort(keys, n_keys, sizeof(*keys), compare_keys);
	for (size_t i = 0, end; i < n_keys; i = end) {
		for (end = i + 1; end < n_keys && keys[end] == keys[i];)
			end++;
		keys[n++] = end - i;
	}
	portions->n = n;
}

static uint64_t sum_up(const struct portions *portions, uint64_t floor)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < portions->n; i++)
		sum += MIN(portions->rows[i], floor);
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
	const struct profile *p = profile;
	_cleanup_free_ uint64_t *keys = NULL;
	struct portions portions;
	size_t n;

	if (ARRAY_ALLOCATE(&keys, p->n_stacks + p->n_streams + p->n_branches + p->n_blocks) < 0)
		return -ENOMEM;
	n = list_rows(p, tables, keys);
	if (n <= max)
		return 0;
	portions = (struct portions){ .rows = keys };
	count_rows(&portions, n);
	find_floor(&portions, max);
	return profile_limit_tables(profile, tables, get_floor, &portions);
}
