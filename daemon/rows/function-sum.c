/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/function-sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/filter.h"
#include "common/profile/redact.h"
#include "common/profile/scale.h"
#include "common/profile/unite.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

int function_sum_new(struct function_sum **ret)
{
	_cleanup_(function_sum_freep) struct function_sum *sum = calloc(1, sizeof(*sum));
	int r;

	if (!sum)
		return -ENOMEM;
	r = profile_new(&sum->names);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(sum);
	return 0;
}

struct function_recording *function_recording_free(struct function_recording *recording)
{
	if (!recording)
		return NULL;
	free(recording->rows);
	id_set_done(&recording->seen);
	id_set_done(&recording->seen_executables);
	free(recording->executables);
	profile_free(recording->head);
	free(recording);
	return NULL;
}

struct function_sum *function_sum_free(struct function_sum *sum)
{
	if (!sum)
		return NULL;
	profile_free(sum->names);
	id_map_done(&sum->executables);
	id_map_done(&sum->processes);
	id_set_done(&sum->seen);
	id_set_done(&sum->seen_executables);
	free(sum->fresh);
	id_map_done(&sum->row_numbers);
	free(sum->direct);
	free(sum->rows);
	function_recording_free(sum->recording);
	free(sum);
	return NULL;
}

static int64_t find_key(const struct function_sum *sum, struct id_key key)
{
	const struct id_value *found = id_map_find(&sum->row_numbers, key);

	return found ? found->id : -ENOENT;
}

/* The last number differs for ids of the database and indices of profiles. */
static struct id_key stored_key(int64_t function, int64_t object)
{
	return (struct id_key){ function, function == 0 ? object : 0, 0 };
}

static int64_t add_row(struct function_sum *sum, enum function_sum_kind kind, struct id_key key,
		       struct location at)
{
	if (ARRAY_RESERVE(&sum->rows, &sum->cap_rows, sum->n_rows + 1) < 0 ||
	    id_map_put(&sum->row_numbers, key, (struct id_value){ (int64_t)sum->n_rows, 0 }) < 0)
		return -ENOMEM;
	sum->rows[sum->n_rows] = (struct function_sum_row){ .kind = kind, .at = at };
	return (int64_t)sum->n_rows++;
}

/* Of a function, or without a @name of no function. */
static int64_t add_function_row(struct function_sum *sum, struct id_key key, struct location at,
				const char *name)
{
	static const struct location nowhere = { PROFILE_NONE, UINT64_MAX };
	const char *wanted = sum->symbol;

	if (wanted && (!name || *wanted == '\0' || !profile_symbol_matches(name, wanted)))
		return add_row(sum, SUM_LEFT_OUT, key, nowhere);
	return add_row(sum, SUM_FUNCTION, key, at);
}

/* Most functions are found here, and each in every window. */
#define MAX_DIRECT (1 << 20)

static int put_direct(struct function_sum *sum, int64_t function, int64_t row)
{
	size_t n = MAX((size_t)function + 1, 2 * sum->n_direct);
	uint32_t *direct = sum->direct;

	if ((size_t)function >= sum->n_direct) {
		direct = reallocarray(sum->direct, n, sizeof(*direct));
		if (!direct)
			return -ENOMEM;
		memset(direct + sum->n_direct, 0, (n - sum->n_direct) * sizeof(*direct));
		sum->direct = direct;
		sum->n_direct = n;
	}
	direct[function] = (uint32_t)row + 1;
	return 0;
}

int64_t function_sum_find(const struct function_sum *sum, int64_t function, int64_t object)
{
	if (function > 0 && (size_t)function < sum->n_direct && sum->direct[function] > 0)
		return (int64_t)sum->direct[function] - 1;
	return find_key(sum, stored_key(function, object));
}

int64_t function_sum_add_row(struct function_sum *sum, int64_t function, int64_t object,
			     struct location at, const char *name)
{
	int64_t row = add_function_row(sum, stored_key(function, object), at, name);

	if (row >= 0)
		sum->rows[row].id = function != 0 ? function : -object;
	if (row >= 0 && function > 0 && function < MAX_DIRECT && put_direct(sum, function, row) < 0)
		return -ENOMEM;
	return row;
}

/* Functions have 0 and more as the last number, see stored_key(). */
static struct id_key other_key(enum function_sum_kind kind, int64_t id, size_t profile)
{
	return (struct id_key){ id, (int64_t)profile, -(int64_t)kind };
}

int64_t function_sum_find_other(const struct function_sum *sum, enum function_sum_kind kind,
				int64_t id)
{
	return find_key(sum, other_key(kind, id, 0));
}

int64_t function_sum_add_other(struct function_sum *sum, enum function_sum_kind kind, int64_t id,
			       uint32_t index)
{
	int64_t row =
		add_row(sum, kind, other_key(kind, id, 0), (struct location){ index, UINT64_MAX });

	if (row >= 0)
		sum->rows[row].id = id;
	return row;
}

