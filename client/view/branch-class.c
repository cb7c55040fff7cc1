/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/branch-class.h"

#include <errno.h>
#include <stdlib.h>

#include "client/view/view.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* The instructions of an object that were read already, by offset. */
struct object_branches {
	struct symbolizer_branch *rows;
	size_t n, cap;
};

struct branch_class {
	const struct profile *profile;
	struct symbolizer *symbolizer;
	struct object_branches *objects; /* by object of the profile */
};

int branch_class_new(struct branch_class **ret, const struct profile *profile,
		     struct symbolizer *symbolizer)
{
	_cleanup_(branch_class_freep) struct branch_class *class = calloc(1, sizeof(*class));

	if (!class)
		return -ENOMEM;
	class->profile = profile;
	class->symbolizer = symbolizer;
	class->objects = calloc(profile->n_objects + 1, sizeof(*class->objects));
	if (!class->objects)
		return -ENOMEM;
	*ret = TAKE_PTR(class);
	return 0;
}

struct branch_class *branch_class_free(struct branch_class *class)
{
	if (!class)
		return NULL;
	for (size_t i = 0; class->objects && i < class->profile->n_objects; i++)
		free(class->objects[i].rows);
	free(class->objects);
	free(class);
	return NULL;
}

static bool is_told_by_code(const struct profile_branch *branch)
{
	return branch->kind == BRANCH_UNKNOWN && branch->from.object != PROFILE_NONE;
}

static int compare_rows(const void *p, const void *q)
{
	const struct symbolizer_branch *a = p, *b = q;

	return COMPARE(a->offset, b->offset);
}

/* Sorts the rows and drops duplicates; then none is known yet. */
static void sort_rows(struct object_branches *branches)
{
	size_t n = 0;

	if (branches->n > 1)
		qsort(branches->rows, branches->n, sizeof(*branches->rows), compare_rows);
	for (size_t i = 0; i < branches->n; i++)
		if (n == 0 || branches->rows[n - 1].offset != branches->rows[i].offset)
			branches->rows[n++] = branches->rows[i];
	branches->n = n;
}

static int load_objects(struct branch_class *class)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < class->profile->n_objects; i++) {
		struct object_branches *branches = &class->objects[i];

		if (branches->n == 0)
			continue;
		sort_rows(branches);
		r = symbolizer_branches(class->symbolizer, &class->profile->objects[i],
					branches->rows, branches->n);
	}
	return r;
}

int branch_class_load(struct branch_class *class, const struct profile_branch *branches, size_t n)
{
	for (size_t i = 0; i < class->profile->n_objects; i++)
		class->objects[i].n = 0;
	for (size_t i = 0; i < n; i++) {
		struct object_branches *of;

		if (!is_told_by_code(&branches[i]))
			continue;
		of = &class->objects[branches[i].from.object];
		if (ARRAY_RESERVE(&of->rows, &of->cap, of->n + 1) < 0)
			return -ENOMEM;
		of->rows[of->n++] = (struct symbolizer_branch){ .offset = branches[i].from.offset };
	}
	return load_objects(class);
}

/* From what was read already, else from the code. 0 or -ENOMEM. */
static int get_branch(struct branch_class *class, struct location at, struct symbolizer_branch *ret)
{
	const struct object_branches *branches = &class->objects[at.object];
	const struct symbolizer_branch key = { .offset = at.offset };
	const struct symbolizer_branch *row = NULL;

	if (branches->n > 0)
		row = bsearch(&key, branches->rows, branches->n, sizeof(key), compare_rows);
	*ret = row ? *row : key;
	if (row)
		return 0;
	return symbolizer_branches(class->symbolizer, &class->profile->objects[at.object], ret, 1);
}

int branch_class_find(struct branch_class *class, const struct profile_branch *branch,
		      enum branch_kind *ret)
{
	struct symbolizer_branch from;
	int r;

	*ret = branch->kind;
	if (!is_told_by_code(branch))
		return 0;
	r = get_branch(class, branch->from, &from);
	if (r < 0 || !from.is_known)
		return r;
	*ret = from.kind;
	if (view_is_kernel(class->profile, branch->to) && from.kind != BRANCH_SYSCALL)
		*ret = BRANCH_IRQ; /* whatever the instruction is */
	return 0;
}
