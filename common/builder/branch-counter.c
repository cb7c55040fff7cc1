/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/branch-counter.h"

#include <errno.h>

#include "common/util/macro.h"

#define MAX_PIECE (RECORD_BATCH - 1) /* records of one batch; the leaf comes before them */

int branch_counter_init(struct branch_counter *counter, size_t max_counts)
{
	*counter = (struct branch_counter){ 0 };
	return branch_table_init(&counter->table, max_counts);
}

void branch_counter_done(struct branch_counter *counter)
{
	branch_table_done(&counter->table);
}

/* Few records have such a flag: only those are checked one by one. */
#define DOUBTFUL (BRANCH_RECORD_AFTER_GAP | BRANCH_RECORD_SPEC_MASK)

static void count_skipped(struct branch_counter *c, const struct branch_record *row)
{
	*(branch_record_is_empty(row) ? &c->n_zero : &c->n_wrong_path) += 1;
}

/*
 * Puts the valid ones of @n records from @at on into the batch, oldest first, each with the run
 * before it. *@begin is where that run begins, or 0 where this is unknown. A skipped record breaks
 * the chain: the runs before and after it are unknown. With gaps no run is known.
 */
static void put_records(struct branch_counter *c, const struct counted_snapshot *s, size_t at,
			size_t n, uint64_t *begin, struct record_cursor *ret)
{
	const bool gaps = s->gaps;
	const uint64_t context = run_of_context(s->context, 0);
	struct record_cursor to = *ret;
	uint64_t before = *begin;

	for (size_t i = at + n; i-- > at;) {
		const struct branch_record *row = &s->rows[i];
		const uint64_t flags = row->flags;
		uint32_t run = RUN_NONE;

		if (_unlikely_(branch_record_is_empty(row) || gaps || flags & DOUBTFUL)) {
			before = gaps || flags & BRANCH_RECORD_AFTER_GAP ? 0 : before;
			if (!branch_record_is_sound(row)) {
				count_skipped(c, row);
				before = 0;
				continue;
			}
		}
		if (_likely_(before != 0))
			run = run_between(before, row->from);
		else
			c->n_runs--;
		branch_table_put(&to, context | run_and_kind(run, flags), row->from, row->to,
				 flags);
		before = row->to;
	}
	c->n_runs += (uint64_t)(to.row - ret->row);
	*begin = before;
	*ret = to;
}

int branch_counter_add(struct branch_counter *counter, const struct counted_snapshot *snapshot)
{
	size_t left = snapshot->n_rows;
	struct record_cursor cursor;
	uint64_t begin = 0;

	for (bool leaf = snapshot->has_leaf; left > 0 || leaf; leaf = false) {
		size_t n = MIN(left, (size_t)MAX_PIECE);

		if (branch_table_begin(&counter->table, &cursor) < 0)
			return -ENOMEM;
		if (leaf)
			branch_table_put_sample(&counter->table, &cursor, snapshot->context,
						snapshot->leaf, snapshot->weight);
		left -= n;
		if (n > 0)
			put_records(counter, snapshot, left, n, &begin, &cursor);
		branch_table_submit(&counter->table, &cursor);
	}
	return 0;
}