/* (*@ret)[i] is the index of object i among the names. */
static int add_names(struct function_sum *sum, const struct profile *profile, uint32_t **ret)
{
	uint32_t *objects = calloc(profile->n_objects + 1, sizeof(*objects));
	int64_t r = objects ? 0 : -ENOMEM;

	*ret = objects;
	for (size_t i = 0; r >= 0 && i < profile->n_objects; i++) {
		r = profile_add_object(sum->names, &profile->objects[i]);
		objects[i] = (uint32_t)r;
	}
	for (size_t i = 0; r >= 0 && i < profile->n_functions; i++) {
		struct profile_function function = profile->functions[i];

		if (function.object != PROFILE_NONE)
			function.object = objects[function.object];
		r = profile_add_function(sum->names, &function);
	}
	return (int)MIN(r, (int64_t)0);
}

static int add_count(struct function_sum *sum, const struct profile *profile,
		     const struct function_count *count, const uint32_t *objects)
{
	struct id_key key = { count->function,
			      count->function == PROFILE_NONE ? count->at.object : 0,
			      (int64_t)sum->n_profiles };
	int64_t row = find_key(sum, key);
	struct location at = count->at;
	const struct profile_function *function =
		count->function == PROFILE_NONE ? NULL : &profile->functions[count->function];

	at.offset = function ? function->start : UINT64_MAX;
	if (at.object != PROFILE_NONE)
		at.object = objects[at.object];
	if (row == -ENOENT)
		row = add_function_row(sum, key, at, function ? function->name : NULL);
	if (row < 0)
		return (int)row;
	function_tally_add(&sum->rows[row].tally, &count->tally);
	return 0;
}

/* Of an object or a process of the profile, whose index among the names is @index. */
static int add_other(struct function_sum *sum, enum function_sum_kind kind, uint32_t of_profile,
		     uint32_t index, const struct function_tally *tally)
{
	struct id_key key = other_key(kind, of_profile, sum->n_profiles);
	int64_t row = find_key(sum, key);

	if (row == -ENOENT)
		row = add_row(sum, kind, key, (struct location){ index, UINT64_MAX });
	if (row < 0)
		return (int)row;
	function_tally_add(&sum->rows[row].tally, tally);
	return 0;
}

static int add_objects(struct function_sum *sum, const struct profile *profile,
		       const uint32_t *objects)
{
	struct function_counts counts;
	int r = function_counts_init_objects(&counts, profile);

	for (size_t i = 0; r == 0 && i < counts.n_rows; i++) {
		uint32_t object = counts.rows[i].at.object;

		r = add_other(sum, SUM_OBJECT, object,
			      object == PROFILE_NONE ? PROFILE_NONE : objects[object],
			      &counts.rows[i].tally);
	}
	function_counts_done(&counts);
	return r;
}

/* What stands for @process in a sum by owners; the names have its samples once they are finished.
 */
static struct profile_process owner_of(enum function_sum_kind by,
				       const struct profile_process *process)
{
	struct profile_process owner = { .pid = -1, .comm = "", .uid = UINT32_MAX };

	switch (by) {
	case SUM_COMM:
		owner.comm = process->comm;
		return owner;
	case SUM_UNIT:
		owner.unit = process->unit;
		return owner;
	case SUM_USER:
		owner.uid = process->uid;
		return owner;
	default:
		owner = *process;
		owner.samples = 0;
		return owner;
	}
}

static int add_process(struct function_sum *sum, const struct profile *profile,
		       const struct process_tally *counts)
{
	struct function_tally tally = { .self = counts->samples, .total = counts->samples };
	struct profile_process owner;
	int64_t index = PROFILE_NONE;

	if (counts->process != PROFILE_NONE) {
		owner = owner_of(sum->by, &profile->processes[counts->process]);
		index = profile_add_process(sum->names, &owner);
	}
	if (index < 0)
		return (int)index;
	return add_other(sum, sum->by, counts->process, (uint32_t)index, &tally);
}

static int add_owners(struct function_sum *sum, const struct profile *profile)
{
	struct function_counts counts;
	int r = function_counts_init(&counts, profile);

	for (size_t i = 0; r == 0 && i < counts.n_processes; i++)
		r = add_process(sum, profile, &counts.processes[i]);
	function_counts_done(&counts);
	return r;
}

static int add_counts(struct function_sum *sum, const struct profile *profile,
		      const uint32_t *objects)
{
	struct function_counts counts;
	int r = function_counts_init(&counts, profile);

	for (size_t i = 0; r == 0 && i < counts.n_rows; i++)
		r = add_count(sum, profile, &counts.rows[i], objects);
	function_counts_done(&counts);
	if (r == 0 && sum->by == SUM_OBJECT)
		r = add_objects(sum, profile, objects);
	for (size_t i = 0; r == 0 && i < profile->n_processes; i++)
		r = function_sum_add_executable(sum, profile->processes[i].executable);
	return r;
}

