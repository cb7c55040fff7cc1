/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/query-counts.h"

#include <errno.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/fnv.h"

#define MINUTE_US    60000000ULL
#define N_LEAST      20           /* windows of a query, below which nothing is kept */
#define N_LEAST_KEPT 2            /* windows of a sum, unless it is of few functions */
#define IS_OF_COUNTS (1ULL << 63) /* tables of profiles have no such bit */

static uint64_t slot_of(const struct window *window)
{
	uint64_t length_us = window->length_us < MINUTE_US     ? 10 * MINUTE_US :
			     window->length_us < 5 * MINUTE_US ? 60 * MINUTE_US :
								 24 * 60 * MINUTE_US;

	return length_us + window->start_us / length_us;
}

static bool has_slots(const struct query *q)
{
	return q->slots && q->privileged && q->n_stored >= N_LEAST &&
	       !profile_filter_is_by_process(&q->request.filter);
}

/* The next windows of one slot and part; 0: too few. */
static size_t count_windows(const struct query *q,
			    bool (*ends_part)(const struct query *q, size_t at))
{
	const struct window *rows = &q->windows.rows[q->n_read];
	size_t left = q->n_stored - q->n_read, n = 1;

	while (n < left && slot_of(&rows[n]) == slot_of(&rows[0]) && !ends_part(q, n))
		n++;
	return n >= N_LEAST_KEPT || q->request.symbol ? n : 0;
}

static void make_key(struct query *q, size_t n)
{
	const char *symbol = q->request.symbol;
	uint64_t hash = fnv_add_number(FNV_BASIS, q->request.by + 1);

	if (symbol)
		hash = fnv_add(fnv_add_number(hash, strlen(symbol)), symbol, strlen(symbol));
	slot_key_make(&q->slot_key, &q->windows.rows[q->n_read], n, hash | IS_OF_COUNTS);
}

/* 1: it was added; 0: there is none, or it is of no use any more; -errno. */
static int add_kept(struct query *q)
{
	struct slot_sum *sum = slot_sums_find(q->slots, &q->slot_key, clock_us(CLOCK_MONOTONIC));
	int r;

	if (!sum)
		return 0;
	r = store_add_slot(archive_get_store(q->archive), slot_sum_counts(sum), q->functions->sum,
			   &q->fault);
	slot_sums_release(q->slots, sum);
	return r;
}

int query_counts_begin(struct query *q, bool (*ends_part)(const struct query *q, size_t at))
{
	size_t n;
	int r;

	if (q->in_slot || !has_slots(q))
		return 0;
	n = count_windows(q, ends_part);
	if (n == 0)
		return 0;
	make_key(q, n);
	r = add_kept(q);
	if (r > 0) {
		q->n_read += n;
		q->n_seen += n;
	}
	if (r != 0)
		return r;
	q->in_slot = true;
	q->slot_changed = false;
	q->slot_left = n;
	return count_slot_begin(q->functions->sum);
}

int query_counts_note_read(struct query *q, bool found)
{
	struct count_slot *counts = NULL;
	struct slot_sum *sum;
	int r;

	if (!q->in_slot)
		return 0;
	q->slot_changed |= !found;
	if (--q->slot_left > 0)
		return 0;
	q->in_slot = false;
	r = store_end_slot(archive_get_store(q->archive), q->functions->sum, &counts, &q->fault);
	if (r <= 0)
		return r;
	sum = q->slot_changed ? NULL :
				slot_sums_add_counts(q->slots, &q->slot_key, counts,
						     clock_us(CLOCK_MONOTONIC));
	if (sum)
		slot_sums_release(q->slots, sum);
	else
		count_slot_free(counts);
	return 0;
}
