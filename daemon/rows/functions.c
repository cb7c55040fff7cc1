/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "daemon/rows/count-slot.h"
#include "daemon/rows/function-blob.h"
#include "daemon/rows/function-rows.h"
#include "daemon/rows/packed.h"

enum {
	ADD_COUNTS,
	ADD_OBJECTS,
	READ_COUNTS,
	READ_OBJECTS,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[ADD_COUNTS] = "INSERT INTO function_counts (window, counts, processes, variances) "
		       "VALUES (?, ?, ?, ?)",
	[ADD_OBJECTS] = "INSERT INTO object_counts (window, counts, processes, variances) "
			"VALUES (?, ?, ?, ?)",
	[READ_COUNTS] = "SELECT counts, processes, variances FROM function_counts WHERE window = ?",
	[READ_OBJECTS] = "SELECT counts, processes, variances FROM object_counts WHERE window = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_FUNCTIONS, "store-functions.h has another number");

int store_functions_init(struct store_functions *functions, struct database *database)
{
	int r = store_executables_init(&functions->executables, database);

	functions->database = database;
	if (r >= 0)
		r = store_owners_init(&functions->owners, database);
	if (r >= 0)
		r = store_slots_init(&functions->slots, database, &functions->owners,
				     &functions->executables);
	if (r >= 0)
		r = store_programs_init(&functions->programs, database);
	return r < 0 ? r : database_prepare(database, sql, N_STATEMENTS, functions->statements);
}

static int write_blob(struct statement *add, int64_t id, const struct function_counts *counts,
		      const struct interned *processes, const struct interned *objects,
		      const struct interned *names)
{
	_cleanup_(function_blob_done) struct function_blob blob = {};
	int r = function_blob_write(&blob, counts, processes, objects, names);

	if (r < 0)
		return r;
	statement_bind_int(add, 1, id);
	statement_bind_blob(add, 2, blob.counts, blob.n_counts);
	statement_bind_blob(add, 3, blob.processes, blob.n_processes);
	statement_bind_int(add, 4, blob.has_variances);
	return statement_run(add);
}

int store_functions_write(struct store_functions *functions, int64_t id,
			  const struct profile *profile, const struct interned *processes,
			  const struct interned *objects, const struct interned *names)
{
	struct function_counts counts, by_object;
	int r = function_counts_init_both(&counts, &by_object, profile);

	if (r >= 0)
		r = write_blob(functions->statements[ADD_COUNTS], id, &counts, processes, objects,
			       names);
	if (r >= 0)
		r = write_blob(functions->statements[ADD_OBJECTS], id, &by_object, processes,
			       objects, names);
	function_counts_done(&counts);
	function_counts_done(&by_object);
	return r;
}

/* What is added when all of a window could be read. */
struct found {
	size_t row; /* of the sum */
	struct function_tally tally;
	uint64_t n_gone; /* of processes */
};

struct reading {
	struct store_functions *functions;
	struct store_read *read;
	const struct profile_filter *filter;
	struct function_sum *sum;
	int64_t window;
	bool objects;                /* what is read is object_counts */
	bool has_variances;          /* see struct function_blob */
	struct function_bytes first; /* what is left of the first column; ... */
	struct function_bytes more;  /* ... of the second, unpacked */
	struct function_bytes
		*processes; /* the second, before version 8 the first; NULL: not needed */
	uint8_t *unpacked;
	struct found *found;
	size_t n_found, cap_found;
	struct process_tally counted; /* of the processes that match, if they are chosen */
};

static void reading_done(struct reading *reading)
{
	free(reading->unpacked);
	free(reading->found);
}

static int add_to_found(struct reading *reading, int64_t row, const struct function_tally *tally)
{
	if (row < 0)
		return (int)row;
	if (reading->sum->rows[row].kind == SUM_LEFT_OUT)
		return 0;
	if (ARRAY_RESERVE(&reading->found, &reading->cap_found, reading->n_found + 1) < 0)
		return -ENOMEM;
	reading->found[reading->n_found++] = (struct found){ (size_t)row, *tally, 0 };
	return 0;
}

static int read_function(struct reading *reading, struct function_bytes *bytes, int64_t *id)
{
	struct store_lookup *lookup = &reading->read->lookup;
	uint64_t step = function_bytes_take(bytes);
	struct function_tally tally = { 0 };
	int64_t object = 0;

	*id = (int64_t)((uint64_t)*id + step / 2);
	if (*id == 0)
		object = (int64_t)function_bytes_take(bytes);
	tally.self = function_bytes_take(bytes);
	tally.total = function_bytes_take(bytes);
	if (reading->has_variances)
		tally.variance = function_bytes_take(bytes);
	if (step % 2 != 0) {
		tally.calls = function_bytes_take(bytes);
		tally.runs = function_bytes_take(bytes);
		tally.timed_runs = function_bytes_take(bytes);
		tally.cycles = function_bytes_take(bytes);
	}
	bytes->damaged |= reading->objects && *id != 0;
	if (bytes->damaged)
		return 0;
	return add_to_found(reading,
			    reading->objects ?
				    function_rows_find_object(lookup, reading->sum, object) :
				    function_rows_find(lookup, reading->sum, *id, object),
			    &tally);
}

/* A row that is not known yet: see name_fresh(). */
#define FRESH_ROW SIZE_MAX

/* The processes are those of @row, negative if that is not known. */
static int count_process(struct reading *reading, int64_t id, int64_t row, uint64_t samples)
{
	struct function_sum *sum = reading->sum;

	if (ARRAY_RESERVE(&reading->found, &reading->cap_found, reading->n_found + 1) < 0 ||
	    ARRAY_RESERVE(&sum->fresh, &sum->cap_fresh, sum->n_fresh + 1) < 0)
		return -ENOMEM;
	if (row < 0)
		sum->fresh[sum->n_fresh++] = id;
	reading->found[reading->n_found++] = (struct found){
		.row = row < 0 ? FRESH_ROW : (size_t)row,
		.tally = { .self = samples, .total = samples },
	};
	return 0;
}

/* What was found from number @first on has its rows then. */
static int name_fresh(struct reading *reading, size_t first)
{
	struct store_owners *owners = &reading->functions->owners;
	const int64_t *fresh = reading->sum->fresh;
	int64_t n_gone = store_owners_load(owners, reading->sum);
	size_t next = 0;

	for (size_t i = first; n_gone >= 0 && i < reading->n_found; i++) {
		struct found *found = &reading->found[i];

		if (found->row == FRESH_ROW)
			found->row = (size_t)fresh[next++];
		n_gone = store_owners_count_gone(owners, reading->sum, (int64_t)found->row,
						 reading->window);
		found->n_gone = (uint64_t)n_gone;
	}
	return (int)MIN(n_gone, (int64_t)0);
}

static void add_process(struct reading *reading, const struct process_tally *tally)
{
	struct process_tally *counted = &reading->counted;

	counted->samples += tally->samples;
	counted->weight += tally->weight;
	counted->taken += tally->taken;
	counted->cycles += tally->cycles;
	counted->runs += tally->runs;
	counted->hits += tally->hits;
}

/* For the slot that is made. 0 or -ENOMEM. */
static int note_found(const struct reading *reading)
{
	struct function_sum *sum = reading->sum;
	int r = sum->recording ? count_slot_reserve(sum) : 0;

	for (size_t i = 0; r == 0 && sum->recording && i < reading->n_found; i++) {
		const struct found *found = &reading->found[i];

		count_slot_note(sum->recording, found->row, &found->tally, found->n_gone);
	}
	return r;
}

static void add_found(const struct reading *reading)
{
	struct profile_counters *counters = &reading->sum->names->counters;
	const struct process_tally *counted = &reading->counted;

	for (size_t i = 0; i < reading->n_found; i++) {
		const struct found *found = &reading->found[i];
		struct function_sum_row *row = &reading->sum->rows[found->row];

		function_tally_add(&row->tally, &found->tally);
		row->n_gone += found->n_gone;
	}
	counters->samples += counted->samples;
	counters->weight += counted->weight;
	counters->rows_counted += counted->taken;
	counters->cycles += counted->cycles;
	counters->runs_counted += counted->runs;
	counters->streams += counted->hits;
}

/* Its size and its rows, which are passed over unless they are wanted. */
static int read_rows(struct reading *reading, struct function_bytes *bytes, bool wanted)
{
	uint64_t n = function_bytes_take(bytes);
	size_t rest = bytes->n - n;
	int64_t function = 0;
	int r = 0;

	bytes->damaged |= n > bytes->n;
	if (!wanted && !bytes->damaged) {
		bytes->data += n;
		bytes->n = rest;
	}
	while (r >= 0 && wanted && !bytes->damaged && bytes->n > rest)
		r = read_function(reading, bytes, &function);
	bytes->damaged |= wanted && bytes->n < rest;
	return r;
}

/* The samples of all are asked for alone. */
static bool wants_no_function(const struct function_sum *sum)
{
	return sum->symbol && *sum->symbol == '\0';
}

/* What the second column has of a process: its functions if they are wanted. */
static int read_more(struct reading *reading, struct process_tally *tally, bool wanted)
{
	struct function_bytes *bytes = reading->processes;

	if (!bytes)
		return 0;
	tally->weight = function_bytes_take(bytes);
	tally->taken = function_bytes_take(bytes);
	tally->cycles = function_bytes_take(bytes);
	tally->runs = function_bytes_take(bytes);
	tally->hits = function_bytes_take(bytes);
	return read_rows(reading, bytes, wanted);
}

/* What is counted by owners takes no functions, unless all is to be read. */
static bool wants_functions(const struct reading *reading)
{
	const struct function_sum *sum = reading->sum;

	return !wants_no_function(sum) && (!function_sum_is_of_owners(sum->by) || sum->whole);
}

/* Notes a process of all: 1 or -errno. */
static int note_process(struct reading *reading, int64_t id, uint64_t samples)
{
	struct function_sum *sum = reading->sum;
	int r;

	if (function_sum_is_of_owners(sum->by))
		r = count_process(reading, id, store_owners_find(sum, id), samples);
	else
		r = store_executables_note(sum, id);
	return r < 0 ? r : 1;
}

/* Of a process that matches: 1; 0: it does not; -errno. */
static int match_process(struct reading *reading, int64_t id, uint64_t samples)
{
	struct function_sum *sum = reading->sum;
	int64_t row = 0;
	int r = store_owners_match(&reading->functions->owners, sum, reading->filter, id, &row);

	if (r <= 0 || !function_sum_is_of_owners(sum->by))
		return r;
	r = count_process(reading, id, row, samples);
	return r < 0 ? r : 1;
}

static int read_process(struct reading *reading, int64_t *id)
{
	bool filtered = profile_filter_is_by_process(reading->filter);
	struct process_tally tally = { 0 };
	int wanted, r;

	*id = (int64_t)((uint64_t)*id + function_bytes_take(&reading->first));
	tally.samples = function_bytes_take(&reading->first);
	if (reading->first.damaged)
		return 0;
	wanted = filtered ? match_process(reading, *id, tally.samples) :
			    note_process(reading, *id, tally.samples);
	if (wanted < 0)
		return wanted;
	r = read_more(reading, &tally, wanted && filtered && wants_functions(reading));
	if (r >= 0 && wanted && filtered)
		add_process(reading, &tally);
	return r;
}

static bool is_damaged(const struct reading *reading)
{
	return reading->first.damaged || (reading->processes && reading->processes->damaged);
}

/* Of all processes together, or of those that match; executables are theirs either way. */
static int read_sections(struct reading *reading)
{
	bool filtered = profile_filter_is_by_process(reading->filter);
	int64_t process = 0;
	size_t first = reading->n_found;
	int r = read_rows(reading, &reading->first, !filtered && wants_functions(reading));

	if (!filtered && (reading->objects || reading->sum->symbol))
		return r; /* the processes were looked at with the functions, or nobody asked for
			     them */
	reading->sum->n_fresh = 0;
	while (r >= 0 && reading->first.n > 0 && !is_damaged(reading))
		r = read_process(reading, &process);
	if (r < 0 || is_damaged(reading))
		return r;
	if (function_sum_is_of_owners(reading->sum->by))
		return name_fresh(reading, first);
	return store_executables_end(&reading->functions->executables, reading->sum);
}

/* The second column is read only where something of it is needed. */
static int open_processes(struct reading *reading, struct statement *row)
{
	const void *data;
	size_t n;
	int r;

	free(TAKE_PTR(reading->unpacked));
	reading->processes = statement_is_null(row, 1) ? &reading->first : NULL;
	if (reading->processes ||
	    (!profile_filter_is_by_process(reading->filter) && !reading->sum->whole))
		return 0;
	data = statement_blob(row, 1, &n);
	reading->more = (struct function_bytes){ 0 };
	r = packed_read(data, n, &reading->unpacked, &reading->more.n);
	reading->more.data = reading->unpacked;
	reading->more.damaged = r == -EBADMSG;
	reading->processes = &reading->more;
	return r == -EBADMSG ? 0 : r;
}

static int read_counts(struct reading *reading)
{
	struct statement *row =
		reading->functions->statements[reading->objects ? READ_OBJECTS : READ_COUNTS];
	int r, q;

	statement_bind_int(row, 1, reading->window);
	r = statement_step(row);
	if (r < 0)
		return r;
	if (r == 0 && reading->objects)
		return -ENODATA;
	if (r > 0)
		reading->first.data = statement_blob(row, 0, &reading->first.n);
	reading->has_variances = r > 0 && statement_int(row, 2) != 0;
	reading->first.damaged = r == 0;
	if (r > 0)
		r = open_processes(reading, row);
	if (r >= 0 && !reading->first.damaged)
		r = read_sections(reading);
	q = statement_reset(row);
	if (r >= 0 && is_damaged(reading))
		return database_damaged(reading->functions->database,
					"the counts of functions of window %" PRId64,
					reading->window);
	return MIN(r, q);
}

/*
 * Windows of a query whose counts are taken from their rows, at most: each has places of its own in
 * the sum. Where more are damaged, that is an error.
 */
#define MAX_RECOUNTED 64

/* If a window's counts are damaged or missing: the same from its rows, which takes longer. */
static int recount(struct reading *reading, struct window *window)
{
	_cleanup_(profile_freep) struct profile *profile = NULL, *part = NULL;
	bool found = false;
	const struct store_batch batch = { .windows = window, .found = &found, .n = 1 };
	struct fault forgotten;
	size_t n;
	int r;

	database_explain(reading->functions->database, -EBADMSG, &forgotten);
	r = store_read_windows(reading->read, &batch, &n, &profile);
	if (r < 0 || !found)
		return r;
	if (reading->sum->n_profiles >= MAX_RECOUNTED)
		return database_damaged(reading->functions->database,
					"the counts of functions of more than %d windows",
					MAX_RECOUNTED);
	r = profile_filter(&part, profile, reading->filter);
	if (r == 0)
		r = function_sum_add_profile(reading->sum, part);
	return r < 0 ? r : 1;
}

/* The counters of windows of a slot are added with it. */
static int read_head(struct reading *reading, struct window *window)
{
	struct function_sum *sum = reading->sum;
	struct function_recording *recording = sum->recording;
	int r;

	if (!recording) {
		r = store_read_head(reading->read, window, sum->names, sum->n_added == 0);
		sum->n_added += r > 0;
		return r;
	}
	r = store_read_head(reading->read, window, recording->head, recording->n_windows == 0);
	if (r <= 0)
		return r;
	recording->first =
		recording->n_windows > 0 ? MIN(recording->first, window->id) : window->id;
	recording->last = MAX(recording->last, window->id);
	recording->n_windows++;
	return r;
}

int store_functions_read(struct store_functions *functions, struct store_read *read,
			 struct window *window, const struct profile_filter *filter,
			 struct function_sum *sum)
{
	_cleanup_(reading_done) struct reading reading = {
		.functions = functions,
		.read = read,
		.filter = filter,
		.sum = sum,
		.window = window->id,
	};
	struct profile_counters before = sum->names->counters;
	int r;

	store_lookup_begin(&read->lookup, sum->names);
	r = read_counts(&reading);
	if (r >= 0 && sum->by == SUM_OBJECT) {
		reading.objects = true;
		r = read_counts(&reading);
	}
	store_lookup_end(&read->lookup);
	if (r == -EBADMSG)
		return recount(&reading, window);
	if (r >= 0)
		r = read_head(&reading, window);
	if (r > 0)
		r = note_found(&reading) ?: 1;
	if (r <= 0)
		return r;
	if (profile_filter_is_by_process(filter))
		function_sum_drop_counted(sum, &before, reading.counted.samples);
	add_found(&reading);
	sum->part_samples += sum->names->counters.samples - before.samples;
	return 1;
}
