/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A slot is taken as a whole where windows before it and behind it are chosen, too, or where the
 * chosen ones begin or end with it: so its sum is of use for queries that begin and end elsewhere.
 * Edges are read as they are, or as shorter slots.
 *
 * A part of a day whose windows are minutes already, as a diff asks for to tell what is noise, has
 * no slots of use for others: it is one by itself.
 */
#include "daemon/api/query-slots.h"

#include <errno.h>

#include "common/profile/limit/limit.h"
#include "common/profile/tables.h"
#include "common/util/array.h"
#include "common/util/clock.h"
#include "daemon/api/query-parts.h"
#include "daemon/retention/merge.h"

#define MINUTE_US 60000000ULL

/*
 * The slots of a query that is as long as that, or longer, and how many windows they have at least.
 * Few windows of a large machine take as long to add up as many; but where windows are minutes
 * already, sums of ten would be many. A sum keeps no more rows than a window.
 */
static const struct {
	uint64_t length_us, least_us;
	size_t n_least;
} lengths[] = {
	{ 60 * MINUTE_US, 1200 * MINUTE_US, 2 },
	{ 10 * MINUTE_US, 200 * MINUTE_US, 2 },
	{ 10 * MINUTE_US, 30 * MINUTE_US, 20 },
	{ MINUTE_US, 20 * MINUTE_US, 2 },
};

#define IS_PART        (1u << 31) /* beside tables, in a key */
#define PART_N_LEAST   10         /* windows */
#define PART_MAX_BYTES (2u << 20) /* of a sum, which has all rows */

static bool has_slots(const struct query *q)
{
	return q->slots && q->privileged && !q->functions &&
	       !profile_filter_is_by_process(&q->request.filter);
}

/* Whether the slot of that length begins with window @first: then how many it has, or 0. */
static size_t count_windows(const struct query *q, size_t first, uint64_t slot_us)
{
	const struct window *rows = q->windows.rows, *last = &rows[q->n_stored - 1];
	uint64_t slot = rows[first].start_us / slot_us;
	size_t at = first;

	if (first == 0 ? rows[0].start_us % slot_us != 0 :
			 rows[first - 1].start_us / slot_us == slot)
		return 0;
	while (at < q->n_stored && rows[at].start_us / slot_us == slot)
		at++;
	return at < q->n_stored || (last->start_us + last->length_us) % slot_us == 0 ? at - first :
										       0;
}

/* The windows of the longest slot that begins with number @first; 0: there is none. */
static size_t find_slot(const struct query *q, size_t first)
{
	const struct window *rows = q->windows.rows, *last = &rows[q->n_stored - 1];
	uint64_t end_us = last->start_us + last->length_us;

	if (end_us < rows[0].start_us)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		size_t n;

		if (end_us - rows[0].start_us < lengths[i].least_us)
			continue;
		n = count_windows(q, first, lengths[i].length_us);
		if (n >= lengths[i].n_least)
			return n;
	}
	return 0;
}

/* Whether the windows are a slot as a whole. */
static bool is_part(const struct query *q)
{
	const struct window *rows = q->windows.rows;

	return q->n_read == 0 && q->n_stored >= PART_N_LEAST && rows[0].length_us >= MINUTE_US &&
	       rows[q->n_stored - 1].length_us >= MINUTE_US &&
	       rows[q->n_stored - 1].start_us - rows[0].start_us < lengths[1].least_us;
}

/* Of the next slot; 0: there is none. */
static size_t choose_slot(struct query *q)
{
	size_t n = find_slot(q, q->n_read);

	q->slot_is_part = n == 0 && is_part(q);
	return q->slot_is_part ? q->n_stored : n;
}

static int reserve_pin(struct query *q)
{
	return ARRAY_RESERVE(&q->pinned, &q->cap_pinned, q->n_pinned + 1);
}

/* Sums may go once no part is one of them. */
static void release_pins(struct query *q)
{
	for (size_t i = 0; i < q->n_parts; i++)
		if (q->is_borrowed[i])
			return;
	while (q->n_pinned > 0)
		slot_sums_release(q->slots, q->pinned[--q->n_pinned]);
}

