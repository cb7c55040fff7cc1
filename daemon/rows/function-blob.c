/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/function-blob.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/compare.h"
#include "daemon/rows/byte-writer.h"
#include "daemon/rows/packed.h"

/* What a row has an id for, and which row it is. */
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

struct writing {
	const struct function_counts *counts;
	const struct interned *processes_of, *objects, *names;
	struct ranked *order; /* room for all processes, and then for all rows */
	bool has_variances;
	struct byte_writer all, processes, rows; /* rows: of a process, while they are written */
};

/* @object: of the parts of an object outside of functions; negative: it is a function. */
static void put_function(const struct writing *w, struct byte_writer *bytes,
			 const struct function_count *row, uint64_t step, int64_t object)
{
	const struct function_tally *t = &row->tally;
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

/* Some rows, in the order of their ids; those of one function, or of one object and none, as one.
 */
static void put_rows(struct writing *w, struct byte_writer *bytes, size_t first, size_t n)
{
	const struct function_count *rows = &w->counts->rows[first];
	struct ranked *order = w->order + w->counts->n_processes;
	int64_t before = 0;

	for (size_t i = 0; i < n; i++)
		order[i] = (struct ranked){ id_of(w->names, rows[i].function),
					    id_of(w->objects, rows[i].at.object), i };
	if (n > 0)
		qsort(order, n, sizeof(*order), compare_ranked);
	for (size_t i = 0, next; i < n; i = next) {
		struct function_count row = rows[order[i].index];

		for (next = i + 1; next < n && is_same(&order[i], &order[next]); next++)
			function_tally_add(&row.tally, &rows[order[next].index].tally);
		put_function(w, bytes, &row, (uint64_t)(order[i].id - before),
			     order[i].id != 0 ? -1 : order[i].object);
		before = order[i].id;
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
	struct writing w = {
		.counts = counts,
		.processes_of = processes,
		.objects = objects,
		.names = names,
		.has_variances = have_variances(counts),
		.order = calloc(counts->n_processes + counts->n_rows + 1, sizeof(*w.order)),
	};
	int r = w.order ? 0 : -ENOMEM;

	if (r == 0)
		put_all(&w);
	if (r == 0 && !w.all.failed && !w.processes.failed)
		r = packed_write(w.processes.data, w.processes.n, &ret->processes,
				 &ret->n_processes);
	else
		r = -ENOMEM;
	ret->counts = w.all.data;
	ret->n_counts = w.all.n;
	ret->has_variances = w.has_variances;
	free(w.order);
	free(w.processes.data);
	free(w.rows.data);
	return r;
}

void function_blob_done(struct function_blob *blob)
{
	free(blob->counts);
	free(blob->processes);
}
