/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/function-blob.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/radix.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "daemon/rows/byte-writer.h"
#include "daemon/rows/packed.h"

/* What a row has an id for, and which row or slot it is. */
struct ranked {
	int64_t id, object;
	size_t index;
};

static bool is_same(const struct ranked *a, const struct ranked *b)
{
	return a->id == b->id && (a->id != 0 || a->object == b->object);
}

static int compare_ranked(const void *p, const void *q)
{
	const struct ranked *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(a->id, b->id));
	RETURN_UNLESS_EQUAL(COMPARE(a->object, b->object));
	return COMPARE(a->index, b->index);
}

static int64_t id_of(const struct interned *rows, uint32_t i)
{
	return i == PROFILE_NONE ? 0 : rows[i].id;
}

/*
 * Rows are written in the order of their ids, all of them and again by process. Only the functions
 * and objects, which are far fewer, are compared: each has a slot, and a slot has a rank.
 */
struct writing {
	const struct function_counts *counts;
	const struct interned *processes_of, *objects, *names;
	uint32_t *rank;         /* of each slot that has rows: a number of @slots */
	struct ranked *slots;   /* by id and object, each once */
	struct ranked *order;   /* room for all processes */
	struct radix_key *keys; /* room for all rows, twice */
	bool has_variances;
	struct byte_writer all, processes, rows; /* rows: of a process, while they are written */
};

static void writing_done(struct writing *w)
{
	free(w->rank);
	free(w->slots);
	free(w->order);
	free(w->keys);
	free(w->processes.data);
	free(w->rows.data);
}

static size_t slot_of(const struct writing *w, const struct function_count *row)
{
	return function_counts_slot(w->counts, row->function, row->at.object);
}

/* The slots that have rows, each with its ids: how many there are. */
static size_t list_slots(struct writing *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->counts->n_rows; i++) {
		const struct function_count *row = &w->counts->rows[i];
		size_t slot = slot_of(w, row);

		if (w->rank[slot])
			continue;
		w->rank[slot] = 1;
		w->slots[n++] = (struct ranked){
			.id = id_of(w->names, row->function),
			.object = id_of(w->objects, row->at.object),
			.index = slot,
		};
	}
	return n;
}

/* Gives each slot its rank; those that are the same in the database have one. */
static void rank_slots(struct writing *w)
{
	size_t n = list_slots(w), n_kept = 0;

	if (n > 0)
		qsort(w->slots, n, sizeof(*w->slots), compare_ranked);
	for (size_t i = 0; i < n; i++) {
		const struct ranked slot = w->slots[i];

		if (n_kept == 0 || !is_same(&w->slots[n_kept - 1], &slot))
			w->slots[n_kept++] = slot;
		w->rank[slot.index] = (uint32_t)(n_kept - 1);
	}
}

static int writing_init(struct writing *w)
{
	const struct function_counts *counts = w->counts;

	if (ARRAY_ALLOCATE_ZEROED(&w->rank, function_counts_n_slots(counts)) < 0 ||
	    ARRAY_ALLOCATE(&w->slots, function_counts_n_slots(counts)) < 0 ||
	    ARRAY_ALLOCATE(&w->order, counts->n_processes) < 0 ||
	    ARRAY_ALLOCATE(&w->keys, 2 * counts->n_rows + 1) < 0)
		return -ENOMEM;
	rank_slots(w);
	return 0;
}

/* @object: of the parts of an object outside of functions; negative: it is a function. */
static void put_function(const struct writing *w, struct byte_writer *bytes,
			 const struct function_tally *t, uint64_t step, int64_t object)
{
	bool has_runs = t->calls > 0 || t->runs > 0;

	byte_writer_put(bytes, 2 * step + has_runs);
	if (object >= 0)
		byte_writer_put(bytes, (uint64_t)object);
	byte_writer_put(bytes, t->self);
	byte_writer_put(bytes, t->total);
	if (w->has_variances)
		byte_writer_put(bytes, t->variance);
	if (!has_runs)
		return;
	byte_writer_put(bytes, t->calls);
	byte_writer_put(bytes, t->runs);
	byte_writer_put(bytes, t->timed_runs);
	byte_writer_put(bytes, t->cycles);
}

