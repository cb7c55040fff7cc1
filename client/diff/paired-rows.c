/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/paired-rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/view/symbol-name.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

int paired_rows_new(struct paired_rows **ret, enum view_by by, const struct object_match *objects,
		    struct line_map *map, struct fault *fault)
{
	_cleanup_(paired_rows_freep) struct paired_rows *paired = calloc(1, sizeof(*paired));
	int r;

	if (!paired)
		return -ENOMEM;
	paired->by = by;
	paired->objects = objects;
	paired->map = map;
	paired->fault = fault;
	r = shares_new(&paired->names);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(paired);
	return 0;
}

struct paired_rows *paired_rows_free(struct paired_rows *paired)
{
	if (!paired)
		return NULL;
	for (int side = 0; side < N_SIDES; side++)
		free(paired->parts[side]);
	shares_free(paired->names);
	free(paired->rows);
	free(paired);
	return NULL;
}

/* The caller frees *@ret_symbol, which *@ret borrows. */
static int common_function(struct share_key *ret, const struct share_key *key, char **ret_symbol)
{
	if (!key->symbol)
		return 0;
	*ret_symbol = symbol_name_strip(key->symbol);
	ret->symbol = *ret_symbol;
	return ret->symbol ? 0 : -ENOMEM;
}

/*
 * A line has its name in the new sources. An old line that the new sources do not have matches
 * none: .start marks it.
 */
static int common_line(struct paired_rows *paired, struct share_key *ret, enum side side,
		       const struct share_key *key)
{
	struct source_line line = { key->file, key->line }, other = line;
	int r = -ENOENT;

	if (paired->map && line.file)
		r = line_map_find(paired->map, side, line, &other, paired->fault);
	if (r < 0 && r != -ENOENT)
		return r;
	ret->file = other.file;
	ret->line = r > 0 && side == SIDE_OLD ? other.number : line.number;
	ret->start = r == 0 && side == SIDE_OLD;
	paired->line_changed = r == 0;
	return 0;
}

/* The kernel truncates names. */
#define COMM_MAX 15

static bool is_named_after(const char *comm, const char *executable)
{
	const char *slash = strrchr(executable, '/');

	return strncmp(comm, slash ? slash + 1 : executable, COMM_MAX) == 0;
}

static int common_process(const struct paired_rows *paired, struct share_key *ret, enum side side,
			  const struct profile *profile, uint32_t index)
{
	const struct profile_process *process;
	int64_t number;

	ret->object = PROFILE_NONE;
	if (index == PROFILE_NONE)
		return 0;
	process = &profile->processes[index];
	ret->symbol = process->comm;
	if (!process->executable)
		return 0;
	number = object_match_find_program(paired->objects, side, process->executable);
	if (number < 0)
		return (int)number;
	ret->object = (uint32_t)number;
	if (is_named_after(process->comm, process->executable))
		ret->symbol = NULL;
	return 0;
}

/* *@ret is the name of a row on both sides. ret->object is set already. */
static int make_common(struct paired_rows *paired, struct share_key *ret, enum side side,
		       const struct profile *profile, const struct share_key *key,
		       char **ret_symbol)
{
	switch (paired->by) {
	case VIEW_FUNCTION:
		return common_function(ret, key, ret_symbol);
	case VIEW_LINE:
		return common_line(paired, ret, side, key);
	case VIEW_PROCESS:
		return common_process(paired, ret, side, profile, key->process);
	case VIEW_UNIT:
	case VIEW_COMM:
	case VIEW_CONTAINER:
	case VIEW_USER:
		ret->object = PROFILE_NONE;
		ret->group = key->group;
		return 0;
	default:
		return 0;
	}
}

int64_t paired_rows_find(struct paired_rows *paired, enum side side, const struct profile *profile,
			 const uint32_t *numbers, const struct share_key *key)
{
	_cleanup_free_ char *symbol = NULL;
	struct share_key common = { .process = PROFILE_NONE };
	int r;

	common.object = key->object == PROFILE_NONE ? PROFILE_NONE : numbers[key->object];
	r = make_common(paired, &common, side, profile, key, &symbol);
	return r < 0 ? r : shares_find(paired->names, &common);
}

