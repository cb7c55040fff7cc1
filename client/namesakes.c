/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/namesakes.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"

typedef bool (*namesakes_agree)(const struct profile_function *a, const struct profile_function *b);

int namesakes_add(struct namesakes *namesakes, enum side side,
		  const struct profile_function *function)
{
	struct namesake **rows = &namesakes->rows[side];
	size_t n = namesakes->n[side];

	if (ARRAY_RESERVE(rows, &namesakes->cap[side], n + 1) < 0)
		return -ENOMEM;
	(*rows)[n] = (struct namesake){ .function = function, .own = function };
	namesakes->n[side]++;
	return 0;
}

void namesakes_done(struct namesakes *namesakes)
{
	for (int side = 0; side < N_SIDES; side++)
		free(namesakes->rows[side]);
	*namesakes = (struct namesakes){};
}

static bool is_same_code(const struct profile_function *a, const struct profile_function *b)
{
	return a->fingerprint != 0 && a->fingerprint == b->fingerprint;
}

static bool is_same_size(const struct profile_function *a, const struct profile_function *b)
{
	return (a->fingerprint == 0 || b->fingerprint == 0) && a->size == b->size;
}

static bool is_left(const struct profile_function *a, const struct profile_function *b)
{
	(void)a;
	(void)b;
	return true;
}

static bool stands_for_itself(const struct namesake *row)
{
	return row->own == row->function;
}

static void find_first(struct namesake *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i && stands_for_itself(&rows[i]); k++)
			if (is_same_code(rows[k].function, rows[i].function))
				rows[i].own = rows[k].own;
}

static bool is_free(const struct namesake *row)
{
	return stands_for_itself(row) && !row->other;
}

/* Of those that have nothing yet, each with the first on the other side that it agrees with. */
static void pair(struct namesakes *namesakes, namesakes_agree agree, bool changed)
{
	struct namesake *rows = namesakes->rows[SIDE_OLD], *others = namesakes->rows[SIDE_NEW];

	for (size_t i = 0; i < namesakes->n[SIDE_OLD]; i++)
		for (size_t k = 0; k < namesakes->n[SIDE_NEW] && is_free(&rows[i]); k++) {
			if (!is_free(&others[k]) || !agree(rows[i].function, others[k].function))
				continue;
			rows[i].other = others[k].function;
			others[k].other = rows[i].function;
			rows[i].changed = others[k].changed = changed;
		}
}

static void follow_first(struct namesakes *namesakes, enum side side)
{
	for (size_t i = 0; i < namesakes->n[side]; i++) {
		struct namesake *row = &namesakes->rows[side][i];
		const struct namesake *first = namesakes_find(namesakes, side, row->own);

		row->other = first->other;
		row->changed = first->changed;
	}
}

void namesakes_match(struct namesakes *namesakes)
{
	for (int side = 0; side < N_SIDES; side++)
		find_first(namesakes->rows[side], namesakes->n[side]);
	pair(namesakes, is_same_code, false);
	pair(namesakes, is_same_size, false);
	pair(namesakes, is_left, true);
	for (int side = 0; side < N_SIDES; side++)
		follow_first(namesakes, side);
}

const struct namesake *namesakes_find(const struct namesakes *namesakes, enum side side,
				      const struct profile_function *function)
{
	const struct namesake *row = namesakes->rows[side];

	while (row < namesakes->rows[side] + namesakes->n[side] && row->function != function)
		row++;
	assert(row < namesakes->rows[side] + namesakes->n[side]);
	return row;
}

bool namesakes_changed(const struct namesakes *namesakes)
{
	for (size_t i = 0; i < namesakes->n[SIDE_OLD]; i++)
		if (namesakes->rows[SIDE_OLD][i].changed)
			return true;
	return false;
}
