/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A snapshot has consecutive runs: a block of a loop is in it many times, and these runs are not
 * independent. So all runs of one sample count as one observation.
 */
#include "client/diff/block.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/diff/parts.h"
#include "client/view/branch.h"
#include "common/profile/add-counts.h"
#include "common/profile/other.h"
#include "common/profile/scale.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define Z_95 1.959964

struct key {
	struct mapped_address start, end;
};

struct block_entry {
	struct key key;
	size_t row;
	UT_hash_handle hh;
};

struct matching {
	struct diff_blocks *blocks;
	const struct comparison *with;
	struct fault *fault;
	struct block_entry *entries;
	struct diff_parts parts;
	uint64_t total[N_SIDES]; /* cycles or runs of the whole profile */
};

static void matching_done(struct matching *m)
{
	struct block_entry *entry, *next;

	HASH_ITER(hh, m->entries, entry, next) {
		HASH_DEL(m->entries, entry);
		free(entry);
	}
	diff_parts_done(&m->parts);
}

static uint64_t heat(const struct diff_blocks *blocks, const struct profile_block *block)
{
	return blocks->by_cycles ? block->cycles : block->runs;
}

static int add_row(struct matching *m, const struct key *key)
{
	struct diff_blocks *blocks = m->blocks;
	struct block_entry *entry;

	if (ARRAY_RESERVE(&blocks->rows, &blocks->cap_rows, blocks->n_rows + 1) < 0)
		return -ENOMEM;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->key = *key;
	entry->row = blocks->n_rows;
	HASH_ADD(hh, m->entries, key, sizeof(entry->key), entry);
	if (!entry->hh.tbl) {
		free(entry);
		return -ENOMEM;
	}
	blocks->rows[blocks->n_rows++] = (struct diff_block){};
	return 0;
}

/* The number of the block's row; n_rows if it has none; or -errno. */
static int64_t find_row(struct matching *m, enum side side, const struct profile_block *block,
			struct key *ret_key)
{
	struct mapped_address ends[2];
	struct block_entry *entry;
	int r;

	r = address_map_find_block(m->with->addresses, side, block, false, ends, m->fault);
	if (r < 0)
		return r;
	memset(ret_key, 0, sizeof(*ret_key));
	memcpy(&ret_key->start, &ends[0], sizeof(ends[0]));
	memcpy(&ret_key->end, &ends[1], sizeof(ends[1]));
	HASH_FIND(hh, m->entries, ret_key, sizeof(*ret_key), entry);
	return entry ? (int64_t)entry->row : (int64_t)m->blocks->n_rows;
}

static int add_block(struct matching *m, enum side side, const struct profile_block *block)
{
	struct diff_block_end *end;
	struct key key;
	int64_t row = find_row(m, side, block, &key);

	if (row < 0)
		return (int)row;
	if ((size_t)row == m->blocks->n_rows && add_row(m, &key) < 0)
		return -ENOMEM;
	end = &m->blocks->rows[row].ends[side];
	if (end->there)
		add_counts_of_block(&end->block, block);
	else
		*end = (struct diff_block_end){ true, *block, (size_t)row };
	return 0;
}

static int add_side(struct matching *m, enum side side)
{
	_cleanup_free_ struct profile_block *blocks = NULL;
	size_t n = 0;
	int r = view_blocks(&blocks, &n, m->with->sources[side]->shown);

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = add_block(m, side, &blocks[i]);
	return r;
}

static int add_part_block(struct matching *m, enum side side, size_t part,
			  const struct profile_block *block, const uint32_t *objects)
{
	struct profile_block own = *block;
	struct key key;
	int64_t row;

	if (block->object != PROFILE_NONE) {
		own.object = objects[block->object];
		if (own.object == PROFILE_NONE)
			return 0;
	}
	row = find_row(m, side, &own, &key);
	if (row < 0)
		return (int)row;
	if ((size_t)row < m->blocks->n_rows)
		*diff_parts_count(&m->parts, side, (size_t)row, part) += heat(m->blocks, block);
	return 0;
}

static int add_part(struct matching *m, enum side side, size_t part)
{
	const struct profile *profile = m->with->sources[side]->parts[part].shown;
	_cleanup_free_ uint32_t *objects = NULL;
	int r;

	r = comparison_map_part(m->with, side, part, &objects);
	for (size_t i = 0; r >= 0 && i < profile->n_blocks; i++) {
		m->parts.all[side][part] += heat(m->blocks, &profile->blocks[i]);
		if (!other_is_block(&profile->blocks[i]))
			r = add_part_block(m, side, part, &profile->blocks[i], objects);
	}
	return r;
}

static int add_parts(struct matching *m, enum side side)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->parts.n[side]; i++)
		r = add_part(m, side, i);
	return r;
}

