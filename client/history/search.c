/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/history/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/history/change.h"
#include "common/profile/scale.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

#define N_PARTS        24 /* as many as the daemon makes */
#define N_WITHIN_NOISE 3  /* rows where nothing changed by more */

/* The counts of each place in each part: place p's begin at counts[p * n_parts]. Those of one
 * function are all in one of them. */
struct matrix {
	const struct functions *functions;
	size_t *firsts; /* of each place, the one that has the counts of its function */
	uint64_t *counts;
	uint64_t samples[N_PARTS];
	size_t n_parts;
};

struct searching {
	const struct profile_source_settings *settings;
	struct connection *connection;
	struct history_search *search;
};

struct history_search *history_search_free(struct history_search *search)
{
	if (!search)
		return NULL;
	history_windows_done(&search->windows);
	for (size_t i = 0; i < search->n_rows; i++) {
		free(search->rows[i].symbol);
		free(search->rows[i].object);
	}
	free(search->rows);
	free(search);
	return NULL;
}

static const char *symbol_of(const struct functions *functions, size_t place)
{
	uint32_t function = functions->places[place].function;

	return function == PROFILE_NONE ? NULL : functions->profile->functions[function].name;
}

static const char *object_of(const struct functions *functions, size_t place)
{
	uint32_t object = functions->places[place].object;

	return object == PROFILE_NONE ? NULL : functions->profile->objects[object].path;
}

/* A place by its names. */
struct named {
	const char *symbol, *object;
	size_t place;
};

static int compare_names(const void *p, const void *q)
{
	const struct named *a = p, *b = q;
	int r = strcmp(a->symbol ?: "", b->symbol ?: "");

	return r ?: strcmp(a->object ?: "", b->object ?: "");
}

/*
 * Places of one name and object are one function, which another build has moved, or a copy of the
 * program without symbols. Of each place the first in the order of names that stands for it. NULL:
 * out of memory.
 */
static size_t *find_firsts(const struct functions *functions)
{
	_cleanup_free_ struct named *named = calloc(functions->n_places + 1, sizeof(*named));
	_cleanup_free_ size_t *firsts = calloc(functions->n_places + 1, sizeof(*firsts));

	if (!named || !firsts)
		return NULL;
	for (size_t i = 0; i < functions->n_places; i++)
		named[i] = (struct named){ symbol_of(functions, i), object_of(functions, i), i };
	qsort(named, functions->n_places, sizeof(*named), compare_names);
	for (size_t i = 0, first = 0; i < functions->n_places; i++) {
		if (compare_names(&named[i], &named[first]) != 0)
			first = i;
		firsts[named[i].place] = named[first].place;
	}
	return TAKE_PTR(firsts);
}

static int matrix_make(struct matrix *ret, const struct functions *functions)
{
	size_t n_parts = MIN(functions->n_parts, (size_t)N_PARTS);

	*ret = (struct matrix){ .functions = functions, .n_parts = n_parts };
	ret->firsts = find_firsts(functions);
	if (!ret->firsts)
		return -ENOMEM;
	ret->counts = calloc(functions->n_places * n_parts + 1, sizeof(*ret->counts));
	if (!ret->counts)
		return -ENOMEM;
	for (size_t i = 0; i < n_parts; i++) {
		const struct functions_part *part = &functions->parts[i];

		ret->samples[i] = part->samples;
		for (size_t j = 0; j < part->n_rows; j++)
			ret->counts[ret->firsts[part->rows[j].place] * n_parts + i] +=
				part->rows[j].self;
	}
	return 0;
}

static void matrix_done(struct matrix *matrix)
{
	free(matrix->firsts);
	free(matrix->counts);
}

static struct history_series series_of(const struct matrix *matrix, size_t place)
{
	return (struct history_series){
		.counts = matrix->counts + place * matrix->n_parts,
		.samples = matrix->samples,
		.n = matrix->n_parts,
		.unit = profile_sample_unit(&matrix->functions->profile->counters),
	};
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The number of the window at which part @i of @n begins; see GetFunctions. */
static size_t part_begin(const struct history_part *span, size_t i)
{
	return span->first + i * (span->end - span->first) / span->n_parts;
}

/* The series of one function. */
struct function_series {
	uint64_t counts[N_PARTS], samples[N_PARTS];
	struct history_series series;
};

/* Of the row's function in the parts of @span; all places of its name and object count. */
static int read_series(struct function_series *ret, const struct searching *searching,
		       const struct history_moved *row, const struct history_part *span,
		       struct fault *fault)
{
	_cleanup_(functions_freep) struct functions *functions = NULL;
	int r = history_count(&functions, searching->connection, &searching->search->windows, span,
			      &searching->settings->filter, fault);

	if (r < 0)
		return r;
	*ret = (struct function_series){
		.series = { ret->counts, ret->samples, MIN(functions->n_parts, (size_t)N_PARTS) },
	};
	for (size_t i = 0; i < ret->series.n; i++) {
		const struct functions_part *part = &functions->parts[i];

		ret->samples[i] = part->samples;
		for (size_t j = 0; j < part->n_rows; j++)
			if (is_same(symbol_of(functions, part->rows[j].place), row->symbol) &&
			    is_same(object_of(functions, part->rows[j].place), row->object))
				ret->counts[i] += part->rows[j].self;
	}
	return 0;
}

/* Narrows the change before part @at of @span down to a window. */
static int locate(struct history_moved *row, const struct searching *searching,
		  struct history_part span, size_t at, struct fault *fault)
{
	struct function_series series;

