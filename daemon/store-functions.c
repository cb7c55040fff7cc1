/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store-functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"

enum {
	ADD_COUNTS,
	READ_COUNTS,
	READ_PROCESS,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[ADD_COUNTS] = "INSERT INTO function_counts (window, counts) VALUES (?, ?)",
	[READ_COUNTS] = "SELECT counts FROM function_counts WHERE window = ?",
	[READ_PROCESS] = "SELECT p.pid, p.uid, m.text, u.text, e.text FROM process p "
			 "LEFT JOIN string m ON m.id = p.comm AND m.id > 0 "
			 "LEFT JOIN string u ON u.id = p.unit AND u.id > 0 "
			 "LEFT JOIN string e ON e.id = p.executable AND e.id > 0 WHERE p.id = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_FUNCTIONS, "store-functions.h has another number");

int store_functions_init(struct store_functions *functions, struct database *database)
{
	functions->database = database;
	return database_prepare(database, sql, N_STATEMENTS, functions->statements);
}

/* Writing */

struct bytes {
	uint8_t *data;
	size_t n, cap;
	bool failed;
};

static void put(struct bytes *bytes, uint64_t number)
{
	if (ARRAY_RESERVE(&bytes->data, &bytes->cap, bytes->n + 10) < 0) {
		bytes->failed = true;
		return;
	}
	for (; number >= 0x80; number >>= 7)
		bytes->data[bytes->n++] = (uint8_t)(number | 0x80);
	bytes->data[bytes->n++] = (uint8_t)number;
}

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

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int64_t id_of(const struct interned *rows, uint32_t i)
{
	return i == PROFILE_NONE ? 0 : rows[i].id;
}

static void put_function(struct bytes *bytes, const struct function_count *row, uint64_t step,
			 bool named, int64_t object)
{
	const struct function_tally *t = &row->tally;
	bool has_runs = t->calls > 0 || t->runs > 0;

	put(bytes, 2 * step + has_runs);
	if (!named)
		put(bytes, (uint64_t)object);
	put(bytes, t->self);
	put(bytes, t->total);
	if (!has_runs)
		return;
	put(bytes, t->calls);
	put(bytes, t->runs);
	put(bytes, t->timed_runs);
	put(bytes, t->cycles);
}

struct writing {
	const struct function_counts *counts;
	const struct interned *processes, *objects, *names;
	struct ranked *order;   /* room for all processes, and then for all rows */
	struct bytes all, rows; /* rows: of a process, while they are written */
};

/* Some rows, in the order of their ids; those of one function, or of one object and none, as one. */
static void put_rows(struct writing *w, struct bytes *bytes, size_t first, size_t n)
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
		put_function(bytes, &row, (uint64_t)(order[i].id - before), order[i].id != 0,
			     order[i].object);
		before = order[i].id;
	}
}

static void put_sized(struct writing *w, size_t first, size_t n)
{
	struct bytes *rows = &w->rows;

	rows->n = 0;
	put_rows(w, rows, first, n);
	put(&w->all, rows->n);
	if (ARRAY_RESERVE(&w->all.data, &w->all.cap, w->all.n + rows->n) < 0)
		w->all.failed = true;
	else if (rows->n > 0)
		memcpy(w->all.data + w->all.n, rows->data, rows->n);
	w->all.n += w->all.failed ? 0 : rows->n;
	w->all.failed |= rows->failed;
}

static void put_process(struct writing *w, const struct process_tally *process, uint64_t step)
{
	put(&w->all, step);
	put(&w->all, process->samples);
	put(&w->all, process->weight);
	put(&w->all, process->taken);
	put(&w->all, process->cycles);
	put(&w->all, process->runs);
	put(&w->all, process->hits);
	put_sized(w, process->first, process->n);
}

static void put_all(struct writing *w)
{
	const struct function_counts *counts = w->counts;
	int64_t before = 0;

	put_sized(w, 0, counts->n_rows);
	for (size_t i = 0; i < counts->n_processes; i++)
		w->order[i] =
			(struct ranked){ id_of(w->processes, counts->processes[i].process), 0, i };
	qsort(w->order, counts->n_processes, sizeof(*w->order), compare_ranked);
	for (size_t i = 0; i < counts->n_processes; i++) {
		put_process(w, &counts->processes[w->order[i].index],
			    (uint64_t)(w->order[i].id - before));
		before = w->order[i].id;
	}
}