/* Changed blocks by function, side and offset. */
static int compare_changed(const void *p, const void *q)
{
	const struct block_entry *a = *(struct block_entry *const *)p,
				 *b = *(struct block_entry *const *)q;
	const struct mapped_address *x = &a->key.start, *y = &b->key.start;

	RETURN_UNLESS_EQUAL(COMPARE(x->function, y->function));
	RETURN_UNLESS_EQUAL(COMPARE(x->side, y->side));
	return COMPARE(x->at, y->at);
}

/* The first block of the next function or side. */
static size_t end_of(struct block_entry *const *entry, size_t n, size_t from)
{
	size_t i = from;

	while (i < n && entry[i]->key.start.function == entry[from]->key.start.function &&
	       entry[i]->key.start.side == entry[from]->key.start.side)
		i++;
	return i;
}

/* Pairs the changed blocks of a function's old and new version in their order. */
static void pair_changed(struct diff_blocks *blocks, struct block_entry *const *entry, size_t n)
{
	for (size_t first = 0, middle, end; first < n; first = middle) {
		middle = end_of(entry, n, first);
		if (entry[first]->key.start.side != SIDE_OLD || middle == n ||
		    entry[middle]->key.start.function != entry[first]->key.start.function)
			continue;
		end = end_of(entry, n, middle);
		for (size_t i = 0; first + i < middle && middle + i < end; i++) {
			struct diff_block_end *replacing =
				&blocks->rows[entry[middle + i]->row].ends[SIDE_NEW];

			blocks->rows[entry[first + i]->row].ends[SIDE_NEW] = *replacing;
			replacing->there = false;
		}
	}
}

static int mark_changed(struct matching *m, const struct block_entry *entry)
{
	struct diff_block *row = &m->blocks->rows[entry->row];
	const struct mapped_address *start = &entry->key.start;
	int r = change_detector_find(m->with->detector, start->identity, start->function->name,
				     m->fault);

	if (r < 0)
		return r;
	row->changed = true;
	row->change = (enum change)r;
	return 0;
}

static int match_changed(struct matching *m)
{
	_cleanup_free_ struct block_entry **changed =
		calloc(HASH_COUNT(m->entries) + 1, sizeof(*changed));
	size_t n = 0;
	int r = changed ? 0 : -ENOMEM;

	for (struct block_entry *entry = m->entries; entry && r >= 0; entry = entry->hh.next)
		if (entry->key.start.kind == MAPPED_NONE) {
			r = mark_changed(m, entry);
			changed[n++] = entry;
		}
	if (r < 0)
		return r;
	qsort(changed, n, sizeof(*changed), compare_changed);
	pair_changed(m->blocks, changed, n);
	return 0;
}

/* The cycles, or runs, that count as one observation. */
static double get_unit(const struct matching *m, enum side side, const struct diff_block *row)
{
	const struct profile_counters *counters = &m->with->sources[side]->all->counters;
	uint64_t with_rows = counters->samples - counters->snapshots_empty;
	double runs =
		with_rows > 0 ? fmax(1, (double)counters->runs_counted / (double)with_rows) : 1;

	runs *= profile_row_unit(counters, row->ends[side].block.runs,
				 row->ends[side].block.variance);
	if (!m->blocks->by_cycles)
		return runs;
	return runs * fmax(1, fmax(row->average[SIDE_OLD], row->average[SIDE_NEW]));
}

static struct significance_counts counts_of(const struct matching *m, enum side side, size_t i)
{
	const struct diff_block *row = &m->blocks->rows[i];
	struct significance_counts counts = {
		.total = m->total[side],
		.unit = get_unit(m, side, row),
	};

	diff_parts_get(&m->parts, side, row->ends[side].number, &counts);
	if (row->ends[side].there)
		counts.count = heat(m->blocks, &row->ends[side].block);
	return counts;
}

/* The standard deviation of a run's cycles is taken to be their mean. */
static double average_off(const struct matching *m, const struct diff_block *row)
{
	double squares = 0;

	for (int side = 0; side < N_SIDES; side++) {
		double runs = (double)row->ends[side].block.cycles_rows * row->average[side] /
			      get_unit(m, side, row);

		squares += row->average[side] * row->average[side] * SIGNIFICANCE_EXCESS /
			   fmax(1, runs);
	}
	return Z_95 * sqrt(squares);
}

static void test_block(struct matching *m, size_t i)
{
	struct diff_block *row = &m->blocks->rows[i];
	struct significance_counts counts[N_SIDES];

	for (int side = 0; side < N_SIDES; side++) {
		const struct profile_block *block = &row->ends[side].block;

		if (row->ends[side].there && block->cycles_rows > 0)
			row->average[side] = (double)block->cycles / (double)block->cycles_rows;
	}
	row->average_off = average_off(m, row);
	for (int side = 0; side < N_SIDES; side++)
		counts[side] = counts_of(m, side, i);
	significance_test(&row->share, counts);
}

