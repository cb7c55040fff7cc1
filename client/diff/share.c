/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each side has a view, and if it has several windows, a view of each part of its time. Paired rows
 * join the rows of all views; each is then tested.
 */
#include "client/diff/share.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/diff/paired-rows.h"
#include "client/diff/parts.h"
#include "client/top/call-cost.h"
#include "client/top/function-shares.h"
#include "client/top/share.h"
#include "common/profile/scale.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* A comparison under way. The rows of the diff borrow the names of the whole profiles' views. */
struct comparing {
	struct diff_shares *diff;
	const struct comparison *with;
	bool inlined;
	struct paired_rows *paired;
	uint64_t *part_samples[N_SIDES];
	struct call_cost *costs[N_SIDES]; /* by paired row */
};

static void comparing_done(struct comparing *c)
{
	paired_rows_free(c->paired);
	for (int side = 0; side < N_SIDES; side++) {
		free(c->part_samples[side]);
		free(c->costs[side]);
	}
}

static int view_side(struct comparing *c, enum side side)
{
	const struct profile_source *source = c->with->sources[side];
	struct shares **shares = &c->diff->names[side];
	struct function_shares **counted = &c->diff->counted[side];
	int r;

	if (source->functions) {
		r = function_shares_new(counted, c->diff->by, source->functions);
		return r < 0 ? r : paired_rows_add(c->paired, side, source->shown, (*counted)->all);
	}
	r = view_shares(shares, c->diff->by, source->shown, source->symbolizer, c->inlined);
	return r < 0 ? r : paired_rows_add(c->paired, side, source->shown, *shares);
}

static int view_part(struct comparing *c, enum side side, size_t part)
{
	const struct profile_source *source = c->with->sources[side];
	const struct profile *profile = source->parts[part].shown;
	_cleanup_(shares_freep) struct shares *shares = NULL;
	int r;

	c->part_samples[side][part] = source->parts[part].samples;
	r = view_shares(&shares, c->diff->by, profile, source->symbolizer, c->inlined);
	return r < 0 ? r : paired_rows_add_part(c->paired, side, part, profile, shares);
}

/* All parts of what the daemon counted. */
static int add_functions(struct comparing *c, enum side side)
{
	const struct profile_source *source = c->with->sources[side];
	const struct function_shares *counted = c->diff->counted[side];

	for (size_t k = 0; k < source->n_parts; k++)
		c->part_samples[side][k] = source->parts[k].samples;
	for (size_t i = 0; i < counted->all->n_rows; i++) {
		int64_t row = paired_rows_find(c->paired, side, source->shown,
					       c->with->numbers[side], &counted->all->rows[i].key);

		if (row < 0)
			return (int)row;
		for (size_t k = 0; (size_t)row < c->paired->n_rows && k < source->n_parts; k++) {
			const struct function_shares_count *count =
				function_shares_count_of(counted, k, i);

			paired_rows_add_count(c->paired, side, k, (size_t)row,
					      &(struct paired_count){ count->self, count->total },
					      source->parts[k].samples);
		}
	}
	return 0;
}

static int view_parts(struct comparing *c, enum side side)
{
	size_t n = c->with->sources[side]->n_parts;
	int r;

	c->part_samples[side] = calloc(n + 1, sizeof(*c->part_samples[side]));
	if (!c->part_samples[side])
		return -ENOMEM;
	r = paired_rows_set_parts(c->paired, side, n);
	if (c->with->sources[side]->functions)
		return r < 0 ? r : add_functions(c, side);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = view_part(c, side, i);
	return r;
}

/* Of the functions of one side. */
static int add_call_costs(struct comparing *c, enum side side)
{
	const struct profile_source *source = c->with->sources[side];
	const struct profile *profile = source->shown;
	const struct call_cost *costs = source->functions ? c->diff->counted[side]->costs : NULL;
	_cleanup_free_ struct call_cost *counted = NULL;
	int r = 0;

	c->costs[side] = calloc(c->paired->n_rows + 1, sizeof(*c->costs[side]));
	if (!c->costs[side])
		return -ENOMEM;
	if (c->diff->by != VIEW_FUNCTION)
		return 0;
	if (!costs) {
		r = call_cost_count(&counted, profile);
		costs = counted;
	}
	for (size_t i = 0; r >= 0 && i < profile->n_functions; i++) {
		const struct profile_function *function = &profile->functions[i];
		struct share_key key = { .symbol = function->name, .object = function->object };
		int64_t row =
			paired_rows_find(c->paired, side, profile, c->with->numbers[side], &key);

		if (row < 0)
			return (int)row;
		if ((size_t)row < c->paired->n_rows)
			call_cost_add(&c->costs[side][row], &costs[i]);
	}
	return r;
}