static int add_functions(struct function_sum *sum, const struct profile *profile)
{
	_cleanup_free_ uint32_t *objects = NULL;
	int r = add_names(sum, profile, &objects);

	return r < 0 ? r : add_counts(sum, profile, objects);
}

int function_sum_add_executable(struct function_sum *sum, const char *executable)
{
	struct profile_process process = { .pid = -1, .uid = UINT32_MAX };
	struct id_key key = { 0 };
	int r = 0;

	process.executable = profile_string(sum->names, executable, &r);
	key.a = (int64_t)(uintptr_t)process.executable;
	if (r < 0 || !executable || id_map_find(&sum->executables, key))
		return r;
	if (profile_add_process(sum->names, &process) < 0)
		return -ENOMEM;
	return id_map_put(&sum->executables, key, (struct id_value){ 0 });
}

int function_sum_add_head(struct function_sum *sum, const struct profile *profile)
{
	int r = profile_add_info(sum->names, &profile->info, sum->n_added == 0);

	if (r < 0)
		return r;
	sum->n_added++;
	sum->part_samples += profile->counters.samples;
	profile_add_counters(&sum->names->counters, &profile->counters);
	return 0;
}

int function_sum_add_profile(struct function_sum *sum, const struct profile *profile)
{
	int r;

	sum->n_profiles++;
	r = function_sum_is_of_owners(sum->by) ? add_owners(sum, profile) :
						 add_functions(sum, profile);
	return r < 0 ? r : function_sum_add_head(sum, profile);
}

void function_sum_drop_counted(struct function_sum *sum, const struct profile_counters *before,
			       uint64_t n_found)
{
	struct profile_counters *counters = &sum->names->counters;
	const struct profile_counters window = {
		.samples = counters->samples - before->samples,
		.samples_estimated = counters->samples_estimated - before->samples_estimated,
		.samples_variance = counters->samples_variance - before->samples_variance,
		.samples_ticked = counters->samples_ticked - before->samples_ticked,
		.stacks_variance = counters->stacks_variance - before->stacks_variance,
	};
	struct profile_counters found = { .samples = n_found };

	profile_share_estimated(&found, &window);
	counters->samples_estimated = before->samples_estimated + found.samples_estimated;
	counters->samples_variance = before->samples_variance + found.samples_variance;
	counters->samples_ticked = before->samples_ticked + found.samples_ticked;
	counters->stacks_variance = before->stacks_variance + found.stacks_variance;
	counters->samples = before->samples;
	counters->weight = before->weight;
	counters->rows_counted = before->rows_counted;
	counters->cycles = before->cycles;
	counters->runs_counted = before->runs_counted;
	counters->streams = before->streams;
}

void function_sum_begin_part(struct function_sum *sum)
{
	for (size_t i = 0; i < sum->n_rows; i++) {
		sum->rows[i].self += sum->rows[i].tally.self;
		sum->rows[i].tally = (struct function_tally){ 0 };
	}
	sum->part_samples = 0;
}

/* Each function is a stack of one frame, so that its object and function are kept. */
static int add_stacks(struct function_sum *sum)
{
	for (size_t i = 0; i < sum->n_rows; i++) {
		struct profile_stack stack = {
			.parent = PROFILE_NONE,
			.process = PROFILE_NONE,
			.frame = sum->rows[i].at,
			.samples = sum->rows[i].self,
		};

		if (sum->rows[i].kind == SUM_FUNCTION && profile_add_stack(sum->names, &stack) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void add_process_samples(struct function_sum *sum)
{
	for (size_t i = 0; i < sum->n_rows; i++) {
		const struct function_sum_row *row = &sum->rows[i];

		if (function_sum_is_of_owners(row->kind) && row->at.object != PROFILE_NONE)
			sum->names->processes[row->at.object].samples += row->self;
	}
}

/* The rows in terms of the finalized names. */
static void map_rows(struct function_sum *sum, const struct profile_maps *maps, bool hide_addresses)
{
	for (size_t i = 0; i < sum->n_rows; i++) {
		struct function_sum_row *row = &sum->rows[i];
		struct location *at = &row->at;

		if (at->object != PROFILE_NONE)
			at->object = function_sum_is_of_owners(row->kind) ?
					     maps->processes[at->object] :
					     maps->objects[at->object];
		if (hide_addresses && at->offset != UINT64_MAX)
			at->offset = profile_redact_offset(sum->names, *at);
	}
}

int function_sum_finish(struct function_sum *sum, bool hide_addresses)
{
	struct profile_maps maps = {};
	int r = add_stacks(sum);

	add_process_samples(sum);
	if (r == 0)
		r = profile_unite(sum->names);
	if (r == 0)
		r = profile_finalize_maps(sum->names, &maps);
	if (r == 0)
		map_rows(sum, &maps, hide_addresses);
	profile_maps_done(&maps);
	return r == 0 && hide_addresses ? profile_redact(&sum->names) : r;
}