static double p_value_of(const void *rows, size_t i)
{
	const struct diff_block *row = (const struct diff_block *)rows + i;

	return row->share.has_enough_data ? row->share.p_value : -1;
}

static int control(struct diff_blocks *blocks)
{
	double limit;
	int r = diff_control(blocks->rows, blocks->n_rows, p_value_of, &limit);

	for (size_t i = 0; r >= 0 && i < blocks->n_rows; i++)
		blocks->rows[i].significant =
			diff_is_significant(p_value_of(blocks->rows, i), limit);
	return r;
}

enum side diff_block_side(const struct diff_block *row)
{
	return row->ends[SIDE_NEW].there ? SIDE_NEW : SIDE_OLD;
}

static int compare_places(const struct diff_block *a, const struct diff_block *b)
{
	enum side x = diff_block_side(a), y = diff_block_side(b);
	const struct profile_block *left = &a->ends[x].block, *right = &b->ends[y].block;

	RETURN_UNLESS_EQUAL(COMPARE(left->object, right->object));
	RETURN_UNLESS_EQUAL(COMPARE(left->start, right->start));
	return COMPARE(left->end, right->end);
}

static int compare_rows(const void *p, const void *q)
{
	const struct diff_block *a = p, *b = q;
	double x = fabs(a->share.difference), y = fabs(b->share.difference);

	RETURN_UNLESS_EQUAL(COMPARE(b->significant, a->significant));
	RETURN_UNLESS_EQUAL(COMPARE(y, x));
	return compare_places(a, b);
}

/* Blocks that were paired with changed ones leave empty rows. */
static void drop_empty(struct diff_blocks *blocks)
{
	size_t n = 0;

	for (size_t i = 0; i < blocks->n_rows; i++)
		if (blocks->rows[i].ends[SIDE_OLD].there || blocks->rows[i].ends[SIDE_NEW].there)
			blocks->rows[n++] = blocks->rows[i];
	blocks->n_compared = blocks->n_rows = n;
}

static void drop_small(struct diff_blocks *blocks, double percent)
{
	size_t n = 0;

	for (size_t i = 0; i < blocks->n_rows; i++) {
		const struct diff_block *row = &blocks->rows[i];

		if (row->significant ||
		    100 * fmax(row->share.shares[SIDE_OLD], row->share.shares[SIDE_NEW]) >= percent)
			blocks->rows[n++] = *row;
	}
	blocks->n_rows = n;
}

static int match(struct matching *m)
{
	int r = 0;

	for (int side = 0; r >= 0 && side < N_SIDES; side++) {
		const struct profile *all = m->with->sources[side]->all;

		m->total[side] =
			m->blocks->by_cycles ? view_block_cycles(all) : all->counters.runs_counted;
		r = add_side(m, side);
	}
	if (r >= 0)
		r = diff_parts_init(&m->parts, m->with, m->blocks->n_rows);
	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = add_parts(m, side);
	if (r >= 0)
		r = match_changed(m);
	for (size_t i = 0; r >= 0 && i < m->blocks->n_rows; i++)
		test_block(m, i);
	if (r < 0)
		return r;
	drop_empty(m->blocks);
	return control(m->blocks);
}

int diff_blocks_new(struct diff_blocks **ret, const struct comparison *with, double percent_limit,
		    struct fault *fault)
{
	_cleanup_(diff_blocks_freep) struct diff_blocks *blocks = calloc(1, sizeof(*blocks));
	_cleanup_(matching_done) struct matching m = {
		.blocks = blocks,
		.with = with,
		.fault = fault,
	};
	int r;

	if (!blocks)
		return fault_set(fault, -ENOMEM, "out of memory");
	fault->text[0] = '\0';
	blocks->by_cycles = view_block_cycles(with->sources[SIDE_OLD]->all) > 0 &&
			    view_block_cycles(with->sources[SIDE_NEW]->all) > 0;
	r = match(&m);
	if (r < 0)
		return fault->text[0] ? r : fault_set(fault, r, "%s", strerror(-r));
	drop_small(blocks, percent_limit);
	for (size_t i = 0; i < blocks->n_rows; i++)
		blocks->n_significant += blocks->rows[i].significant;
	if (blocks->n_rows > 0)
		qsort(blocks->rows, blocks->n_rows, sizeof(*blocks->rows), compare_rows);
	*ret = TAKE_PTR(blocks);
	return 0;
}

struct diff_blocks *diff_blocks_free(struct diff_blocks *blocks)
{
	if (!blocks)
		return NULL;
	free(blocks->rows);
	free(blocks);
	return NULL;
}
