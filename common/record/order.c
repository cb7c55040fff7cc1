/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The records that wait are an array of runs, each of them in order already: a CPU's ring is
 * drained in order of time. So they are sorted by merging neighbouring runs (a natural merge sort:
 * Knuth, The Art of Computer Programming 3, 5.2.4), which for R rings costs log R steps a record,
 * and none where a recording is sorted already.
 */
#include "common/record/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

#define MAX_WAITING (512u * 1024)
#define MAX_CHUNKS  128 /* of unpacked records: 32 MiB */

#define AHEAD       2 /* records */
#define AHEAD_BYTES 896
#define CACHE_LINE  64

struct order {
	struct waiting *records, *scratch; /* from head on they wait, in order up to n_sorted */
	size_t head, n, cap, cap_scratch;
	size_t n_ready; /* of those from head on, how many may go out */
	size_t max_waiting;
	size_t n_chunks;     /* that those that wait hold */
	uint64_t last_time;  /* of the record added last */
	uint64_t max_time;   /* of all added */
	uint64_t round_time; /* max_time when the round before ended */
	uint64_t out_time;   /* of the last one that went out */
	uint64_t n_late;
};

int order_new(struct order **ret, size_t max_waiting)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->max_waiting = max_waiting ? max_waiting : MAX_WAITING;
	*ret = o;
	return 0;
}

struct order *order_free(struct order *order)
{
	if (!order)
		return NULL;
	for (size_t i = order->head; i < order->n; i++)
		chunk_unref(order->records[i].chunk);
	free(order->records);
	free(order->scratch);
	free(order);
	return NULL;
}

bool order_is_full(const struct order *order)
{
	return order->n - order->head >= order->max_waiting || order->n_chunks >= MAX_CHUNKS;
}

uint64_t order_n_late(const struct order *order)
{
	return order->n_late;
}

/* Where the run that begins at @i ends. */
static size_t run_end(const struct waiting *r, size_t i, size_t n)
{
	for (i++; i < n && r[i - 1].time_ns <= r[i].time_ns; i++)
		;
	return i;
}

static void merge_runs(struct waiting *to, const struct waiting *a, const struct waiting *a_end,
		       const struct waiting *b, const struct waiting *b_end)
{
	while (a < a_end && b < b_end)
		*to++ = b->time_ns < a->time_ns ? *b++ : *a++;
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	to += a_end - a;
	memcpy(to, b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges each two neighbouring runs of @from into @to: the number of runs there are now. */
static size_t merge_pairs(struct waiting *to, const struct waiting *from, size_t n)
{
	size_t n_runs = 0;

	for (size_t i = 0; i < n;) {
		size_t middle = run_end(from, i, n);
		size_t end = middle < n ? run_end(from, middle, n) : n;

		merge_runs(to + i, from + i, from + middle, from + middle, from + end);
		n_runs++;
		i = end;
	}
	return n_runs;
}

static int sort(struct order *o)
{
	size_t n = o->n - o->head;

	if (n == 0 || run_end(o->records + o->head, 0, n) == n)
		return 0;
	if (ARRAY_RESERVE(&o->scratch, &o->cap_scratch, o->cap) < 0)
		return -ENOMEM;
	for (;;) {
		size_t n_runs = merge_pairs(o->scratch, o->records + o->head, n);
		struct waiting *records = o->scratch;
		size_t cap = o->cap_scratch;

		o->scratch = o->records;
		o->cap_scratch = o->cap;
		o->records = records;
		o->cap = cap;
		o->head = 0;
		o->n = n;
		if (n_runs == 1)
			return 0;
	}
}

/* How many of those that wait, in order, are not after @time. */
static size_t count_until(const struct order *o, uint64_t time)
{
	size_t low = o->head, high = o->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (o->records[middle].time_ns <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low - o->head;
}

/* There are too many: the older half goes out, whether their time has come or not. */
static int relieve(struct order *o)
{
	int r = sort(o);

	if (r < 0)
		return r;
	o->n_ready = (o->n - o->head + 1) / 2;
	return 0;
}

/* Room for one more, if it can by moving up into the place of those that went out. */
static int make_room(struct order *o)
{
	if (o->n < o->cap)
		return 0;
	/* At its largest it moves up for less: it should not get twice as large for some free
	 * places. */
	if (o->head > (o->cap < o->max_waiting ? o->n / 2 : 0)) {
		memmove(o->records, o->records + o->head, (o->n - o->head) * sizeof(*o->records));
		o->n -= o->head;
		o->head = 0;
	}
	return ARRAY_RESERVE(&o->records, &o->cap, o->n + 1);
}

int order_add(struct order *order, const struct waiting *record)
{
	struct waiting w = *record;
	int r = make_room(order);

	if (r < 0)
		return r;
	if (w.time_ns == 0)
		w.time_ns = order->last_time;
	order->last_time = w.time_ns;
	order->max_time = MAX(order->max_time, w.time_ns);
	if (w.time_ns < order->out_time)
		order->n_late++;
	if (w.chunk && w.chunk->n_waiting++ == 0)
		order->n_chunks++;
	order->records[order->n++] = w;
	if (order->n_ready > 0) /* they are asked for later */
		return 0;
	return order_is_full(order) ? relieve(order) : 0;
}

size_t order_n_chunks(const struct order *order)
{
	return order->n_chunks;
}

int order_move(struct order *order, order_mover mover, void *userdata)
{
	for (size_t i = order->head; i < order->n; i++) {
		struct waiting *w = &order->records[i], to = { 0 };
		int r = mover(w->record, &to, userdata);

		if (r < 0)
			return r;
		order->n_chunks += to.chunk->n_waiting++ == 0;
		order->n_chunks -= --w->chunk->n_waiting == 0;
		chunk_unref(w->chunk);
		w->record = to.record;
		w->chunk = to.chunk;
	}
	return 0;
}

int order_finish_until(struct order *order, uint64_t time_ns)
{
	int r = sort(order);

	if (r < 0)
		return r;
	order->n_ready = count_until(order, time_ns);
	return 0;
}

int order_finish_round(struct order *order)
{
	int r = order_finish_until(order, order->round_time);

	if (r >= 0)
		order->round_time = order->max_time;
	return r;
}

int order_finish(struct order *order)
{
	int r = sort(order);

	if (r < 0)
		return r;
	order->n_ready = order->n - order->head;
	return 0;
}

/* Asks for the bytes of a record that goes out soon: as many as a sample with 32 rows has. */
static void read_ahead(const struct waiting *w)
{
	for (size_t i = 0; i < AHEAD_BYTES; i += CACHE_LINE)
		__builtin_prefetch((const char *)w->record + i);
}

bool order_next(struct order *order, struct waiting *ret)
{
	if (order->n_ready == 0)
		return false;
	order->n_ready--;
	*ret = order->records[order->head++];
	if (order->n_ready > AHEAD)
		read_ahead(&order->records[order->head + AHEAD]);
	if (ret->chunk && --ret->chunk->n_waiting == 0)
		order->n_chunks--;
	order->out_time = MAX(order->out_time, ret->time_ns);
	return true;
}
