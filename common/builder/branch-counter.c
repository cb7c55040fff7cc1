/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/branch-counter.h"

#include <errno.h>

#include "common/util/macro.h"

#define MAX_PIECE (ROW_BATCH - 1) /* rows that are judged at once; the leaf is before them */

int branch_counter_init(struct branch_counter *counter, size_t max_counts)
{
	*counter = (struct branch_counter){ 0 };
	return branch_table_init(&counter->table, max_counts);
}

void branch_counter_done(struct branch_counter *counter)
{
	branch_table_done(&counter->table);
}

/* Flags that most rows have none of: what they mean is looked at where they are. */
#define DOUBTFUL (BRANCH_RECORD_AFTER_GAP | BRANCH_RECORD_SPEC_MASK)

static void set_aside(struct branch_counter *c, const struct branch_record *row)
{
	*(branch_record_is_empty(row) ? &c->n_zero : &c->n_wrong_path) += 1;
}

/*
 * The rows to believe, oldest first, each with the run before it, which began at *@begin (0: it is
 * not known where). A row set aside breaks the chain: nothing is known of the run before it, nor of
 * the one after. With @gaps between all rows no run is known.
 */
static void judge(struct branch_counter *c, const struct branch_record *rows, size_t n, bool gaps,
		  uint64_t *begin, struct row_cursor *ret)
{
	struct row_cursor to = *ret;
	uint64_t before = *begin, n_runs = 0;

	for (size_t i = n; i-- > 0;) {
		const struct branch_record *row = &rows[i];
		const uint64_t flags = row->flags;
		uint32_t run = RUN_NONE;

		if (_unlikely_(branch_record_is_empty(row) || gaps || flags & DOUBTFUL)) {
			before = gaps || flags & BRANCH_RECORD_AFTER_GAP ? 0 : before;
			if (!branch_record_is_sound(row)) {
				set_aside(c, row);
				before = 0;
				continue;
			}
		}
		if (_likely_(before != 0)) {
			run = run_between(before, row->from);
			n_runs++;
		}
		row_put(&to, (struct counted_row){
				     .from = row->from,
				     .to = row->to,
				     .cycles = branch_record_cycles(row),
				     .run = run_and_kind(run, flags),
				     .flags = (uint32_t)flags,
			     });
		before = row->to;
	}
	c->n_runs += n_runs;
	*begin = before;
	*ret = to;
}

int branch_counter_add(struct branch_counter *counter, const struct counted_snapshot *snapshot)
{
	size_t left = snapshot->n_rows;
	struct row_cursor cursor;
	uint64_t begin = 0;

	for (bool leaf = snapshot->has_leaf; left > 0 || leaf; leaf = false) {
		size_t n = MIN(left, (size_t)MAX_PIECE);

		if (branch_table_begin(&counter->table, snapshot->context, &cursor) < 0)
			return -ENOMEM;
		if (leaf)
			row_put(&cursor, (struct counted_row){ .from = snapshot->leaf,
							       .cycles = snapshot->weight });
		left -= n;
		if (n > 0)
			judge(counter, snapshot->rows + left, n, snapshot->gaps, &begin, &cursor);
		branch_table_submit(&counter->table, &cursor);
	}
	return 0;
}
