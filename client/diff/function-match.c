/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/function-match.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"

typedef bool (*agree_function)(const struct profile_function *a, const struct profile_function *b);

int function_matches_add(struct function_matches *matches, enum side side,
			 const struct profile_function *function)
{
	struct function_match **rows = &matches->rows[side];
	size_t n = matches->n[side];

	if (ARRAY_RESERVE(rows, &matches->cap[side], n + 1) < 0)
		return -ENOMEM;
	(*rows)[n] = (struct function_match){ .function = function, .own = function };
	matches->n[side]++;
	return 0;
}

void function_matches_done(struct function_matches *matches)
{
	for (int side = 0; side < N_SIDES; side++)
		free(matches->rows[side]);
	*matches = (struct function_matches){};
}

static bool is_same_code(const struct profile_function *a, const struct profile_function *b)
{
	return a->fingerprint != 0 && a->fingerprint == b->fingerprint;
}

static bool is_same_size(const struct profile_function *a, const struct profile_function *b)
{
	return (a->fingerprint == 0 || b->fingerprint == 0) && a->size == b->size;
}

static bool agrees_always(const struct profile_function *a, const struct profile_function *b)
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

/* Pairs each unmatched function with the first unmatched one of the other side that agrees. */
static void pair(struct function_matches *matches, agree_function agree, bool changed)
{
	struct function_match *rows = matches->rows[SIDE_OLD], *others = matches->rows[SIDE_NEW];

	for (size_t i = 0; i < matches->n[SIDE_OLD]; i++)
		for (size_t k = 0; k < matches->n[SIDE_NEW] && is_free(&rows[i]); k++) {
			if (!is_free(&others[k]) || !agree(rows[i].function, others[k].function))
				continue;
			rows[i].other = others[k].function;
			others[k].other = rows[i].function;
			rows[i].changed = others[k].changed = changed;
		}
}

static void follow_first(struct function_matches *matches, enum side side)
{
	for (size_t i = 0; i < matches->n[side]; i++) {
		struct function_match *row = &matches->rows[side][i];
		const struct function_match *first = function_matches_find(matches, side, row->own);

		row->other = first->other;
		row->changed = first->changed;
	}
}

void function_matches_match(struct function_matches *matches)
{
	for (int side = 0; side < N_SIDES; side++)
		find_first(matches->rows[side], matches->n[side]);
	pair(matches, is_same_code, false);
	pair(matches, is_same_size, false);
	pair(matches, agrees_always, true);
	for (int side = 0; side < N_SIDES; side++)
		follow_first(matches, side);
}

const struct function_match *function_matches_find(const struct function_matches *matches,
						   enum side side,
						   const struct profile_function *function)
{
	const struct function_match *row = matches->rows[side];

	while (row < matches->rows[side] + matches->n[side] && row->function != function)
		row++;
	assert(row < matches->rows[side] + matches->n[side]);
	return row;
}

/* Whether row @i is of another build than one that has a match: that side has both builds. */
static bool is_of_other_build(const struct function_match *rows, size_t n, size_t i)
{
	const struct profile_function *function = rows[i].function;

	if (!is_free(&rows[i]))
		return false;
	for (size_t k = 0; k < n; k++)
		if (rows[k].other && rows[k].function->object != function->object &&
		    !is_same_size(rows[k].function, function))
			return true;
	return false;
}

bool function_matches_changed(const struct function_matches *matches)
{
	for (size_t i = 0; i < matches->n[SIDE_OLD]; i++)
		if (matches->rows[SIDE_OLD][i].changed)
			return true;
	for (int side = 0; side < N_SIDES; side++)
		for (size_t i = 0; i < matches->n[side]; i++)
			if (is_of_other_build(matches->rows[side], matches->n[side], i))
				return true;
	return false;
}
