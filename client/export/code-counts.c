/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/code-counts.h"

#include <errno.h>
#include <stdlib.h>

#include "client/view/place.h"
#include "common/profile/filter.h"
#include "common/profile/other.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

struct code_counts *code_counts_free(struct code_counts *counts)
{
	if (!counts)
		return NULL;
	free(counts->branches);
	free(counts->runs);
	free(counts);
	return NULL;
}

/* While they are gathered. */
struct gathering {
	const struct export_input *input;
	const struct profile *profile;
	enum code_counts_unit unit;
	uint32_t object;
};

/* The branch records that each file has. */
static int count_rows(const struct profile *profile, uint64_t **ret)
{
	if (ARRAY_ALLOCATE_ZEROED(ret, profile->n_objects) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_blocks; i++)
		if (!other_is_block(&profile->blocks[i]))
			(*ret)[profile->blocks[i].object] += profile->blocks[i].runs;
	for (size_t i = 0; i < profile->n_branches; i++) {
		const struct profile_branch *branch = &profile->branches[i];

		if (branch->from.object != PROFILE_NONE && !other_is_branch(branch))
			(*ret)[branch->from.object] += branch->taken;
	}
	return 0;
}

static bool is_wanted(const struct gathering *gathering, const struct profile_object *object)
{
	const char *wanted = gathering->input->object;

	return object->kind == OBJECT_FILE && (!wanted || profile_object_is_in(object, wanted));
}

/* The only file that is wanted, or -EINVAL; with the words for who has to choose. */
static int choose_object(struct gathering *gathering)
{
	const struct profile *profile = gathering->profile;
	struct fault *fault = gathering->input->fault;
	const char *name = gathering->input->source->name;
	_cleanup_free_ uint64_t *rows = NULL;
	size_t n = 0;
	int r = count_rows(profile, &rows);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < profile->n_objects; i++) {
		if (rows[i] == 0 || !is_wanted(gathering, &profile->objects[i]))
			continue;
		if (n++ == 0 || rows[i] > rows[gathering->object])
			gathering->object = i;
	}
	if (n == 0)
		return fault_set(fault, -ENODATA, "%s: no branch records of %s", name,
				 gathering->input->object ?: "a file");
	if (n > 1)
		return fault_set(fault, -EINVAL,
				 "%s: branch records of %zu files: choose one by --object and its "
				 "path or build-id; %s has the most",
				 name, n, profile->objects[gathering->object].path);
	return 0;
}

/* True and the number for the other tool; false: there is none. */
static bool convert(const struct gathering *gathering, struct location at, uint64_t *ret)
{
	const struct profile_object *object = &gathering->profile->objects[gathering->object];

	*ret = CODE_COUNTS_OUTSIDE;
	if (at.object != gathering->object)
		return false;
	*ret = at.offset;
	if (gathering->unit == CODE_COUNTS_OFFSETS)
		return true;
	return symbolizer_address(gathering->input->places.symbolizer, object, at.offset, ret) > 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_branches(const void *a, const void *b)
{
	const struct code_branch *x = a, *y = b;

	return compare_numbers(x->from, y->from) ?: compare_numbers(x->to, y->to);
}

static int compare_runs(const void *a, const void *b)
{
	const struct code_run *x = a, *y = b;

	return compare_numbers(x->start, y->start) ?: compare_numbers(x->end, y->end);
}

static int gather_branches(const struct gathering *gathering, struct code_counts *counts)
{
	const struct profile *profile = gathering->profile;
	struct code_branch *rows, *last = NULL;

	if (ARRAY_ALLOCATE(&counts->branches, profile->n_branches) < 0)
		return -ENOMEM;
	rows = counts->branches;
	for (size_t i = 0; i < profile->n_branches; i++) {
		const struct profile_branch *branch = &profile->branches[i];
		struct code_branch *row = &rows[counts->n_branches];
		bool from, to;

		if (other_is_branch(branch))
			continue;
		from = convert(gathering, branch->from, &row->from);
		to = convert(gathering, branch->to, &row->to);
		row->taken = branch->taken;
		row->mispredicted = branch->mispredicted;
		counts->n_branches += from || to;
	}
	qsort(rows, counts->n_branches, sizeof(*rows), compare_branches);
	for (size_t i = 0; i < counts->n_branches; i++)
		if (last && compare_branches(last, &rows[i]) == 0) {
			last->taken += rows[i].taken;
			last->mispredicted += rows[i].mispredicted;
		} else {
			last = last ? last + 1 : rows;
			*last = rows[i];
		}
	counts->n_branches = last ? (size_t)(last - rows) + 1 : 0;
	return 0;
}

static int gather_runs(const struct gathering *gathering, struct code_counts *counts)
{
	const struct profile *profile = gathering->profile;
	struct code_run *rows, *last = NULL;

	if (ARRAY_ALLOCATE(&counts->runs, profile->n_blocks) < 0)
		return -ENOMEM;
	rows = counts->runs;
	for (size_t i = 0; i < profile->n_blocks; i++) {
		const struct profile_block *block = &profile->blocks[i];
		const struct location start = { block->object, block->start };
		const struct location end = { block->object, block->end };
		struct code_run *row = &rows[counts->n_runs];

		if (other_is_block(block))
			continue;
		row->runs = block->runs;
		counts->n_runs += convert(gathering, start, &row->start) &&
				  convert(gathering, end, &row->end);
	}
	qsort(rows, counts->n_runs, sizeof(*rows), compare_runs);
	for (size_t i = 0; i < counts->n_runs; i++)
		if (last && compare_runs(last, &rows[i]) == 0) {
			last->runs += rows[i].runs;
		} else {
			last = last ? last + 1 : rows;
			*last = rows[i];
		}
	counts->n_runs = last ? (size_t)(last - rows) + 1 : 0;
	return 0;
}

int code_counts_new(struct code_counts **ret, const struct export_input *input,
		    enum code_counts_unit unit)
{
	_cleanup_(code_counts_freep) struct code_counts *counts = calloc(1, sizeof(*counts));
	struct gathering gathering = {
		.input = input,
		.profile = input->places.profile,
		.unit = unit,
	};
	int r;

	if (!counts)
		return -ENOMEM;
	r = choose_object(&gathering);
	if (r < 0)
		return r;
	counts->object = &gathering.profile->objects[gathering.object];
	r = gather_branches(&gathering, counts);
	if (r >= 0)
		r = gather_runs(&gathering, counts);
	if (r < 0)
		return r;
	if (counts->n_branches + counts->n_runs == 0) /* of a file that has some */
		return fault_set(input->fault, -ENODATA,
				 "%s: the file is needed, and was not found or has another "
				 "build-id; see --symfs",
				 counts->object->path);
	*ret = TAKE_PTR(counts);
	return 0;
}