static int encode(struct writing *w)
{
	w->order = calloc(w->counts->n_processes + w->counts->n_rows + 1, sizeof(*w->order));
	if (!w->order)
		return -ENOMEM;
	put_all(w);
	return w->all.failed ? -ENOMEM : 0;
}

int store_functions_write(struct store_functions *functions, int64_t id,
			  const struct profile *profile, const struct interned *processes,
			  const struct interned *objects, const struct interned *names)
{
	struct statement *add = functions->statements[ADD_COUNTS];
	struct function_counts counts;
	struct writing w = {
		.counts = &counts,
		.processes = processes,
		.objects = objects,
		.names = names,
	};
	int r = function_counts_init(&counts, profile);

	if (r >= 0)
		r = encode(&w);
	if (r >= 0) {
		statement_bind_int(add, 1, id);
		statement_bind_blob(add, 2, w.all.data, w.all.n);
		r = statement_run(add);
	}
	free(w.order);
	free(w.all.data);
	free(w.rows.data);
	function_counts_done(&counts);
	return r;
}

/* Reading */

struct reading {
	struct store_functions *functions;
	struct store_read *read;
	const struct profile_filter *filter;
	struct function_sum *sum;
	int64_t window;
	const uint8_t *data; /* all that is left */
	size_t n;
	bool damaged;
};

static uint64_t take(struct reading *reading)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; reading->n > 0 && shift < 64; shift += 7) {
		uint8_t byte = *reading->data++;

		reading->n--;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	reading->damaged = true;
	return 0;
}

static bool is_by_process(const struct profile_filter *filter)
{
	return filter->pid >= 0 || filter->uid >= 0 || filter->comm || filter->unit;
}

/* Whether a process matches, and then its executable is counted: 1 or 0, or -errno. */
static int look_at_process(struct reading *reading, int64_t id)
{
	struct statement *row = reading->functions->statements[READ_PROCESS];
	struct profile_process process;
	int r, q, found;

	statement_bind_int(row, 1, id);
	r = statement_step(row);
	if (r < 0)
		return r;
	if (r == 0)
		return database_damaged(reading->functions->database,
					"process %" PRId64 " is referred to and not there", id);
	process = (struct profile_process){
		.pid = (int32_t)statement_int(row, 0),
		.uid = statement_is_null(row, 1) ? UINT32_MAX : (uint32_t)statement_int(row, 1),
		.comm = statement_text(row, 2) ?: "",
		.unit = statement_text(row, 3),
	};
	found = profile_process_matches(&process, reading->filter);
	r = found ? function_sum_add_executable(reading->sum, statement_text(row, 4)) : 0;
	q = statement_reset(row);
	return r < 0 || q < 0 ? MIN(r, q) : found;
}

/* So many processes are remembered, and then they are looked at again. */
#define MAX_PROCESSES (1 << 16)

/* 1 or 0, or -errno. Most processes are in many windows, and looked at once. */
static int matches(struct reading *reading, int64_t id)
{
	struct id_map *processes = &reading->sum->processes;
	const struct id_value *known = id_map_find(processes, (struct id_key){ id, 0, 0 });
	int r, found;

	if (id == 0)
		return 0;
	if (known)
		return (int)known->id;
	found = look_at_process(reading, id);
	if (found < 0)
		return found;
	if (processes->n >= MAX_PROCESSES)
		id_map_clear(processes);
	r = id_map_put(processes, (struct id_key){ id, 0, 0 }, (struct id_value){ found, 0 });
	return r < 0 ? r : found;
}

/* A function seen for the first time; it is named at once, for the database may change until it is sent. */
static int64_t add_row(struct reading *reading, int64_t function, int64_t object)
{
	struct store_lookup *lookup = &reading->read->lookup;
	struct location at = { .offset = UINT64_MAX };
	int r;

	r = function != 0 ? store_lookup_function(lookup, function, &at) :
			    store_lookup_object(lookup, object, &at.object);
	return r < 0 ? r : function_sum_add_row(reading->sum, function, object, at);
}

