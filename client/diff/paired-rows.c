/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/paired-rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/view/symbol-name.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

int paired_rows_new(struct paired_rows **ret, enum view_by by, const struct object_match *pairing,
		    struct line_map *map, struct fault *fault)
{
	_cleanup_(paired_rows_freep) struct paired_rows *ledger = calloc(1, sizeof(*ledger));
	int r;

	if (!ledger)
		return -ENOMEM;
	ledger->by = by;
	ledger->pairing = pairing;
	ledger->map = map;
	ledger->fault = fault;
	r = shares_new(&ledger->names);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(ledger);
	return 0;
}

struct paired_rows *paired_rows_free(struct paired_rows *ledger)
{
	if (!ledger)
		return NULL;
	for (int side = 0; side < N_SIDES; side++)
		free(ledger->parts[side]);
	shares_free(ledger->names);
	free(ledger->rows);
	free(ledger);
	return NULL;
}

/* *@ret_symbol is to be freed; it is borrowed by *@ret. */
static int common_function(struct share_key *ret, const struct share_key *key, char **ret_symbol)
{
	if (!key->symbol)
		return 0;
	*ret_symbol = symbol_name_strip(key->symbol);
	ret->symbol = *ret_symbol;
	return ret->symbol ? 0 : -ENOMEM;
}

/*
 * A line is called as it is in the new sources. One of the old ones that is no more there is
 * nobody's (which .start tells).
 */
static int common_line(struct paired_rows *ledger, struct share_key *ret, enum side side,
		       const struct share_key *key)
{
	const char *file = key->file;
	uint32_t line = key->line, other = 0;
	int r = -ENOENT;

	if (ledger->map && file)
		r = line_map_find(ledger->map, side, key->file, line, &file, &other, ledger->fault);
	if (r < 0 && r != -ENOENT)
		return r;
	ret->file = file;
	ret->line = r > 0 && side == SIDE_OLD ? other : line;
	ret->start = r == 0 && side == SIDE_OLD;
	ledger->line_changed = r == 0;
	return 0;
}

/* The kernel cuts a name off. */
#define COMM_MAX 15

static bool is_named_after(const char *comm, const char *executable)
{
	const char *slash = strrchr(executable, '/');

	return strncmp(comm, slash ? slash + 1 : executable, COMM_MAX) == 0;
}

static int common_process(const struct paired_rows *ledger, struct share_key *ret, enum side side,
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
	number = object_match_find_program(ledger->pairing, side, process->executable);
	if (number < 0)
		return (int)number;
	ret->object = (uint32_t)number;
	if (is_named_after(process->comm, process->executable))
		ret->symbol = NULL;
	return 0;
}

/* *@ret: what the row is called on both sides alike. @numbers: of the profile's objects. */
static int make_common(struct paired_rows *ledger, struct share_key *ret, enum side side,
		       const struct profile *profile, const uint32_t *numbers,
		       const struct share_key *key, char **ret_symbol)
{
	*ret = (struct share_key){ .process = PROFILE_NONE };
	ret->object = key->object == PROFILE_NONE ? PROFILE_NONE : numbers[key->object];
	switch (ledger->by) {
	case VIEW_FUNCTION:
		return common_function(ret, key, ret_symbol);
	case VIEW_LINE:
		return common_line(ledger, ret, side, key);
	case VIEW_PROCESS:
		return common_process(ledger, ret, side, profile, key->process);
	case VIEW_UNIT:
		ret->object = PROFILE_NONE;
		ret->unit = key->unit;
		return 0;
	default:
		return 0;
	}
}

int64_t paired_rows_find(struct paired_rows *ledger, enum side side, const struct profile *profile,
			 const uint32_t *numbers, const struct share_key *key)
{
	_cleanup_free_ char *symbol = NULL;
	struct share_key common;
	int r;

	r = make_common(ledger, &common, side, profile, numbers, key, &symbol);
	return r < 0 ? r : shares_find(ledger->names, &common);
}

/* Several rows of one side may be one here: of these a sample may be in the totals of more than
 * one. */
static void add_count(struct paired_count *to, uint64_t self, uint64_t total, uint64_t samples)
{
	to->self += self;
	to->total = MIN(to->total + total, samples);
}

/* One name is chosen by what was counted, and where that is the same by place: not by which came
 * first. */
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

int paired_rows_add(struct paired_rows *ledger, enum side side, const struct profile *profile,
		    const struct shares *shares)
{
	_cleanup_free_ uint32_t *numbers = NULL;
	struct paired_row *row;
	int64_t number;
	int r;

	r = object_match_number(ledger->pairing, side, profile, &numbers);
	if (r < 0)
		return r;
	for (size_t i = 0; i < shares->n_rows; i++) {
		if (shares->rows[i].self == 0 && shares->rows[i].total == 0)
			continue;
		number = paired_rows_find(ledger, side, profile, numbers, &shares->rows[i].key);
		if (number < 0)
			return (int)number;
		if ((size_t)number == ledger->n_rows) {
			if (ARRAY_RESERVE(&ledger->rows, &ledger->cap_rows, ledger->n_rows + 1) < 0)
				return -ENOMEM;
			ledger->rows[ledger->n_rows++] = (struct paired_row){};
		}
		row = &ledger->rows[number];
		name_row(row, side, &shares->rows[i]);
		row->line_changed |= ledger->line_changed;
		add_count(&row->counts[side], shares->rows[i].self, shares->rows[i].total,
			  profile->counters.samples);
	}
	return 0;
}

int paired_rows_set_parts(struct paired_rows *ledger, enum side side, size_t n)
{
	if (n == 0)
		return 0;
	ledger->parts[side] = calloc(ledger->n_rows * n + 1, sizeof(*ledger->parts[side]));
	if (!ledger->parts[side])
		return -ENOMEM;
	ledger->n_parts[side] = n;
	return 0;
}

void paired_rows_add_count(struct paired_rows *ledger, enum side side, size_t part, size_t row,
			   const struct paired_count *count, uint64_t samples)
{
	add_count(&ledger->parts[side][row * ledger->n_parts[side] + part], count->self,
		  count->total, samples);
}

int paired_rows_add_part(struct paired_rows *ledger, enum side side, size_t part,
			 const struct profile *profile, const struct shares *shares)
{
	_cleanup_free_ uint32_t *numbers = NULL;
	int r;

	r = object_match_number(ledger->pairing, side, profile, &numbers);
	for (size_t i = 0; r >= 0 && i < shares->n_rows; i++) {
		int64_t number =
			paired_rows_find(ledger, side, profile, numbers, &shares->rows[i].key);

		if (number < 0)
			return (int)number;
		/* one that the whole does not have would be a row of no name */
		if ((size_t)number < ledger->n_rows)
			paired_rows_add_count(ledger, side, part, (size_t)number,
					      &(struct paired_count){ shares->rows[i].self,
								      shares->rows[i].total },
					      profile->counters.samples);
	}
	return r;
}
