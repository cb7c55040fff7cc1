/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/stack/stack-group.h"

#include <errno.h>
#include <stdlib.h>

#include "client/view/view.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* The group of a row: the function of its leaf, or all code of its object without one. */
static struct location group_of(const struct profile *profile, struct location leaf)
{
	if (!profile_find_function(profile, leaf))
		leaf.offset = UINT64_MAX;
	return leaf;
}

struct member {
	struct location group;
	size_t row;
};

static int compare_members(const void *p, const void *q)
{
	const struct member *a = p, *b = q;

	return view_compare_locations(a->group, b->group) ?: COMPARE(a->row, b->row);
}

static void add_up(struct view_stacks *stacks, const struct member *members, size_t n)
{
	struct view_stack_group group = { members[0].group, 0, 0 };

	for (size_t i = 0; i < n; i++) {
		group.samples += stacks->rows[members[i].row].samples;
		group.n_stacks++;
	}
	for (size_t i = 0; i < n; i++)
		stacks->rows[members[i].row].group = group;
}

static int compare_rows(const void *p, const void *q)
{
	const struct view_stack *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(b->group.samples, a->group.samples));
	RETURN_UNLESS_EQUAL(view_compare_locations(a->group.at, b->group.at));
	RETURN_UNLESS_EQUAL(COMPARE(b->samples, a->samples));
	RETURN_UNLESS_EQUAL(view_compare_locations(a->leaf, b->leaf));
	return COMPARE(a->caller, b->caller);
}

int view_stacks_add_groups(struct view_stacks *stacks, const struct profile *profile)
{
	_cleanup_free_ struct member *members = NULL;

	if (ARRAY_ALLOCATE(&members, stacks->n_rows) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < stacks->n_rows; i++)
		members[i] = (struct member){ group_of(profile, stacks->rows[i].leaf), i };
	qsort(members, stacks->n_rows, sizeof(*members), compare_members);
	for (size_t i = 0, end; i < stacks->n_rows; i = end) {
		for (end = i + 1; end < stacks->n_rows; end++)
			if (view_compare_locations(members[end].group, members[i].group) != 0)
				break;
		add_up(stacks, members + i, end - i);
	}
	return 0;
}

int view_stacks_group(struct view_stacks *stacks, const struct profile *profile, size_t n)
{
	int r = view_stacks_add_groups(stacks, profile);

	if (r < 0)
		return r;
	qsort(stacks->rows, n, sizeof(*stacks->rows), compare_rows);
	stacks->grouped = true;
	return 0;
}

bool view_stacks_begins_group(const struct view_stacks *stacks, size_t i)
{
	const struct view_stack *row = &stacks->rows[i];

	return stacks->grouped &&
	       (i == 0 || view_compare_locations(row->group.at, row[-1].group.at) != 0);
}