static struct significance_counts counts_of(const struct comparing *c, enum side side, size_t row,
					    bool is_total)
{
	const struct paired_count *count = &c->paired->rows[row].counts[side];
	size_t n_parts = c->paired->n_parts[side];
	const struct profile_counters *all = &c->with->sources[side]->all->counters;
	const struct paired_count *variance = &c->paired->rows[row].variances[side];
	bool of_captured = is_total || c->diff->by == VIEW_LINE; /* see profile_row_unit() */
	struct significance_counts counts = {
		.count = is_total ? count->total : count->self,
		.total = all->samples,
		.all = c->part_samples[side],
		.n_parts = n_parts,
		.stride = sizeof(*count) / sizeof(count->self),
		.unit = profile_sample_unit(all),
	};

	if (of_captured)
		counts.unit = profile_row_unit(all, counts.count,
					       is_total ? variance->total : variance->self);
	if (n_parts > 0) {
		count = &c->paired->parts[side][row * n_parts];
		counts.parts = is_total ? &count->total : &count->self;
	}
	return counts;
}

static void test_row(const struct comparing *c, struct significance *ret, size_t row, bool is_total)
{
	struct significance_counts counts[N_SIDES] = { counts_of(c, SIDE_OLD, row, is_total),
						       counts_of(c, SIDE_NEW, row, is_total) };

	significance_test(ret, counts);
}

static void fill_row(const struct comparing *c, size_t i)
{
	struct diff_share *row = &c->diff->rows[i];
	const struct paired_row *from = &c->paired->rows[i];

	for (int side = 0; side < N_SIDES; side++)
		row->ends[side] = (struct diff_share_end){
			.there = from->is_in[side],
			.key = from->keys[side],
			.self = from->counts[side].self,
			.total = from->counts[side].total,
			.per_call = call_cost_per_call(&c->costs[side][i],
						       &c->with->sources[side]->shown->counters),
		};
	test_row(c, &row->self, i, false);
	test_row(c, &row->total, i, true);
}

static double self_p_value(const void *rows, size_t i)
{
	const struct diff_share *row = (const struct diff_share *)rows + i;

	return row->self.has_enough_data ? row->self.p_value : -1;
}

static double total_p_value(const void *rows, size_t i)
{
	const struct diff_share *row = (const struct diff_share *)rows + i;

	return row->total.has_enough_data ? row->total.p_value : -1;
}

/* Self and total differences are two families of tests, each with its own control. */
static int control(struct diff_shares *diff)
{
	double self_limit, total_limit;

	if (diff_control(diff->rows, diff->n_rows, self_p_value, &self_limit) < 0 ||
	    diff_control(diff->rows, diff->n_rows, total_p_value, &total_limit) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < diff->n_rows; i++) {
		struct diff_share *row = &diff->rows[i];

		row->significant = diff_is_significant(self_p_value(diff->rows, i), self_limit);
		row->total_significant =
			diff_is_significant(total_p_value(diff->rows, i), total_limit);
	}
	return 0;
}

/* Significant rows first, by self, then by total; then by the size of the difference. */
static int compare_rows(const void *p, const void *q)
{
	const struct diff_share *a = p, *b = q;
	double x = fabs(a->self.difference), y = fabs(b->self.difference);
	const struct share_key *left = &a->ends[diff_share_side(a)].key;
	const struct share_key *right = &b->ends[diff_share_side(b)].key;
	int r;

	RETURN_UNLESS_EQUAL(COMPARE(b->significant, a->significant));
	if (!a->significant)
		RETURN_UNLESS_EQUAL(COMPARE(b->total_significant, a->total_significant));
	RETURN_UNLESS_EQUAL(COMPARE(y, x));
	x = fabs(a->total.difference);
	y = fabs(b->total.difference);
	RETURN_UNLESS_EQUAL(COMPARE(y, x));
	r = compare_strings(left->symbol, right->symbol);
	r = r ?: compare_strings(left->file, right->file);
	r = r ?: compare_strings(left->group, right->group);
	r = r ?: COMPARE(left->line, right->line);
	r = r ?: COMPARE(left->object, right->object);
	return r ?: COMPARE(left->start, right->start);
}

