/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/programs.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

#define MAX_GAP   8    /* of ids that are read for nothing, rather than to begin anew */
#define N_AT_ONCE 4000 /* processes looked up at once */

static const char *const sql[] = {
	"SELECT id, comm, executable FROM process WHERE id BETWEEN ? AND ? ORDER BY id",
};

int store_programs_init(struct store_programs *store, struct database *database)
{
	store->database = database;
	return database_prepare(database, sql, ARRAY_SIZE(sql), &store->read);
}

int program_sum_new(struct program_sum **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct program_sum *program_sum_free(struct program_sum *programs)
{
	if (!programs)
		return NULL;
	free(programs->counts);
	free(programs->parts);
	free(programs->order);
	free(programs->programs);
	free(programs->hottest);
	id_map_done(&programs->by_name);
	free(programs);
	return NULL;
}

size_t program_sum_bytes(const struct program_sum *programs)
{
	return programs->cap_counts * sizeof(*programs->counts) +
	       programs->n_order * (sizeof(*programs->order) + sizeof(*programs->programs) +
				    sizeof(*programs->hottest));
}

static int add_count(struct program_sum *programs, size_t row, uint64_t samples)
{
	if (ARRAY_RESERVE(&programs->counts, &programs->cap_counts, programs->n_counts + 1) < 0)
		return -ENOMEM;
	programs->counts[programs->n_counts++] = (struct program_count){ (uint32_t)row, samples };
	return 0;
}

int program_sum_add_part(struct program_sum *programs, const struct function_sum *sum)
{
	int r = ARRAY_RESERVE(&programs->parts, &programs->cap_parts, programs->n_parts + 1);

	for (size_t i = 0; r == 0 && i < sum->n_rows; i++)
		if (sum->rows[i].tally.self > 0)
			r = add_count(programs, i, sum->rows[i].tally.self);
	if (r < 0)
		return -ENOMEM;
	programs->parts[programs->n_parts++] =
		(struct program_part){ programs->n_counts, sum->part_samples };
	return 0;
}

/* The samples stand for the id. */
static int compare_ids(const void *p, const void *q)
{
	const struct program_count *a = p, *b = q;

	return COMPARE(a->samples, b->samples);
}

static int begin(struct program_sum *programs, const struct function_sum *sum)
{
	programs->order = calloc(sum->n_rows + 1, sizeof(*programs->order));
	programs->programs = calloc(sum->n_rows + 1, sizeof(*programs->programs));
	programs->hottest = calloc(sum->n_rows + 1, sizeof(*programs->hottest));
	if (!programs->order || !programs->programs || !programs->hottest)
		return -ENOMEM;
	for (size_t i = 0; i < sum->n_rows; i++) {
		programs->programs[i] = programs->hottest[i] = (uint32_t)i;
		if (sum->rows[i].id > 0)
			programs->order[programs->n_order++] =
				(struct program_count){ (uint32_t)i, (uint64_t)sum->rows[i].id };
	}
	qsort(programs->order, programs->n_order, sizeof(*programs->order), compare_ids);
	return 0;
}

static uint64_t samples_of(const struct function_sum_row *row)
{
	return row->self + row->tally.self;
}

/* The process of @row has that name and executable, which are numbers of strings. */
static int add_row(struct program_sum *programs, const struct function_sum *sum, uint32_t row,
		   struct id_key name)
{
	const struct id_value *first = id_map_find(&programs->by_name, name);
	uint64_t most, samples = samples_of(&sum->rows[row]);
	uint32_t *hottest;

	if (!first)
		return id_map_put(&programs->by_name, name, (struct id_value){ row, 0 });
	hottest = &programs->hottest[first->id];
	most = samples_of(&sum->rows[*hottest]);
	if (samples > most || (samples == most && row < *hottest))
		*hottest = row;
	programs->programs[row] = (uint32_t)first->id;
	return 0;
}

/* Of @n processes whose ids are close together. One that was removed meanwhile is for itself. */
static int find_run(struct store_programs *store, struct program_sum *programs,
		    const struct function_sum *sum, const struct program_count *of, size_t n)
{
	struct statement *row = store->read;
	size_t at = 0;
	int r, q;

	STATEMENT_BIND(row, (int64_t)of[0].samples, (int64_t)of[n - 1].samples);
	while ((r = statement_step(row)) > 0) {
		uint64_t id = (uint64_t)statement_int(row, 0);

		while (at < n && of[at].samples < id)
			at++;
		if (at == n)
			break;
		if (of[at].samples > id)
			continue;
		r = add_row(programs, sum, of[at++].row,
			    (struct id_key){ statement_int(row, 1), statement_int(row, 2), 0 });
		if (r < 0)
			break;
	}
	q = r == 0 ? 0 : statement_reset(row);
	r = MIN(r, 0);
	return MIN(r, q);
}

static int find_some(struct store_programs *store, struct program_sum *programs,
		     const struct function_sum *sum)
{
	const struct program_count *order = programs->order;
	size_t end = MIN(programs->n_order, programs->n_done + N_AT_ONCE);
	int r = 0;

	for (size_t i = programs->n_done, next; r == 0 && i < end; i = next) {
		next = i + 1;
		while (next < end && order[next].samples - order[next - 1].samples <= MAX_GAP)
			next++;
		r = find_run(store, programs, sum, &order[i], next - i);
	}
	programs->n_done = end;
	return r;
}

/* Adds up the rows of the sum; of each, its new number. */
static void add_up_rows(struct program_sum *programs, struct function_sum *sum, uint32_t *numbers)
{
	struct function_sum_row *rows = sum->rows;
	size_t n = 0;

	for (size_t i = 0; i < sum->n_rows; i++) {
		uint32_t to = programs->programs[i];

		if (to == i)
			continue;
		function_tally_add(&rows[to].tally, &rows[i].tally);
		rows[to].self += rows[i].self;
	}
	for (size_t i = 0; i < sum->n_rows; i++) {
		if (programs->programs[i] != i)
			continue;
		rows[n] = rows[i];
		numbers[i] = (uint32_t)n++;
	}
	sum->n_rows = n;
}

/* Adds up what was noted of parts. */
static int add_up_counts(struct program_sum *programs, const struct function_sum *sum,
			 const uint32_t *numbers)
{
	_cleanup_free_ uint64_t *samples = calloc(sum->n_rows + 1, sizeof(*samples));
	size_t at = 0, n = 0;

	if (!samples)
		return -ENOMEM;
	for (size_t i = 0; i < programs->n_parts; i++) {
		for (; at < programs->parts[i].end; at++) {
			const struct program_count *count = &programs->counts[at];

			samples[numbers[programs->programs[count->row]]] += count->samples;
		}
		for (size_t k = 0; k < sum->n_rows; k++) {
			if (samples[k] > 0)
				programs->counts[n++] =
					(struct program_count){ (uint32_t)k, samples[k] };
			samples[k] = 0;
		}
		programs->parts[i].end = n;
	}
	programs->n_counts = n;
	return 0;
}

static int add_up(struct program_sum *programs, struct function_sum *sum)
{
	_cleanup_free_ uint32_t *numbers = calloc(sum->n_rows + 1, sizeof(*numbers));
	int r;

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < sum->n_rows; i++)
		programs->programs[i] = programs->hottest[programs->programs[i]];
	add_up_rows(programs, sum, numbers);
	r = add_up_counts(programs, sum, numbers);
	programs->is_added_up = r == 0;
	return r;
}

int store_programs_find(struct store_programs *store, struct program_sum *programs,
			struct function_sum *sum)
{
	int r = programs->order ? 0 : begin(programs, sum);

	if (r == 0)
		r = find_some(store, programs, sum);
	if (r < 0 || programs->n_done < programs->n_order)
		return r < 0 ? r : 1;
	return add_up(programs, sum);
}