/* The sum is a part that is not the query's own. There is room for its pin. */
static void borrow(struct query *q, struct slot_sum *sum)
{
	q->pinned[q->n_pinned++] = sum;
	q->is_borrowed[q->n_parts] = true;
	q->parts[q->n_parts++] = slot_sum_profile(sum);
}

/* Rows as retention leaves them: of stacks, and of the others together. */
static int limit(struct profile *sum, unsigned int tables)
{
	bool has_both = (tables & PROFILE_TABLE(PROFILE_STACKS)) &&
			sum->n_streams + sum->n_branches + sum->n_blocks > 0;
	int r = profile_limit_all(sum, PROFILE_ALL_TABLES,
				  has_both ? STORE_SUM_ALL_ROWS : STORE_SUM_ROWS);

	return r > 0 ? profile_finalize(sum) : r;
}

/* The step that ends a slot. */
static int make_sum(struct query *q)
{
	int r = window_sum_take(q->sum, &q->made);

	q->sum = window_sum_free(q->sum);
	return r < 0 || q->slot_is_part ? r : limit(q->made, q->request.tables);
}

/* The next windows that no slot begins with. */
static size_t count_edge(const struct query *q)
{
	size_t n = 1;

	while (n < QUERY_BATCH && q->n_read + n < q->n_stored && find_slot(q, q->n_read + n) == 0)
		n++;
	return n;
}

static int leave(struct query *q, int (*step)(struct query *q))
{
	q->step = step;
	return 1;
}

void query_slots_take_made(struct query *q)
{
	struct slot_sum *sum = NULL;

	if (!q->made)
		return;
	if (!q->slot_changed && !(q->slot_is_part && profile_bytes(q->made) > PART_MAX_BYTES) &&
	    reserve_pin(q) >= 0)
		sum = slot_sums_add(q->slots, &q->slot_key, q->made, clock_us(CLOCK_MONOTONIC));
	if (sum)
		borrow(q, sum);
	else
		q->parts[q->n_parts++] = q->made;
	q->made = NULL;
}

int query_slots_next(struct query *q, size_t *ret_n)
{
	struct slot_sum *sum;

	*ret_n = MIN(q->n_stored - q->n_read, (size_t)QUERY_BATCH);
	if (!has_slots(q))
		return 0;
	release_pins(q);
	if (q->made) {
		query_slots_take_made(q);
		return 1;
	}
	if (q->in_slot && q->slot_left == 0) {
		q->in_slot = false;
		return q->sum ? leave(q, make_sum) : 1;
	}
	if (!q->in_slot) {
		q->slot_left = choose_slot(q);
		if (q->slot_left == 0) {
			*ret_n = count_edge(q);
			return 0;
		}
		if (q->sum)
			return leave(q, query_take_sum);
		slot_key_make(&q->slot_key, &q->windows.rows[q->n_read], q->slot_left,
			      q->request.tables | (q->slot_is_part ? IS_PART : 0));
		if (reserve_pin(q) < 0)
			return -ENOMEM;
		sum = slot_sums_find(q->slots, &q->slot_key, clock_us(CLOCK_MONOTONIC));
		if (sum) {
			q->n_read += q->slot_left;
			borrow(q, sum);
			return 1;
		}
		q->in_slot = true;
		q->slot_changed = false;
	}
	*ret_n = MIN(q->slot_left, (size_t)QUERY_BATCH);
	return 0;
}

int64_t query_slots_last(const struct query *q)
{
	return q->in_slot && !q->slot_is_part ? q->windows.rows[q->n_read + q->slot_left - 1].id :
						0;
}

void query_slots_note_read(struct query *q, size_t n, size_t n_found)
{
	if (!q->in_slot)
		return;
	q->slot_left -= n;
	q->slot_changed |= n_found < n;
}

void query_slots_done(struct query *q)
{
	profile_free(q->made);
	for (size_t i = 0; i < q->n_pinned; i++)
		slot_sums_release(q->slots, q->pinned[i]);
	free(q->pinned);
}