/* Some rows, in the order of their ids. Those of one id are written as one. */
static void put_rows(struct writing *w, struct byte_writer *bytes, size_t first, size_t n)
{
	const struct function_count *rows = &w->counts->rows[first];
	int64_t before = 0;

	for (size_t i = 0; i < n; i++)
		w->keys[i] = (struct radix_key){ { w->rank[slot_of(w, &rows[i])] }, (uint32_t)i };
	radix_sort(w->keys, w->keys + n, n);
	for (size_t i = 0, next; i < n; i = next) {
		uint32_t rank = w->keys[i].word[0];
		const struct ranked *slot = &w->slots[rank];
		struct function_tally tally = rows[w->keys[i].index].tally;

		for (next = i + 1; next < n && w->keys[next].word[0] == rank; next++)
			function_tally_add(&tally, &rows[w->keys[next].index].tally);
		put_function(w, bytes, &tally, (uint64_t)(slot->id - before),
			     slot->id != 0 ? -1 : slot->object);
		before = slot->id;
	}
}

static void put_sized(struct writing *w, struct byte_writer *to, size_t first, size_t n)
{
	struct byte_writer *rows = &w->rows;

	rows->n = 0;
	put_rows(w, rows, first, n);
	byte_writer_put(to, rows->n);
	if (ARRAY_RESERVE(&to->data, &to->cap, to->n + rows->n) < 0)
		to->failed = true;
	else if (rows->n > 0)
		memcpy(to->data + to->n, rows->data, rows->n);
	to->n += to->failed ? 0 : rows->n;
	to->failed |= rows->failed;
}

static void put_process(struct writing *w, const struct process_tally *process, uint64_t step)
{
	byte_writer_put(&w->all, step);
	byte_writer_put(&w->all, process->samples);
	byte_writer_put(&w->processes, process->weight);
	byte_writer_put(&w->processes, process->taken);
	byte_writer_put(&w->processes, process->cycles);
	byte_writer_put(&w->processes, process->runs);
	byte_writer_put(&w->processes, process->hits);
	put_sized(w, &w->processes, process->first, process->n);
}

static void put_all(struct writing *w)
{
	const struct function_counts *counts = w->counts;
	int64_t before = 0;

	put_sized(w, &w->all, 0, counts->n_rows);
	for (size_t i = 0; i < counts->n_processes; i++)
		w->order[i] = (struct ranked){ id_of(w->processes_of, counts->processes[i].process),
					       0, i };
	qsort(w->order, counts->n_processes, sizeof(*w->order), compare_ranked);
	for (size_t i = 0; i < counts->n_processes; i++) {
		put_process(w, &counts->processes[w->order[i].index],
			    (uint64_t)(w->order[i].id - before));
		before = w->order[i].id;
	}
}

static bool have_variances(const struct function_counts *counts)
{
	for (size_t i = 0; i < counts->n_rows; i++)
		if (counts->rows[i].tally.variance > 0)
			return true;
	return false;
}

int function_blob_write(struct function_blob *ret, const struct function_counts *counts,
			const struct interned *processes, const struct interned *objects,
			const struct interned *names)
{
	_cleanup_(writing_done) struct writing w = {
		.counts = counts,
		.processes_of = processes,
		.objects = objects,
		.names = names,
		.has_variances = have_variances(counts),
	};
	int r = writing_init(&w);

	*ret = (struct function_blob){};
	if (r < 0)
		return r;
	put_all(&w);
	ret->counts = w.all.data;
	ret->n_counts = w.all.n;
	ret->has_variances = w.has_variances;
	if (w.all.failed || w.processes.failed)
		return -ENOMEM;
	return packed_write(w.processes.data, w.processes.n, &ret->processes, &ret->n_processes);
}

void function_blob_done(struct function_blob *blob)
{
	free(blob->counts);
	free(blob->processes);
}