	while (span.n_parts < span.end - span.first) {
		size_t first = part_begin(&span, at > 0 ? at - 1 : 0);
		size_t end = part_begin(&span, MIN(at + 1, span.n_parts));
		int r;

		span = (struct history_part){
			.first = first,
			.end = end,
			.n_parts = MIN(end - first, (size_t)N_PARTS),
		};
		r = read_series(&series, searching, row, &span, fault);
		if (r < 0)
			return r;
		at = history_change_locate(&series.series, row->test.shares[SIDE_OLD],
					   row->test.shares[SIDE_NEW]);
	}
	row->window = MIN(part_begin(&span, at), searching->search->windows.n - 1);
	return 0;
}

/* The place's best split, and which p value that is worth. */
struct candidate {
	size_t place;
	struct history_change change;
};

static int compare_candidates(const void *p, const void *q)
{
	const struct candidate *a = p, *b = q;
	double x = fabs(a->change.test.difference), y = fabs(b->change.test.difference);

	return COMPARE(y, x) ?: COMPARE(a->place, b->place);
}

/*
 * The changes that are larger than noise, as one of many tests, or with @within_noise all; the
 * largest first. Functions with so few samples that no test could show a change are none of the
 * tests: where a thousand of them ran, those that matter would need much larger changes.
 */
static int find_candidates(struct candidate *ret, size_t *ret_n, const struct matrix *matrix,
			   bool within_noise)
{
	size_t n_places = matrix->functions->n_places, n_tests = 0, n = 0;
	_cleanup_free_ double *p_values = calloc(n_places + 1, sizeof(*p_values));
	double limit;
	int r;

	if (!p_values)
		return -ENOMEM;
	for (size_t i = 0; i < n_places; i++) {
		struct history_series series = series_of(matrix, i);
		struct candidate *candidate = &ret[n_tests];

		if (matrix->firsts[i] != i)
			continue;
		candidate->place = i;
		history_change_find(&candidate->change, &series);
		if (!candidate->change.test.has_enough_data)
			continue;
		p_values[n_tests++] = candidate->change.at > 0 ? candidate->change.test.p_value *
									 (double)(series.n - 1) :
								 1;
	}
	r = significance_control(p_values, n_tests, &limit);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n_tests && !within_noise; i++)
		if (p_values[i] <= limit)
			ret[n++] = ret[i];
	for (size_t i = 0; i < n_tests && within_noise; i++)
		if (ret[i].change.split > 0)
			ret[n++] = ret[i];
	qsort(ret, n, sizeof(*ret), compare_candidates);
	*ret_n = n;
	return 0;
}

static int copy(char **ret, const char *text)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

static int add_row(const struct searching *searching, const struct functions *functions,
		   const struct candidate *candidate, const struct history_part *span,
		   struct fault *fault)
{
	struct history_search *search = searching->search;
	struct history_moved *row = &search->rows[search->n_rows++];

	row->test = candidate->change.test;
	if (copy(&row->symbol, symbol_of(functions, candidate->place)) < 0 ||
	    copy(&row->object, object_of(functions, candidate->place)) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	return locate(row, searching, *span, candidate->change.split, fault);
}

static int add_rows(const struct searching *searching, const struct matrix *matrix,
		    const struct history_part *span, size_t max_rows, struct fault *fault)
{
	struct history_search *search = searching->search;
	_cleanup_free_ struct candidate *candidates =
		calloc(matrix->functions->n_places + 1, sizeof(*candidates));
	size_t n = 0;
	int r = candidates ? find_candidates(candidates, &n, matrix, false) : -ENOMEM;

	search->within_noise = r >= 0 && n == 0;
	if (search->within_noise)
		r = find_candidates(candidates, &n, matrix, true);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	if (search->within_noise)
		n = MIN(n, (size_t)N_WITHIN_NOISE);
	search->n_left_out = n - MIN(n, max_rows);
	n -= search->n_left_out;
	search->rows = calloc(n + 1, sizeof(*search->rows));
	if (!search->rows)
		return fault_set(fault, -ENOMEM, "out of memory");
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = add_row(searching, matrix->functions, &candidates[i], span, fault);
	return r;
}

static int search_windows(const struct searching *searching, size_t max_rows, struct fault *fault)
{
	struct history_windows *windows = &searching->search->windows;
	_cleanup_(functions_freep) struct functions *functions = NULL;
	_cleanup_(matrix_done) struct matrix matrix = {};
	struct history_part span = { .end = windows->n,
				     .n_parts = MIN(windows->n, (size_t)N_PARTS) };
	int r;

	if (windows->n < 2)
		return fault_set(fault, -ENOENT,
				 "a change needs two closed windows at least, and there is one");
	r = history_count(&functions, searching->connection, windows, &span,
			  &searching->settings->filter, fault);
	if (r < 0)
		return r;
	if (matrix_make(&matrix, functions) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	for (size_t i = 0; i < matrix.n_parts; i++)
		searching->search->samples += matrix.samples[i];
	return add_rows(searching, &matrix, &span, max_rows, fault);
}

int history_search_new(struct history_search **ret, const struct profile_source_settings *settings,
		       size_t max_rows, struct fault *fault)
{
	_cleanup_(history_search_freep) struct history_search *search = calloc(1, sizeof(*search));
	_cleanup_(connection_freep) struct connection *connection = NULL;
	struct searching searching = { .settings = settings, .search = search };
	int r;

	if (!search)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = connection_open(&connection, settings->socket, fault);
	if (r < 0)
		return r;
	searching.connection = connection;
	search->filtered = profile_filter_is_by_process(&settings->filter);
	r = history_windows_find(&search->windows, connection, settings, fault);
	if (r >= 0)
		r = search_windows(&searching, max_rows, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(search);
	return 0;
}