static int read_function(struct reading *reading, int64_t *id)
{
	uint64_t step = take(reading);
	struct function_tally tally = { 0 };
	int64_t object = 0, row;

	*id = (int64_t)((uint64_t)*id + step / 2);
	if (*id == 0)
		object = (int64_t)take(reading);
	tally.self = take(reading);
	tally.total = take(reading);
	if (step % 2 != 0) {
		tally.calls = take(reading);
		tally.runs = take(reading);
		tally.timed_runs = take(reading);
		tally.cycles = take(reading);
	}
	if (reading->damaged)
		return 0;
	row = function_sum_find(reading->sum, *id, object);
	if (row == -ENOENT)
		row = add_row(reading, *id, object);
	if (row < 0)
		return (int)row;
	function_tally_add(&reading->sum->rows[row].tally, &tally);
	return 0;
}

static void add_process(struct reading *reading, const struct process_tally *tally)
{
	struct profile_counters *counters = &reading->sum->names->counters;

	counters->samples += tally->samples;
	counters->weight += tally->weight;
	counters->rows_counted += tally->taken;
	counters->cycles += tally->cycles;
	counters->runs_counted += tally->runs;
	counters->streams += tally->hits;
}

/* Its size and its rows, which are passed over unless they are wanted. */
static int read_rows(struct reading *reading, bool wanted)
{
	uint64_t n = take(reading);
	size_t rest = reading->n - n;
	int64_t function = 0;
	int r = 0;

	reading->damaged |= n > reading->n;
	if (!wanted && !reading->damaged) {
		reading->data += n;
		reading->n = rest;
	}
	while (r >= 0 && wanted && !reading->damaged && reading->n > rest)
		r = read_function(reading, &function);
	return r;
}

static int read_process(struct reading *reading, int64_t *id)
{
	struct process_tally tally;
	int wanted;

	*id = (int64_t)((uint64_t)*id + take(reading));
	tally = (struct process_tally){ .samples = take(reading) };
	tally.weight = take(reading);
	tally.taken = take(reading);
	tally.cycles = take(reading);
	tally.runs = take(reading);
	tally.hits = take(reading);
	wanted = reading->damaged ? 0 : matches(reading, *id);
	if (wanted < 0)
		return wanted;
	if (!is_by_process(reading->filter))
		return read_rows(reading, false);
	if (wanted)
		add_process(reading, &tally);
	return read_rows(reading, wanted);
}

/* Of all processes together, or of those that match; executables are theirs either way. */
static int read_sections(struct reading *reading)
{
	int64_t process = 0;
	int r = read_rows(reading, !is_by_process(reading->filter));

	while (r >= 0 && reading->n > 0 && !reading->damaged)
		r = read_process(reading, &process);
	return r;
}

/* With a filter, what is counted by process is added process by process. */
static void drop_counted(struct profile_counters *counters, const struct profile_counters *before)
{
	counters->samples = before->samples;
	counters->weight = before->weight;
	counters->rows_counted = before->rows_counted;
	counters->cycles = before->cycles;
	counters->runs_counted = before->runs_counted;
	counters->streams = before->streams;
}

static int read_counts(struct reading *reading)
{
	struct statement *row = reading->functions->statements[READ_COUNTS];
	int r, q;

	statement_bind_int(row, 1, reading->window);
	r = statement_step(row);
	if (r < 0)
		return r;
	if (r > 0)
		reading->data = statement_blob(row, 0, &reading->n);
	reading->damaged = r == 0;
	if (r > 0)
		r = read_sections(reading);
	q = statement_reset(row);
	if (r >= 0 && reading->damaged)
		return database_damaged(reading->functions->database,
					"the counts of functions of window %" PRId64,
					reading->window);
	return MIN(r, q);
}

int store_functions_read(struct store_functions *functions, struct store_read *read,
			 struct window *window, const struct profile_filter *filter,
			 struct function_sum *sum)
{
	struct reading reading = {
		.functions = functions,
		.read = read,
		.filter = filter,
		.sum = sum,
		.window = window->id,
	};
	struct profile_counters before = sum->names->counters;
	int r;

	r = store_read_head(read, window, sum->names, sum->n_added == 0);
	if (r <= 0)
		return r;
	sum->n_added++;
	if (is_by_process(filter))
		drop_counted(&sum->names->counters, &before);
	store_lookup_begin(&read->lookup, sum->names);
	r = read_counts(&reading);
	store_lookup_end(&read->lookup);
	sum->part_samples += sum->names->counters.samples - before.samples;
	return r < 0 ? r : 1;
}
