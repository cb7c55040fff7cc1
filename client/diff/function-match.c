/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/function-match.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"

typedef bool (*function_matches_agree)(const struct profile_function *a,
				       const struct profile_function *b);

int function_matches_add(struct function_matches *namesakes, enum side side,
			 const struct profile_function *function)
{
	struct function_match **rows = &namesakes->rows[side];
	size_t n = namesakes->n[side];

	if (ARRAY_RESERVE(rows, &namesakes->cap[side], n + 1) < 0)
		return -ENOMEM;
	(*rows)[n] = (struct function_match){ .function = function, .own = function };
	namesakes->n[side]++;
	return 0;
}

void function_matches_done(struct function_matches *namesakes)
{
	for (int side = 0; side < N_SIDES; side++)
		free(namesakes->rows[side]);
	*namesakes = (struct function_matches){};
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

static bool stands_for_itself(const struct function_match *row)
{
	return row->own == row->function;
}

static void find_first(struct function_match *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i && stands_for_itself(&rows[i]); k++)
			if (is_same_code(rows[k].function, rows[i].function))
				rows[i].own = rows[k].own;
}

static bool is_free(const struct function_match *row)
{
	return stands_for_itself(row) && !row->other;
}

/* Of those that have nothing yet, each with the first on the other side that it agrees with. */
static void pair(struct function_matches *namesakes, function_matches_agree agree, bool changed)
{
	struct function_match *rows = namesakes->rows[SIDE_OLD],
			      *others = namesakes->rows[SIDE_NEW];

	for (size_t i = 0; i < namesakes->n[SIDE_OLD]; i++)
		for (size_t k = 0; k < namesakes->n[SIDE_NEW] && is_free(&rows[i]); k++) {
			if (!is_free(&others[k]) || !agree(rows[i].function, others[k].function))
				continue;
			rows[i].other = others[k].function;
			others[k].other = rows[i].function;
			rows[i].changed = others[k].changed = changed;
		}
}

static void follow_first(struct function_matches *namesakes, enum side side)
{
	for (size_t i = 0; i < namesakes->n[side]; i++) {
		struct function_match *row = &namesakes->rows[side][i];
		const struct function_match *first =
			function_matches_find(namesakes, side, row->own);

		row->other = first->other;
		row->changed = first->changed;
	}
}

void function_matches_match(struct function_matches *namesakes)
{
	for (int side = 0; side < N_SIDES; side++)
		find_first(namesakes->rows[side], namesakes->n[side]);
	pair(namesakes, is_same_code, false);
	pair(namesakes, is_same_size, false);
	pair(namesakes, is_left, true);
	for (int side = 0; side < N_SIDES; side++)
		follow_first(namesakes, side);
}

const struct function_match *function_matches_find(const struct function_matches *namesakes,
						   enum side side,
						   const struct profile_function *function)
{
	const struct function_match *row = namesakes->rows[side];

	while (row < namesakes->rows[side] + namesakes->n[side] && row->function != function)
		row++;
	assert(row < namesakes->rows[side] + namesakes->n[side]);
	return row;
}

bool function_matches_changed(const struct function_matches *namesakes)
{
	for (size_t i = 0; i < namesakes->n[SIDE_OLD]; i++)
		if (namesakes->rows[SIDE_OLD][i].changed)
			return true;
	return false;
}