/* Drops rows with less than @percent on both sides, unless they are significant. */
static void drop_small(struct diff_shares *diff, double percent)
{
	size_t n = 0;

	for (size_t i = 0; i < diff->n_rows; i++) {
		const struct diff_share *row = &diff->rows[i];
		double share = MAX(row->total.shares[SIDE_OLD], row->total.shares[SIDE_NEW]);

		if (row->significant || row->total_significant || 100 * share >= percent)
			diff->rows[n++] = *row;
	}
	diff->n_rows = n;
}

static int make_rows(struct comparing *c)
{
	struct diff_shares *diff = c->diff;

	diff->rows = calloc(c->paired->n_rows + 1, sizeof(*diff->rows));
	if (!diff->rows)
		return -ENOMEM;
	diff->n_rows = diff->n_compared = c->paired->n_rows;
	for (size_t i = 0; i < diff->n_rows; i++)
		fill_row(c, i);
	return control(diff);
}

/* Whether the row's function or line was changed. */
static int find_change(struct comparing *c, size_t i, struct fault *fault)
{
	struct diff_share *row = &c->diff->rows[i];
	enum side side = diff_share_side(row);
	const struct share_key *key = &row->ends[side].key;
	int r;

	if (c->diff->by == VIEW_LINE)
		row->change = c->paired->rows[i].line_changed ? CHANGE_SOURCE : CHANGE_NONE;
	if (c->diff->by != VIEW_FUNCTION || !key->symbol || key->object == PROFILE_NONE)
		return 0;
	r = change_detector_find(c->with->detector, c->with->numbers[side][key->object],
				 key->symbol, fault);
	if (r < 0)
		return r;
	row->change = (enum change)r;
	return 0;
}

static int find_changes(struct comparing *c, struct fault *fault)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < c->diff->n_rows; i++)
		r = find_change(c, i, fault);
	return r;
}

static int compare_sides(struct diff_shares *diff, const struct comparison *with, bool inlined,
			 struct fault *fault)
{
	_cleanup_(comparing_done) struct comparing c = {
		.diff = diff,
		.with = with,
		.inlined = inlined,
	};
	int r;

	r = paired_rows_new(&c.paired, diff->by, with->objects, with->map, fault);
	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = view_side(&c, side);
	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = view_parts(&c, side);
	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = add_call_costs(&c, side);
	if (r >= 0)
		r = make_rows(&c);
	return r < 0 ? r : find_changes(&c, fault);
}

int diff_shares_new(struct diff_shares **ret, enum view_by by, const struct comparison *with,
		    bool inlined, double percent_limit, struct fault *fault)
{
	_cleanup_(diff_shares_freep) struct diff_shares *diff = calloc(1, sizeof(*diff));
	int r;

	if (!diff)
		return fault_set(fault, -ENOMEM, "out of memory");
	fault->text[0] = '\0';
	diff->by = by;
	r = compare_sides(diff, with, inlined, fault);
	if (r < 0)
		return fault->text[0] ? r : fault_set(fault, r, "%s", strerror(-r));
	drop_small(diff, percent_limit);
	if (diff->n_rows > 0)
		qsort(diff->rows, diff->n_rows, sizeof(*diff->rows), compare_rows);
	for (size_t i = 0; i < diff->n_rows; i++)
		diff->n_significant += diff->rows[i].significant;
	*ret = TAKE_PTR(diff);
	return 0;
}

struct diff_shares *diff_shares_free(struct diff_shares *diff)
{
	if (!diff)
		return NULL;
	for (int side = 0; side < N_SIDES; side++) {
		shares_free(diff->names[side]);
		function_shares_free(diff->counted[side]);
	}
	free(diff->rows);
	free(diff);
	return NULL;
}

enum side diff_share_side(const struct diff_share *row)
{
	return row->ends[SIDE_NEW].there ? SIDE_NEW : SIDE_OLD;
}