/* Several rows of one side may be one here, and one sample may be in the totals of several. */
static void add_count(struct paired_count *to, uint64_t self, uint64_t total, uint64_t samples)
{
	to->self += self;
	to->total = MIN(to->total + total, samples);
}

/* Chooses the hottest name, among equal ones by location; so the order of rows does not matter. */
static void name_row(struct paired_row *row, enum side side, const struct share *share)
{
	const struct share_key *a = &share->key, *b = &row->keys[side];
	const struct paired_count *most = &row->hottest[side];
	bool better = !row->is_in[side] || share->self > most->self;

	if (!better && share->self == most->self) {
		better = share->total > most->total;
		if (share->total == most->total)
			better = a->object != b->object ? a->object < b->object :
							  a->start < b->start;
	}
	row->is_in[side] = true;
	if (!better)
		return;
	row->keys[side] = *a;
	row->hottest[side] = (struct paired_count){ share->self, share->total };
}

int paired_rows_add(struct paired_rows *paired, enum side side, const struct profile *profile,
		    const struct shares *shares)
{
	_cleanup_free_ uint32_t *numbers = NULL;
	struct paired_row *row;
	int64_t number;
	int r;

	r = object_match_number(paired->objects, side, profile, &numbers);
	if (r < 0)
		return r;
	for (size_t i = 0; i < shares->n_rows; i++) {
		if (shares->rows[i].self == 0 && shares->rows[i].total == 0)
			continue;
		number = paired_rows_find(paired, side, profile, numbers, &shares->rows[i].key);
		if (number < 0)
			return (int)number;
		if ((size_t)number == paired->n_rows) {
			if (ARRAY_RESERVE(&paired->rows, &paired->cap_rows, paired->n_rows + 1) < 0)
				return -ENOMEM;
			paired->rows[paired->n_rows++] = (struct paired_row){};
		}
		row = &paired->rows[number];
		name_row(row, side, &shares->rows[i]);
		row->line_changed |= paired->line_changed;
		add_count(&row->counts[side], shares->rows[i].self, shares->rows[i].total,
			  profile->counters.samples);
		row->variances[side].self += shares->rows[i].self_variance;
		row->variances[side].total += shares->rows[i].total_variance;
	}
	return 0;
}

int paired_rows_set_parts(struct paired_rows *paired, enum side side, size_t n)
{
	if (n == 0)
		return 0;
	paired->parts[side] = calloc(paired->n_rows * n + 1, sizeof(*paired->parts[side]));
	if (!paired->parts[side])
		return -ENOMEM;
	paired->n_parts[side] = n;
	return 0;
}

void paired_rows_add_count(struct paired_rows *paired, enum side side, size_t part, size_t row,
			   const struct paired_count *count, uint64_t samples)
{
	add_count(&paired->parts[side][row * paired->n_parts[side] + part], count->self,
		  count->total, samples);
}

int paired_rows_add_part(struct paired_rows *paired, enum side side, size_t part,
			 const struct profile *profile, const struct shares *shares)
{
	_cleanup_free_ uint32_t *numbers = NULL;
	int r;

	r = object_match_number(paired->objects, side, profile, &numbers);
	for (size_t i = 0; r >= 0 && i < shares->n_rows; i++) {
		int64_t number =
			paired_rows_find(paired, side, profile, numbers, &shares->rows[i].key);

		if (number < 0)
			return (int)number;
		/* a row that the whole does not have would have no name */
		if ((size_t)number < paired->n_rows)
			paired_rows_add_count(paired, side, part, (size_t)number,
					      &(struct paired_count){ shares->rows[i].self,
								      shares->rows[i].total },
					      profile->counters.samples);
	}
	return r;
}
